import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Test } from '@nestjs/testing';
import {
  alignedInterval,
  type CoordinationBackend,
  type CronEvent,
  DistributedCronEvents,
  DistributedCronModule,
  DistributedCronRegistry,
  type EntryPolicyOptions,
  type FireContext,
  MemoryBackend,
  MemoryStore,
  type Schedule,
} from 'nestjs-distributed-cron';
import { Journal } from './application.fixture.js';
import { openStore, STORES } from '../processes/open-store.js';
import { startStore } from '../processes/start-store.js';

// Real servers and their clocks: time passes here as it does. The limit only ends a test that hangs.
jest.setTimeout(120_000);

interface Store {
  readonly name: string;
  readonly backend: CoordinationBackend;
  readonly end: () => unknown;
}

const folder = mkdtempSync(join(tmpdir(), 'distributed-cron-catch-up-'));
const memory = new MemoryStore();
const servers: { stop(): Promise<void> }[] = [];
/** How each store is reached by one more replica. */
const stores: (() => Promise<Store>)[] = [
  async () => ({ name: 'memory', backend: new MemoryBackend({ store: memory }), end: () => undefined }),
];

beforeAll(async () => {
  for (const name of STORES) {
    const { place, stop } = await startStore(name, folder);
    servers.push({ stop });
    stores.push(async () => ({ name, ...(await openStore(place)) }));
  }
});

afterAll(async () => {
  await Promise.all(servers.map((server) => server.stop()));
  rmSync(folder, { recursive: true, force: true });
});

/** A namespace for each run, since a server that the environment names is not emptied. */
const run = `catch-up-${process.pid}-${Date.now()}`;

interface Job {
  readonly key: string;
  readonly schedule: Schedule;
  readonly options?: EntryPolicyOptions;
  readonly runMs?: number;
}

interface Start {
  readonly fire: FireContext;
  readonly atMs: number;
}

/** Starts an application with these jobs on the store; what it starts is added to `starts`. */
async function boot(open: () => Promise<Store>, namespace: string, jobs: readonly Job[], starts: Start[]) {
  const { backend, end } = await open();
  const testing = await Test.createTestingModule({ imports: [DistributedCronModule.forRoot({ backend, namespace })] })
    .setLogger(new Journal())
    .compile();
  const events: CronEvent[] = [];
  const watchers = new Set<() => void>();
  testing.get(DistributedCronEvents).events$.subscribe((event) => {
    events.push(event);
    for (const watcher of watchers) watcher();
  });
  const registry = testing.get(DistributedCronRegistry);
  for (const { key, schedule, options, runMs = 0 } of jobs) {
    const method = (fire: FireContext) => {
      starts.push({ fire, atMs: Date.now() });
      return runMs === 0 ? undefined : new Promise<void>((done) => setTimeout(done, runMs));
    };
    registry.add(key, schedule, method, options);
  }
  const app = await testing.init();
  return {
    events,
    /** Resolves when the events satisfy it. */
    until: (holds: (events: readonly CronEvent[]) => boolean) =>
      new Promise<void>((resolve) => {
        const watcher = () => {
          if (!holds(events)) return;
          watchers.delete(watcher);
          resolve();
        };
        watchers.add(watcher);
        watcher();
      }),
    close: async () => {
      await app.close();
      await end();
    },
  };
}

const SECOND = 1_000;
const startedAt = (events: readonly CronEvent[]) => events.find(({ type }) => type === 'scheduler.started')?.atMs ?? 0;
const ended = (key: string) => (events: readonly CronEvent[]) =>
  events.some(
    (event) => (event.type === 'fire.completed' || event.type === 'fire.skipped') && event.fire.entryKey === key,
  );
/** What the start told; a loop that a busy machine holds up tells its own. */
const missedOf = (events: readonly CronEvent[], key: string) =>
  events.filter((event) => event.type === 'fire.missed' && event.entryKey === key && event.foundBy === 'start');
const instants = (starts: readonly Start[], key: string) =>
  starts
    .filter(({ fire }) => fire.entryKey === key)
    .map(({ fire }) => fire.scheduledAt.getTime())
    .sort((a, b) => a - b);
const pass = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Runs it on every store at once: most of the time is waited. */
const onEachStore = async (scenario: (open: () => Promise<Store>, name: string) => Promise<void>) => {
  await Promise.all(
    stores.map(async (open) => {
      const { name, end } = await open();
      await end();
      try {
        await scenario(open, name);
      } catch (cause) {
        throw new Error(`on ${name}: ${(cause as Error).message}`, { cause });
      }
    }),
  );
};

