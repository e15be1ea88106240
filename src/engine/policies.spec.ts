import { describe, expect, it } from '@jest/globals';
import { MemoryBackend } from '../coordination/memory/memory-backend.js';
import { MemoryStore } from '../coordination/memory/memory-store.js';
import type { EntryPolicies } from '../domain/entry.js';
import type { CronEvent } from '../events/cron-event.js';
import type { FireContext } from '../fire/fire-context.js';
import { VirtualClock } from '../testing/virtual-clock.js';
import { definition, every, HOUR, MINUTE, type ReplicaOptions, replica, SECOND } from './replica.fixture.js';

/**
 * Policy by situation: what is told of the entry `job`, which is due at each full minute of a scheduler that starts at 00:00. A row that reads wrong is a rule that reads wrong; there is no logic in
 * the rows.
 */
interface Row {
  readonly name: string;
  readonly policies?: Partial<EntryPolicies>;
  readonly options?: ReplicaOptions;
  readonly situation: (world: World) => Promise<unknown>;
  readonly told: readonly string[];
}

type World = ReturnType<typeof world>;
type Method = (context: FireContext) => unknown;

function world({ policies = {}, options = {} }: Pick<Row, 'policies' | 'options'>) {
  const clock = new VirtualClock();
  const store = new MemoryStore({ clock });
  const methods = { current: (() => undefined) as Method };
  const calls: { end(): void; fail(): void }[] = [];
  const boot = (id: string) => {
    const it = replica({ id, ...options, clock, backend: new MemoryBackend({ store }) });
    it.scheduler.add(
      definition('job', every(MINUTE), {
        missedToleranceMs: 10 * SECOND,
        ...policies,
        run: (fire) => methods.current(fire),
      }),
    );
    it.scheduler.add(definition('other', every(HOUR), { run: holds }));
    return it;
  };
  const holds: Method = () =>
    new Promise((resolve, reject) => calls.push({ end: () => resolve(1), fail: () => reject(new Error('no')) }));
  const here = boot('here');
  here.scheduler.start();
  return {
    ...here,
    clock,
    /** A second replica of the fleet that schedules nothing by itself. */
    elsewhere: () => boot('elsewhere').scheduler,
    /** The method of `job` from here on. */
    job: (method: Method) => {
      methods.current = method;
    },
    holds,
    throws: (times: number): Method => {
      let thrown = 0;
      return () => {
        if (thrown++ < times) throw new Error('no');
      };
    },
    /** Ends the earliest call that has not ended. */
    end: async () => {
      calls.shift()?.end();
      await clock.settle();
    },
    trigger: async (times = 1) => {
      for (let i = 0; i < times; i++) here.scheduler.trigger('job');
      await clock.settle();
    },
    told: () => here.events.flatMap(line),
  };
}

function line(event: CronEvent): string[] {
  if (event.type === 'fire.missed' && event.entryKey === 'job') return [`missed ${event.count}`];
  if (!('fire' in event) || event.fire.entryKey !== 'job') return [];
  const { origin, scheduledAt } = event.fire;
  const fire =
    origin === 'manual' ? 'manual' : `00:0${scheduledAt.getUTCMinutes()}${origin === 'catch-up' ? ' late' : ''}`;
  switch (event.type) {
    case 'fire.started':
      return [`${fire} starts`];
    case 'fire.completed':
      return [];
    case 'fire.failed':
      return [`${fire} failed`];
    case 'fire.retrying':
      return [`${fire} retries`];
    case 'fire.rejected':
    case 'fire.canceled':
      return [`${fire} ${event.reason}`];
    default:
      return [`${fire} ${event.type}`];
  }
}

function table(title: string, rows: readonly Row[]): void {
  describe(title, () => {
    it.each(rows.map((row) => [row.name, row] as const))('%s', async (_, row) => {
      const made = world(row);
      await row.situation(made);
      expect(made.told()).toEqual(row.told);
      // Whatever the row: it ends, with every fire told and nothing left.
      for (let i = 0; i < 20; i++) await made.end();
      const stopped = made.scheduler.stop();
      await made.clock.advance(MINUTE);
      await stopped;
      expect(made.clock.pendingTimers).toBe(0);
    });
  });
}

