import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import Database from 'libsql';
import {
  DistributedCronEvents,
  DistributedCronModule,
  DistributedCronRegistry,
  functionSchedule,
} from 'nestjs-distributed-cron';
import { SqliteBackend } from 'nestjs-distributed-cron/sqlite';
import { endWithParent, tellParent } from './application-process.js';
import { DatabaseLedger } from './database-ledger.js';
import { EventLog } from './event-log.js';
import { LineWriter } from './line-file.js';

/** One of three replicas on one SQLite file. Adds its entries when it is told, so that all begin with the same first instant. */
interface Settings {
  readonly replica: string;
  readonly database: string;
  readonly log: string;
}

/** Instants of each entry: `firstMs`, and so many more, `everyMs` apart. A finite set: no fire is before or after what is counted. */
export interface Begin {
  readonly keys: readonly string[];
  readonly firstMs: readonly number[];
  readonly everyMs: number;
  readonly instants: number;
}

async function start({ replica, database, log }: Settings): Promise<void> {
  endWithParent();
  const ledger = new DatabaseLedger(database);

  @Module({
    imports: [
      DistributedCronModule.forRoot({
        backend: new SqliteBackend({ path: database, driver: Database }),
        // A machine that stands still for seconds delays fires here, and drops none.
        missed: 'run-all',
      }),
    ],
  })
  class ReplicaModule {}

  const app = await NestFactory.createApplicationContext(ReplicaModule, { logger: ['fatal', 'error', 'warn'] });
  app.enableShutdownHooks(['SIGTERM']);
  const events = new EventLog(new LineWriter(log));
  app.get(DistributedCronEvents).events$.subscribe((event) => events.keep(event));

  process.on('message', ({ keys, firstMs, everyMs, instants }: Begin) => {
    const registry = app.get(DistributedCronRegistry);
    for (const [i, key] of keys.entries()) {
      const schedule = functionSchedule(finite(firstMs[i] as number, everyMs, instants), { name: key });
      const run = ({ fireKey }: { fireKey: string }) => ledger.record({ fireKey, replica, atMs: Date.now() });
      // Every other entry draws its asks apart; the rest meet in the same turn on all replicas.
      registry.add(key, schedule, run, i % 2 === 0 ? { jitter: 100 } : {});
    }
    tellParent({ type: 'armed', atMs: Date.now() });
  });
  tellParent({ type: 'started', instanceId: app.get(DistributedCronRegistry).snapshot().instanceId });
}

function finite(firstMs: number, everyMs: number, instants: number): (afterMs: number) => number | null {
  const lastMs = firstMs + (instants - 1) * everyMs;
  return (afterMs) => {
    const nextMs = afterMs < firstMs ? firstMs : firstMs + (Math.floor((afterMs - firstMs) / everyMs) + 1) * everyMs;
    return nextMs > lastMs ? null : nextMs;
  };
}

void start(JSON.parse(process.argv[2] as string) as Settings);
