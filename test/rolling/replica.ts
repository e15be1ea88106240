import 'reflect-metadata';
import { setTimeout as wait } from 'node:timers/promises';
import { Injectable, Module, type OnModuleDestroy } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import {
  DistributedCron,
  DistributedCronEvents,
  DistributedCronModule,
  type FireContext,
} from 'nestjs-distributed-cron';
import { endWithParent, tellParent } from '../processes/application-process.js';
import { EventLog } from '../processes/event-log.js';
import { LineWriter } from '../processes/line-file.js';
import { openStore } from '../processes/open-store.js';
import { answering } from './broken-replica.js';
import { expressionOf, rollingEntries } from './entries.js';
import type { PhasedRun } from './run-record.js';
import type { FromReplica, ReplicaSettings } from './settings.js';

const settings = JSON.parse(process.argv[2] as string) as ReplicaSettings;
const { replica, version } = settings;
const ledger = new LineWriter<PhasedRun>(settings.ledger);
const runMsOf = new Map(rollingEntries().map(({ key, runMs }) => [key, runMs]));

@Injectable()
class Jobs {
  async run({ entryKey, fireKey, signal }: FireContext): Promise<void> {
    ledger.write({ fireKey, replica, atMs: Date.now(), phase: 'began' });
    const runMs = runMsOf.get(entryKey) as number;
    if (runMs > 0) await wait(runMs, undefined, { signal });
    ledger.write({ fireKey, replica, atMs: Date.now(), phase: 'ended' });
  }
}

const run = Object.getOwnPropertyDescriptor(Jobs.prototype, 'run') as PropertyDescriptor;
for (const entry of rollingEntries())
  DistributedCron(expressionOf(entry, version), { key: entry.key, ...entry.options })(Jobs.prototype, 'run', run);

/** The application's client, closed as an application does it: after the scheduler has drained. */
class StoreClient implements OnModuleDestroy {
  constructor(private readonly end: () => unknown) {}

  async onModuleDestroy(): Promise<void> {
    await this.end();
  }
}

/** One replica, as Kubernetes would have it: ready when it takes part; on SIGTERM it closes, and then ends by itself, for nothing keeps it. */
async function start(): Promise<void> {
  endWithParent();
  let draining = false;
  const { backend, end } = await openStore(settings.place);
  @Module({
    imports: [
      DistributedCronModule.forRoot({
        backend: answering(backend, {
          lateByMs: settings.answersLateByMs,
          how: settings.break,
          draining: () => draining,
        }),
        namespace: settings.namespace,
        drainDeadline: settings.drainDeadlineMs,
      }),
    ],
    providers: [Jobs, { provide: StoreClient, useValue: new StoreClient(end) }],
  })
  class ReplicaModule {}

  const app = await NestFactory.create(ReplicaModule, { logger: ['fatal', 'error', 'warn'] });
  const events = new EventLog(new LineWriter(settings.log));
  app.get(DistributedCronEvents).events$.subscribe((event) => events.keep(event));
  process.once('SIGTERM', () => {
    draining = true;
    if (settings.break === 'leave-at-once') process.exit(0);
    void app.close();
  });
  await app.init();
  tellParent({ type: 'started' } satisfies FromReplica);
  // Whoever listens to its parent's end would stay for it.
  process.channel?.unref();
}

void start();