/** The loop reaches the instants of so many minutes so late. */
const blocked = (minutes: number, lateMs: number) => (it: World) => it.clock.suspend(minutes * MINUTE + lateMs);

const MISSED = {
  'run-once': { missed: 'run-once' },
  skip: { missed: 'skip' },
  'run-all': { missed: 'run-all' },
} as const;

table('missed', [
  ...(['run-once', 'skip', 'run-all'] as const).flatMap((policy): Row[] => [
    { name: `${policy}: on time`, policies: MISSED[policy], situation: blocked(1, 0), told: ['00:01 starts'] },
    {
      name: `${policy}: one, late within the tolerance`,
      policies: MISSED[policy],
      situation: blocked(1, 10 * SECOND),
      told: ['00:01 starts'],
    },
  ]),
  {
    name: 'run-once: one, late beyond it',
    policies: MISSED['run-once'],
    situation: blocked(1, 11 * SECOND),
    told: ['00:01 late starts'],
  },
  { name: 'skip: one, late beyond it', policies: MISSED.skip, situation: blocked(1, 11 * SECOND), told: ['missed 1'] },
  {
    name: 'run-all: one, late beyond it',
    policies: MISSED['run-all'],
    situation: blocked(1, 11 * SECOND),
    told: ['00:01 late starts'],
  },
  {
    name: 'run-once: three, the newest within the tolerance',
    policies: MISSED['run-once'],
    situation: blocked(3, 5 * SECOND),
    told: ['missed 2', '00:03 starts'],
  },
  {
    name: 'skip: three, the newest within the tolerance',
    policies: MISSED.skip,
    situation: blocked(3, 5 * SECOND),
    told: ['missed 2', '00:03 starts'],
  },
  {
    name: 'run-all: three, the newest within the tolerance',
    policies: MISSED['run-all'],
    situation: blocked(3, 5 * SECOND),
    told: ['00:01 late starts', '00:02 late starts', '00:03 starts'],
  },
  {
    name: 'run-once: three, all beyond it',
    policies: MISSED['run-once'],
    situation: blocked(3, 11 * SECOND),
    told: ['missed 2', '00:03 late starts'],
  },
  { name: 'skip: three, all beyond it', policies: MISSED.skip, situation: blocked(3, 11 * SECOND), told: ['missed 3'] },
  {
    name: 'run-all: three, all beyond it',
    policies: MISSED['run-all'],
    situation: blocked(3, 11 * SECOND),
    told: ['00:01 late starts', '00:02 late starts', '00:03 late starts'],
  },
  {
    name: 'run-once: three, two older than catchUpWithin',
    policies: { ...MISSED['run-once'], catchUpWithinMs: 30 * SECOND },
    situation: blocked(3, 20 * SECOND),
    told: ['missed 2', '00:03 late starts'],
  },
  {
    name: 'run-all: three, two older than catchUpWithin',
    policies: { ...MISSED['run-all'], catchUpWithinMs: 30 * SECOND },
    situation: blocked(3, 20 * SECOND),
    told: ['missed 2', '00:03 late starts'],
  },
  ...(['run-once', 'skip', 'run-all'] as const).map(
    (policy): Row => ({
      name: `${policy}: three, all older than catchUpWithin`,
      policies: { ...MISSED[policy], catchUpWithinMs: 15 * SECOND },
      situation: blocked(3, 20 * SECOND),
      told: ['missed 3'],
    }),
  ),
]);

