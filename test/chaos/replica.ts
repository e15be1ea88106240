import 'reflect-metadata';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  CLOCK,
  DistributedCron,
  DistributedCronEvents,
  DistributedCronModule,
  type FireContext,
} from 'nestjs-distributed-cron';
import { endWithParent, tellParent } from '../processes/application-process.js';
import { EventLog } from '../processes/event-log.js';
import { LineWriter } from '../processes/line-file.js';
import type { RunRecord } from '../processes/records.js';
import { broken } from './broken-backend.js';
import { chaosEntries } from './entries.js';
import type { ReplicaSettings, SetClock } from './settings.js';
import { SkewedClock } from './skewed-clock.js';
import { type OpenBackend, openBackend } from './stores/replica-backend.js';

const settings = JSON.parse(process.argv[2] as string) as ReplicaSettings;
const { profile } = settings;
const ledger = new LineWriter<RunRecord>(settings.ledger);

@Injectable()
class Jobs {
  run({ fireKey }: FireContext): void {
    ledger.write({ fireKey, replica: settings.replica, atMs: Date.now() });
  }
}

const run = Object.getOwnPropertyDescriptor(Jobs.prototype, 'run') as PropertyDescriptor;
for (const { key, expression, missed, jitterMs } of chaosEntries(settings.entries)) {
  DistributedCron(expression, { key, missed, jitter: jitterMs })(Jobs.prototype, 'run', run);
}

/** The application's client, closed as an application does it: after the scheduler has drained. */
class StoreClient implements OnModuleDestroy {
  constructor(private readonly store: OpenBackend) {}

  onModuleDestroy(): Promise<void> | void {
    return this.store.disconnect();
  }
}

/** One replica: a Nest application with the library, whose clock the launcher can set. */
async function start(): Promise<void> {
  endWithParent();
  const clock = new SkewedClock();
  const store = await openBackend(settings.connection);
  const backend = settings.break === undefined ? store.backend : broken(store.backend, settings.break);
  const app = await Test.createTestingModule({
    imports: [
      DistributedCronModule.forRoot({
        backend,
        namespace: 'chaos',
        retention: profile.retentionMs,
        claimPatience: profile.claimPatienceMs,
        coordinationTimeout: profile.coordinationTimeoutMs,
        drainDeadline: profile.drainDeadlineMs,
      }),
    ],
    providers: [Jobs, { provide: StoreClient, useValue: new StoreClient(store) }],
  })
    .setLogger(false as never)
    .overrideProvider(CLOCK)
    .useValue(clock)
    .compile();
  const events = new EventLog(new LineWriter(settings.log));
  app.get(DistributedCronEvents).events$.subscribe((event) => events.keep(event));
  process.on('message', ({ offsetMs }: SetClock) => {
    clock.set(offsetMs);
    tellParent({ type: 'clock-set', atMs: Date.now(), offsetMs });
  });
  process.on('SIGTERM', () => void app.close().then(() => process.exit()));
  await app.init();
  tellParent({ type: 'started' });
}

void start();
