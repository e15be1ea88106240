import 'reflect-metadata';
import type { AddressInfo } from 'node:net';
import { NestFactory } from '@nestjs/core';
import { DistributedCronEvents } from 'nestjs-distributed-cron';
import { AppModule } from '../app.module';
import { Invoices } from '../invoicing/invoices';
import { reportOf } from './fire-reports';
import { standStillWhenTold } from './kill-point';
import type { FromReplica } from './messages';
import { taskReportOf } from './task-reports';

/** One replica of the shop, as main.ts starts it, that also tells the launcher what happens. */
async function startReplica(): Promise<void> {
  // The terminal sends Ctrl-C to the whole group; the launcher decides how its replicas end.
  process.on('SIGINT', () => {});
  process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'));

  const app = await NestFactory.create(AppModule, { forceCloseConnections: true, logger: ['fatal', 'error', 'warn'] });
  app.enableShutdownHooks(['SIGTERM']);
  app.get(DistributedCronEvents).events$.subscribe((event) => {
    const report = reportOf(event) ?? taskReportOf(event);
    if (report !== undefined) tell(report);
  });
  standStillWhenTold(app.get(Invoices, { strict: false }));
  await app.listen(0, '127.0.0.1');
  const { port } = app.getHttpServer().address() as AddressInfo;
  tell({ type: 'started', url: `http://127.0.0.1:${port}` });
}

function tell(message: FromReplica): void {
  // Without the launcher there is nobody to tell; the disconnect ends this process.
  if (process.connected) process.send?.(message, () => {});
}

void startReplica();