const idle = (it: World) => it.clock.advance(MINUTE);
const runningHere = async (it: World) => {
  it.job(it.holds);
  await it.clock.advance(2 * MINUTE);
};
const runningHereAndEnds = async (it: World) => {
  await runningHere(it);
  await it.end();
  await it.clock.advance(SECOND);
};
const threeWhileItRuns = async (it: World) => {
  it.job(it.holds);
  await it.clock.advance(3 * MINUTE);
};
const threeWhileItRunsAndEnds = async (it: World) => {
  await threeWhileItRuns(it);
  await it.end();
  await it.clock.advance(SECOND);
};
const runningElsewhere = async (it: World) => {
  it.job(it.holds);
  const elsewhere = it.elsewhere();
  elsewhere.trigger('job');
  await it.clock.advance(MINUTE + SECOND);
};
const runningElsewhereAndEnds = async (it: World) => {
  await runningElsewhere(it);
  await it.end();
  await it.clock.advance(SECOND);
};

const SKIP = { overlap: 'skip' } as const;
const QUEUE = { overlap: 'queue' } as const;
const FLEET = { overlapScope: 'fleet' } as const;

table('overlap', [
  ...[{}, SKIP, QUEUE, { ...SKIP, ...FLEET }, { ...QUEUE, ...FLEET }].map(
    (policies): Row => ({
      name: `${JSON.stringify(policies)}: idle`,
      policies,
      situation: idle,
      told: ['00:01 starts'],
    }),
  ),
  { name: 'allow: it runs here', situation: runningHere, told: ['00:01 starts', '00:02 starts'] },
  { name: 'skip: it runs here', policies: SKIP, situation: runningHere, told: ['00:01 starts', '00:02 overlap'] },
  {
    name: 'skip: it ran here and has ended',
    policies: SKIP,
    situation: runningHereAndEnds,
    told: ['00:01 starts', '00:02 overlap'],
  },
  { name: 'queue: it runs here', policies: QUEUE, situation: runningHere, told: ['00:01 starts'] },
  {
    name: 'queue: it ran here and has ended',
    policies: QUEUE,
    situation: runningHereAndEnds,
    told: ['00:01 starts', '00:02 starts'],
  },
  {
    name: 'queue: one waits already',
    policies: QUEUE,
    situation: threeWhileItRuns,
    told: ['00:01 starts', '00:03 overlap'],
  },
  {
    name: 'queue: one waits already, and the earlier one has ended',
    policies: QUEUE,
    situation: threeWhileItRunsAndEnds,
    told: ['00:01 starts', '00:03 overlap', '00:02 starts'],
  },
  { name: 'allow: it runs elsewhere', situation: runningElsewhere, told: ['00:01 starts'] },
  {
    name: 'skip on the replica: it runs elsewhere',
    policies: SKIP,
    situation: runningElsewhere,
    told: ['00:01 starts'],
  },
  {
    name: 'queue on the replica: it runs elsewhere',
    policies: QUEUE,
    situation: runningElsewhere,
    told: ['00:01 starts'],
  },
  {
    name: 'skip over the fleet: it runs here',
    policies: { ...SKIP, ...FLEET },
    situation: runningHere,
    told: ['00:01 starts', '00:02 overlap'],
  },
  {
    name: 'skip over the fleet: it runs elsewhere',
    policies: { ...SKIP, ...FLEET },
    situation: runningElsewhere,
    told: ['00:01 overlap'],
  },
  {
    name: 'skip over the fleet: it ran elsewhere and has ended',
    policies: { ...SKIP, ...FLEET },
    situation: runningElsewhereAndEnds,
    told: ['00:01 overlap'],
  },
  {
    name: 'queue over the fleet: it runs here',
    policies: { ...QUEUE, ...FLEET },
    situation: runningHere,
    told: ['00:01 starts'],
  },
  {
    name: 'queue over the fleet: it ran here and has ended',
    policies: { ...QUEUE, ...FLEET },
    situation: runningHereAndEnds,
    told: ['00:01 starts', '00:02 starts'],
  },
  {
    name: 'queue over the fleet: it runs elsewhere',
    policies: { ...QUEUE, ...FLEET },
    situation: runningElsewhere,
    told: [],
  },
  {
    name: 'queue over the fleet: it ran elsewhere and has ended',
    policies: { ...QUEUE, ...FLEET },
    situation: runningElsewhereAndEnds,
    told: ['00:01 starts'],
  },
]);