describe('on memory, SQLite, Redis and PostgreSQL', () => {
  it('a fleet that was down for some instants catches them up by the policy of each entry, every fire once, whichever replica is first; a replica that comes later finds nothing missed', async () => {
    await onEachStore(async (open, name) => {
      const namespace = `${run}-restart-${name}`;
      const every = alignedInterval('1s');
      // More than a busy machine is late, less than an interval.
      const late = { missedTolerance: 900 } as const;
      const jobs: Job[] = [
        { key: 'once', schedule: every, options: { ...late, missed: 'run-once' } },
        { key: 'none', schedule: every, options: { ...late, missed: 'skip' } },
        { key: 'all', schedule: every, options: { ...late, missed: 'run-all' } },
        { key: 'serial', schedule: every, options: { ...late, missed: 'run-all', overlap: 'skip' }, runMs: 40 },
        { key: 'changed', schedule: every, options: { ...late, missed: 'run-all' } },
        { key: 'tolerant', schedule: every },
      ];
      const before: Start[] = [];
      const first = await boot(open, namespace, jobs, before);
      await first.until((events) => jobs.every(({ key }) => ended(key)(events)));
      // No history: nothing was missed before the first start ever.
      for (const { key } of jobs) expect(missedOf(first.events, key)).toEqual([]);
      await first.close();
      const lastOf = (key: string) => Math.max(...instants(before, key));
      // Early in a second, so that the three of them come up between the same two instants.
      const bootFromMs = Math.ceil(Math.max(lastOf('all') + 3_000, Date.now()) / SECOND) * SECOND + 100;
      await pass(bootFromMs - Date.now());

      const starts: Start[] = [];
      const changed = jobs.map((job) =>
        job.key === 'changed' ? { ...job, schedule: alignedInterval('1500ms') } : job,
      );
      const fleet = await Promise.all([0, 1, 2].map(() => boot(open, namespace, changed, starts)));
      const bootMs = Math.min(...fleet.map(({ events }) => startedAt(events)));
      await Promise.all(fleet.map(({ until }) => until((events) => jobs.every(({ key }) => ended(key)(events)))));
      await fleet[0]?.until((events) =>
        events.some((event) => event.type === 'fire.completed' && event.fire.scheduledAt.getTime() > bootMs),
      );
      const after: Start[] = [];
      const latecomer = await boot(open, namespace, changed, after);
      await latecomer.until(ended('tolerant'));
      await Promise.all([...fleet, latecomer].map(({ close }) => close()));

      const told = fleet.flatMap(({ events }) => events);
      const all = [...before, ...starts, ...after];
      for (const { key } of jobs) {
        const each = instants(all, key);
        expect(new Set(each).size).toBe(each.length);
      }
      const newestMs = Math.floor(bootMs / SECOND) * SECOND;
      const gap = (key: string) =>
        Array.from({ length: (newestMs - lastOf(key)) / SECOND }, (_, i) => lastOf(key) + (i + 1) * SECOND);
      const inTheGap = (key: string) => instants(starts, key).filter((ms) => ms > lastOf(key) && ms <= newestMs);
      expect(inTheGap('once')).toEqual([newestMs]);
      // The newest is an ordinary fire where it is on time.
      expect(inTheGap('none').filter((ms) => ms < newestMs)).toEqual([]);
      expect(missedOf(told, 'none').length).toBeGreaterThan(0);
      expect(gap('all').length).toBeGreaterThanOrEqual(3);
      expect(inTheGap('all')).toEqual(gap('all'));
      expect(inTheGap('serial')).toEqual(gap('serial'));
      // Nothing from before the change, also not what both schedules have in common.
      expect(instants(starts, 'changed').filter((ms) => ms <= bootMs)).toEqual([]);
      expect(missedOf(told, 'changed')).toEqual([]);
      expect(told.filter((event) => event.type === 'fire.rejected' && event.fire.origin === 'catch-up')).toEqual([]);
      for (const { events } of [...fleet, latecomer])
        for (const { key } of jobs) expect(missedOf(events, key).length).toBeLessThanOrEqual(1);
      expect(missedOf(latecomer.events, 'tolerant')).toEqual([]);
      expect(after.filter(({ fire }) => fire.entryKey === 'tolerant' && fire.origin === 'catch-up')).toEqual([]);
    });
  });

  it('three replicas replay 300 instants together, more than a store keeps: none is lost, none runs twice', async () => {
    await onEachStore(async (open, name) => {
      const namespace = `${run}-replay-${name}`;
      const lastMs = Date.now() - 2 * SECOND;
      // A burst that is over when the fleet boots.
      const burst: Schedule = {
        fingerprint: `burst of ${lastMs}`,
        label: 'burst',
        next: (afterMs) => {
          if (afterMs < lastMs) return lastMs;
          const count = Math.floor((afterMs - lastMs) / 5) + 1;
          return count <= 300 ? lastMs + count * 5 : null;
        },
      };
      const { backend, end } = await open();
      const { signal } = new AbortController();
      await backend.open?.({ maxClockSkewMs: 10_000, retentionMs: 3_600_000, coordinationTimeoutMs: 5_000 }, signal);
      const scheduledAt = new Date(lastMs);
      const claim = { namespace, entryKey: 'burst', scheduledAt, claimId: 'before', instanceId: 'before', signal };
      expect(await backend.claimer.claim('burst', { ...claim, schedule: burst.fingerprint })).toBe(true);
      await backend.close?.();
      await end();

      const starts: Start[] = [];
      const options = { missed: 'run-all', missedTolerance: 0 } as const;
      const jobs = [{ key: 'burst', schedule: burst, options }];
      const fleet = await Promise.all([0, 1, 2].map(() => boot(open, namespace, jobs, starts)));
      // Whoever reads when others have claimed finds less to do, or nothing: it is the fleet that is done.
      const completed = () => fleet.flatMap(({ events }) => events.filter(({ type }) => type === 'fire.completed'));
      await Promise.race(fleet.map(({ until }) => until(() => completed().length >= 300)));
      await Promise.all(fleet.map(({ close }) => close()));
      expect(instants(starts, 'burst')).toEqual(Array.from({ length: 300 }, (_, i) => lastMs + (i + 1) * 5));
    });
  });
});