/** Another entry's method holds one slot of the replica, and `job` comes due. */
const anotherRuns = async (it: World) => {
  it.job(it.holds);
  it.scheduler.trigger('other');
  await it.clock.advance(MINUTE);
};
const anotherRanAndEnds = async (it: World) => {
  await anotherRuns(it);
  await it.end();
  await it.clock.advance(MINUTE);
};

table('limits', [
  { name: 'maxConcurrent 1: idle', policies: { maxConcurrent: 1 }, situation: idle, told: ['00:01 starts'] },
  {
    name: 'maxConcurrent 1: one runs',
    policies: { maxConcurrent: 1 },
    situation: runningHere,
    told: ['00:01 starts', '00:02 concurrency-limit'],
  },
  {
    name: 'maxConcurrent 2: one runs',
    policies: { maxConcurrent: 2 },
    situation: runningHere,
    told: ['00:01 starts', '00:02 starts'],
  },
  {
    name: 'maxConcurrent 2: two run',
    policies: { maxConcurrent: 2 },
    situation: threeWhileItRuns,
    told: ['00:01 starts', '00:02 starts', '00:03 concurrency-limit'],
  },
  {
    name: 'maxConcurrent 1: another entry runs',
    policies: { maxConcurrent: 1 },
    situation: anotherRuns,
    told: ['00:01 starts'],
  },
  {
    name: 'maxConcurrent 1 with skip: one runs',
    policies: { maxConcurrent: 1, ...SKIP },
    situation: runningHere,
    told: ['00:01 starts', '00:02 overlap'],
  },
  {
    name: 'maxConcurrent 1 with queue: one ran and has ended',
    policies: { maxConcurrent: 1, ...QUEUE },
    situation: runningHereAndEnds,
    told: ['00:01 starts', '00:02 starts'],
  },
  { name: 'maxConcurrentFires 1: idle', options: { maxConcurrentFires: 1 }, situation: idle, told: ['00:01 starts'] },
  {
    name: 'maxConcurrentFires 1: one runs',
    options: { maxConcurrentFires: 1 },
    situation: runningHere,
    told: ['00:01 starts', '00:02 concurrency-limit'],
  },
  {
    name: 'maxConcurrentFires 1: another entry runs',
    options: { maxConcurrentFires: 1 },
    situation: anotherRuns,
    told: ['00:01 concurrency-limit'],
  },
  {
    name: 'maxConcurrentFires 2: another entry runs',
    options: { maxConcurrentFires: 2 },
    situation: anotherRuns,
    told: ['00:01 starts'],
  },
  {
    name: 'maxConcurrentFires 1: another entry ran and has ended',
    options: { maxConcurrentFires: 1 },
    situation: anotherRanAndEnds,
    told: ['00:01 concurrency-limit', '00:02 starts'],
  },
  {
    name: 'maxConcurrentFires 1 with queue: another entry runs',
    policies: QUEUE,
    options: { maxConcurrentFires: 1 },
    situation: anotherRuns,
    told: ['00:01 concurrency-limit'],
  },
  {
    name: 'maxConcurrentFires 1 with queue: it ran itself and has ended',
    policies: QUEUE,
    options: { maxConcurrentFires: 1 },
    situation: runningHereAndEnds,
    told: ['00:01 starts', '00:02 starts'],
  },
]);

const paused = (then: (it: World) => Promise<unknown>) => (it: World) => {
  it.scheduler.pause('job');
  return then(it);
};
const manually = (it: World) => it.trigger();
const manuallyWhileItRuns = async (it: World) => {
  it.job(it.holds);
  await it.clock.advance(MINUTE);
  await it.trigger();
};
const manuallyTwiceWhileItRunsAndEnds = async (it: World) => {
  it.job(it.holds);
  await it.clock.advance(MINUTE);
  await it.trigger(2);
  await it.end();
};
const manuallyWhileAnotherRuns = async (it: World) => {
  it.scheduler.trigger('other');
  await it.trigger();
};
/** Three instants to catch up, while a manual one runs. */
const lateWhileItRuns = async (it: World) => {
  it.job(it.holds);
  await it.trigger();
  await it.clock.suspend(3 * MINUTE + 11 * SECOND);
};
const lateWhileItRunsOneByOne = async (it: World) => {
  await lateWhileItRuns(it);
  for (let i = 0; i < 4; i++) {
    await it.end();
    await it.clock.advance(SECOND);
  }
};
const lateWhileAnotherRuns = async (it: World) => {
  it.scheduler.trigger('other');
  await it.clock.suspend(3 * MINUTE + 11 * SECOND);
};
const lateWhileAnotherRanAndEnds = async (it: World) => {
  await lateWhileAnotherRuns(it);
  await it.end();
};
const ALL = MISSED['run-all'];
const LATE_ALL = ['00:01 late starts', '00:02 late starts', '00:03 late starts'];

table('paused, by origin', [
  { name: 'schedule', situation: paused(idle), told: ['00:01 paused'] },
  { name: 'manual', situation: paused(manually), told: ['manual starts'] },
  {
    name: 'catch-up',
    policies: ALL,
    situation: paused(blocked(2, 11 * SECOND)),
    told: ['00:01 late paused', '00:02 late paused'],
  },
]);

table('refusals, by origin', [
  {
    name: 'manual, skip: it runs',
    policies: SKIP,
    situation: manuallyWhileItRuns,
    told: ['00:01 starts', 'manual overlap'],
  },
  {
    name: 'manual, maxConcurrent 1: it runs',
    policies: { maxConcurrent: 1 },
    situation: manuallyWhileItRuns,
    told: ['00:01 starts', 'manual concurrency-limit'],
  },
  { name: 'manual, queue: it runs', policies: QUEUE, situation: manuallyWhileItRuns, told: ['00:01 starts'] },
  {
    name: 'manual twice, queue: it ran and has ended',
    policies: QUEUE,
    situation: manuallyTwiceWhileItRunsAndEnds,
    told: ['00:01 starts', 'manual overlap', 'manual starts'],
  },
  {
    name: 'manual, maxConcurrentFires 1: another entry runs',
    options: { maxConcurrentFires: 1 },
    situation: manuallyWhileAnotherRuns,
    told: ['manual concurrency-limit'],
  },
  { name: 'catch-up, allow: it runs', policies: ALL, situation: lateWhileItRuns, told: ['manual starts', ...LATE_ALL] },
  {
    name: 'catch-up, skip: it runs',
    policies: { ...ALL, ...SKIP },
    situation: lateWhileItRuns,
    told: ['manual starts'],
  },
  {
    name: 'catch-up, skip: one after the other has ended',
    policies: { ...ALL, ...SKIP },
    situation: lateWhileItRunsOneByOne,
    told: ['manual starts', ...LATE_ALL],
  },
  {
    name: 'catch-up, maxConcurrent 1: one after the other has ended',
    policies: { ...ALL, maxConcurrent: 1 },
    situation: lateWhileItRunsOneByOne,
    told: ['manual starts', ...LATE_ALL],
  },
  {
    name: 'catch-up, queue: one after the other has ended',
    policies: { ...ALL, ...QUEUE },
    situation: lateWhileItRunsOneByOne,
    told: ['manual starts', ...LATE_ALL],
  },
  {
    name: 'catch-up, maxConcurrentFires 1: another entry runs',
    policies: ALL,
    options: { maxConcurrentFires: 1 },
    situation: lateWhileAnotherRuns,
    told: [],
  },
  {
    name: 'catch-up, maxConcurrentFires 1: another entry ran and has ended',
    policies: ALL,
    options: { maxConcurrentFires: 1 },
    situation: lateWhileAnotherRanAndEnds,
    told: LATE_ALL,
  },
]);

const RETRY = { retry: { attempts: 3, minMs: SECOND, maxMs: SECOND, factor: 1, jitter: 0 } } as const;
type Begin = (it: World) => Promise<unknown>;
const begins: readonly (readonly [fire: string, begin: Begin])[] = [
  ['00:01', idle],
  ['manual', manually],
  ['00:01 late', blocked(1, 11 * SECOND)],
];
const fails = (times: number, begin: Begin, then: (it: World) => unknown) => async (it: World) => {
  it.job(it.throws(times));
  await begin(it);
  await then(it);
  await it.clock.advance(10 * SECOND);
};
const hangs = (begin: Begin) => async (it: World) => {
  it.job(() => new Promise(() => undefined));
  await begin(it);
  await it.clock.advance(10 * SECOND);
};
const nothing = () => undefined;
const timeoutMs = 2 * SECOND;

table(
  'retry, by origin',
  begins.flatMap(([fire, begin]): Row[] => [
    { name: `${fire}, none: throws`, situation: fails(9, begin, nothing), told: [`${fire} starts`, `${fire} failed`] },
    {
      name: `${fire}: throws once`,
      policies: RETRY,
      situation: fails(1, begin, nothing),
      told: [`${fire} starts`, `${fire} retries`],
    },
    {
      name: `${fire}: throws always`,
      policies: RETRY,
      situation: fails(9, begin, nothing),
      told: [`${fire} starts`, `${fire} retries`, `${fire} retries`, `${fire} failed`],
    },
    {
      name: `${fire}: runs into its timeout`,
      policies: { ...RETRY, timeoutMs },
      situation: hangs(begin),
      told: [`${fire} starts`, `${fire} failed`],
    },
    ...(['drain', 'stop'] as const).map(
      (end): Row => ({
        name: `${fire}: a ${end} in its pause`,
        policies: RETRY,
        situation: fails(9, begin, (it) => void it.scheduler[end]()),
        told: [`${fire} starts`, `${fire} retries`, `${fire} failed`],
      }),
    ),
    {
      name: `${fire}: its entry is removed in its pause`,
      policies: RETRY,
      situation: fails(9, begin, (it) => it.scheduler.remove('job')),
      told: [`${fire} starts`, `${fire} retries`, `${fire} failed`],
    },
    {
      name: `${fire}: its entry is updated in its pause`,
      policies: RETRY,
      situation: fails(9, begin, (it) => it.scheduler.update('job', {})),
      told: [`${fire} starts`, `${fire} retries`, `${fire} failed`],
    },
    {
      name: `${fire}: its entry is paused in its pause`,
      policies: RETRY,
      situation: fails(1, begin, (it) => it.scheduler.pause('job')),
      told: [`${fire} starts`, `${fire} retries`],
    },
  ]),
);

const queuedThen = (then: (it: World) => unknown) => async (it: World) => {
  await runningHere(it);
  await then(it);
  await it.clock.settle();
};

table('a wait in the queue', [
  {
    name: 'a drain',
    policies: QUEUE,
    situation: queuedThen((it) => void it.scheduler.drain()),
    told: ['00:01 starts', '00:02 draining'],
  },
  {
    name: 'its entry is removed',
    policies: QUEUE,
    situation: queuedThen((it) => it.scheduler.remove('job')),
    told: ['00:01 starts', '00:02 removed'],
  },
  {
    name: 'its entry is updated',
    policies: QUEUE,
    situation: queuedThen((it) => it.scheduler.update('job', {})),
    told: ['00:01 starts', '00:02 updated'],
  },
  {
    name: 'its entry is paused, and the earlier one ends',
    policies: QUEUE,
    situation: queuedThen((it) => {
      it.scheduler.pause('job');
      return it.end();
    }),
    told: ['00:01 starts', '00:02 paused'],
  },
  {
    name: 'the earlier one runs into its timeout and goes on running',
    policies: { ...QUEUE, timeoutMs: 90 * SECOND },
    situation: async (it) => {
      await runningHere(it);
      await it.clock.advance(40 * SECOND);
    },
    told: ['00:01 starts', '00:01 failed'],
  },
]);
