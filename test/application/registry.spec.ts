import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import {
  alignedInterval,
  ConfigurationError,
  DistributedCron,
  DistributedCronRegistry,
  DistributedTasks,
  EntryExistsError,
  EntryNotFoundError,
  FireRejectedError,
  SchedulerStoppedError,
  TimeoutError,
} from 'nestjs-distributed-cron';
import { started } from './application.fixture.js';

@Injectable()
class Reports {
  @DistributedCron('0 9 * * *', { key: 'report', timeZone: 'Asia/Tokyo', jitter: '1s' })
  run() {
    return 'written';
  }
}

let application: Awaited<ReturnType<typeof started>>;
let registry: DistributedCronRegistry;

beforeEach(async () => {
  application = await started({
    options: {
      claimer: { claim: async () => true },
      entries: { report: { cron: '30 9 * * *' } },
    },
    providers: [Reports],
  });
  registry = application.registry;
});
afterEach(async () => {
  const closed = application.app.close();
  // Some methods here never end: close waits for them until the drain deadline.
  await application.clock.advance(12_000);
  await closed;
});

const nextOf = (key: string) => registry.next(key)[0]?.toISOString();
const thrown = (call: () => unknown): unknown => {
  try {
    call();
  } catch (error) {
    return error;
  }
  throw new Error('It did not throw.');
};

describe('list and snapshot', () => {
  it('show every entry with its schedule, next instant and state', () => {
    registry.pause('report');
    registry.add('beat', alignedInterval('90s'), () => new Promise(() => undefined), { timeout: '1s' });
    registry.trigger('beat');
    expect(registry.list()).toEqual([
      {
        key: 'report',
        expression: '30 9 * * *',
        timeZone: 'Asia/Tokyo',
        nextAt: new Date('2026-01-01T00:30:00Z'),
        paused: true,
        pausedOverFleet: false,
        underWay: 0,
        running: 0,
        failed: false,
        counters: {
          started: 0,
          completed: 0,
          failed: 0,
          retried: 0,
          canceled: 0,
          missed: 0,
          abandoned: 0,
          skipped: { 'not-leader': 0, 'election-error': 0, 'already-claimed': 0, 'claim-error': 0 },
          rejected: { overlap: 0, 'concurrency-limit': 0, paused: 0, guard: 0 },
        },
        lastStartedAt: null,
        lastOutcome: null,
      },
      expect.objectContaining({ key: 'beat', underWay: 1, running: 1, paused: false }),
    ]);
    return application.clock.advance(1_000);
  });

  it('the snapshot survives JSON unchanged, and names the replica', () => {
    registry.add(
      'once',
      () => null,
      () => undefined,
    );
    const snapshot = registry.snapshot();
    expect(JSON.parse(JSON.stringify(snapshot))).toEqual(snapshot);
    expect(snapshot).toMatchObject({
      state: 'started',
      pid: process.pid,
      timeZoneData: process.versions.tz,
      entries: [
        { key: 'report', nextAt: '2026-01-01T00:30:00.000Z' },
        { key: 'once', nextAt: null, next: [], previousAt: null },
      ],
      tasks: [],
    });
  });

  it('the snapshot tells of each entry what is next, what was last, and how often what came of it', async () => {
    registry.add('failing', '0 * * * *', () => Promise.reject(new Error('no paper')));
    await application.clock.advanceTo('2026-01-01T02:30:00Z');
    registry.pause('failing');
    await application.clock.advanceTo('2026-01-01T03:30:00Z');
    await registry.triggerAndWait('report');
    const snapshot = registry.snapshot();
    expect(JSON.parse(JSON.stringify(snapshot))).toEqual(snapshot);
    expect(snapshot.entries).toMatchObject([
      {
        key: 'report',
        counters: { started: 2, completed: 2 },
        previousAt: '2026-01-01T00:30:00.000Z',
        lastStartedAt: '2026-01-01T03:30:00.000Z',
        lastOutcome: { kind: 'completed', origin: 'manual', scheduledAt: '2026-01-01T03:30:00.000Z' },
      },
      {
        key: 'failing',
        expression: '0 * * * *',
        timeZone: 'UTC',
        paused: true,
        counters: { started: 2, failed: 2, rejected: { paused: 1 } },
        previousAt: '2026-01-01T03:00:00.000Z',
        next: [4, 5, 6, 7, 8].map((hour) => `2026-01-01T0${hour}:00:00.000Z`),
        lastStartedAt: '2026-01-01T02:00:00.000Z',
        lastOutcome: { fireKey: 'failing@2026-01-01T03:00:00Z', kind: 'rejected', reason: 'paused' },
      },
    ]);
    expect(snapshot.counters).toEqual(registry.counters());
    expect(snapshot.counters).toMatchObject({ started: 4, completed: 2, failed: 2, rejected: { paused: 1 } });
    registry.remove('failing');
    expect(registry.counters()).toMatchObject({ started: 4, failed: 2 });
  });

  it('the snapshot has the tasks of the replica', () => {
    application.app.get(DistributedTasks).parallel('sweep', () => '1m', { initialDelay: 0 });
    const snapshot = registry.snapshot();
    expect(JSON.parse(JSON.stringify(snapshot))).toEqual(snapshot);
    expect(snapshot.tasks).toMatchObject([{ key: 'sweep', kind: 'parallel', nextAt: '2026-01-01T00:00:00.001Z' }]);
  });
});

describe('add', () => {
  it('schedules a function, with the options of a decorator', async () => {
    const fired: string[] = [];
    registry.add('beat', '*/30 * * * * *', ({ fireKey }) => void fired.push(fireKey), { overlap: 'skip' });
    await application.clock.advance(60_000);
    expect(fired).toEqual(['beat@2026-01-01T00:00:30Z', 'beat@2026-01-01T00:01:00Z']);
  });

  it('refuses a second key', () => {
    const error = thrown(() => registry.add('beat', '* * * * *', () => undefined, { key: 'bat' } as never));
    expect(error).toMatchObject({ faults: [{ code: 'OPTION_UNKNOWN', got: '"key"' }] });
    expect(registry.list()).toMatchObject([{ key: 'report' }]);
  });

  it('refuses a key that is taken, and leaves the entry that has it', async () => {
    expect(thrown(() => registry.add('report', '* * * * *', () => undefined))).toBeInstanceOf(EntryExistsError);
    registry.update('report', { timeZone: 'UTC' });
    expect(nextOf('report')).toBe('2026-01-01T09:30:00.000Z');
    await expect(registry.triggerAndWait('report')).resolves.toBe('written');
  });

  it('reports every fault at once, and adds nothing', () => {
    const error = thrown(() => registry.add(' beat', '61 * * * *', undefined as never, { jiter: 1 } as never));
    expect(error).toBeInstanceOf(ConfigurationError);
    expect((error as ConfigurationError).faults.map(({ code }) => code)).toEqual([
      'OPTION_VALUE',
      'KEY_INVALID',
      'OPTION_UNKNOWN',
      'EXPRESSION_INVALID',
    ]);
    expect((error as Error).message).toContain(
      'DistributedCronRegistry, key " beat", run: expected a function, got undefined',
    );
    expect(application.keys()).toEqual(['report']);
  });
});

describe('update', () => {
  it('changes what it names, over configuration, and keeps the rest', () => {
    registry.update('report', { cron: '0 12 * * *' });
    expect(nextOf('report')).toBe('2026-01-01T03:00:00.000Z');
    registry.update('report', { timeZone: 'UTC' });
    expect(nextOf('report')).toBe('2026-01-01T12:00:00.000Z');
    registry.update('report', { cron: undefined, overlap: 'skip' } as never);
    expect(nextOf('report')).toBe('2026-01-01T12:00:00.000Z');
  });

  it('can replace an expression by a schedule, which has no zone, and the method', async () => {
    registry.update('report', { cron: alignedInterval('6h'), run: () => 'printed' });
    expect(nextOf('report')).toBe('2026-01-01T06:00:00.000Z');
    await expect(registry.triggerAndWait('report')).resolves.toBe('printed');
  });

  it('changes nothing when anything in it is wrong', async () => {
    expect(thrown(() => registry.update('report', { cron: '0 12 * * *', jitter: 'long' }))).toBeInstanceOf(
      ConfigurationError,
    );
    expect(thrown(() => registry.update('report', { run: 5 as never }))).toBeInstanceOf(ConfigurationError);
    expect(nextOf('report')).toBe('2026-01-01T00:30:00.000Z');
    registry.update('report', { overlap: 'skip' });
    expect(nextOf('report')).toBe('2026-01-01T00:30:00.000Z');
    await expect(registry.triggerAndWait('report')).resolves.toBe('written');
  });

  it('refuses to disable an entry, which it would not do', () => {
    const error = thrown(() => registry.update('report', { enabled: false } as never));
    expect(error).toMatchObject({ faults: [{ code: 'OPTION_UNKNOWN', hint: expect.stringContaining('pause') }] });
  });

  it('cancels a fire that waits for its jitter', async () => {
    await application.clock.advanceTo('2026-01-01T00:30:00Z');
    registry.update('report', { cron: '0 12 * * *' });
    await application.clock.advance(1_000);
    expect(application.story()).toEqual(['canceled updated']);
  });
});

describe('remove, pause and resume', () => {
  it('a removed entry fires no more, and its key is free', async () => {
    registry.remove('report');
    await application.clock.advanceTo('2026-01-01T01:00:00Z');
    expect(application.story()).toEqual([]);
    registry.add('report', '0 12 * * *', () => undefined);
    // Configuration by key counts for it as well: what an operator says of a key holds for whoever has it.
    expect(nextOf('report')).toBe('2026-01-01T09:30:00.000Z');
  });

  it('a paused entry rejects its fires until it is resumed, and manual triggers work', async () => {
    registry.pause('report');
    await application.clock.advanceTo('2026-01-01T00:31:00Z');
    await expect(registry.triggerAndWait('report')).resolves.toBe('written');
    registry.resume('report');
    await application.clock.advanceTo('2026-01-02T00:31:00Z');
    expect(application.story()).toEqual(['rejected paused', 'started', 'completed', 'started', 'completed']);
  });

  it('a resume that catches up runs the latest of what was missed, with missed: run-once', async () => {
    registry.add('hourly', '0 * * * *', () => undefined);
    registry.pause('hourly');
    await application.clock.advanceTo('2026-01-01T03:30:00Z');
    registry.resume('hourly', { catchUp: true });
    await application.clock.advance(0);
    const ofHourly = application.ofType('fire.started').filter(({ fire }) => fire.entryKey === 'hourly');
    expect(ofHourly.map(({ fire }) => `${fire.origin} ${fire.fireKey}`)).toEqual([
      'catch-up hourly@2026-01-01T03:00:00Z',
    ]);
    expect(application.ofType('fire.missed')).toMatchObject([{ foundBy: 'resume', policy: 'run-once', count: 2 }]);
  });

  it('a scope that is none is refused: it might have been the fleet', async () => {
    expect(thrown(() => registry.pause('report', { scope: 'flete' as 'fleet' }))).toBeInstanceOf(RangeError);
    expect(thrown(() => registry.resume('report', { scope: '' as 'fleet' }))).toBeInstanceOf(RangeError);
    expect(registry.list()).toMatchObject([{ paused: false }]);
  });

  it.each<['pause' | 'resume', unknown]>([
    ['pause', { scop: 'fleet' }],
    ['pause', 'fleet'],
    ['pause', { catchUp: true }],
    ['resume', { catchup: true }],
    ['resume', { catchUp: 'true' }],
  ])('%s with %j is refused, and nothing is paused or resumed', (operation, options) => {
    if (operation === 'resume') registry.pause('report');
    expect(thrown(() => registry[operation]('report', options as never))).toBeInstanceOf(RangeError);
    expect(registry.list()).toMatchObject([{ paused: operation === 'resume' }]);
  });
});

describe('trigger', () => {
  it('runs here and now under a key of its own', async () => {
    const fire = registry.trigger('report');
    expect(fire).toMatchObject({ entryKey: 'report', origin: 'manual', scheduledAt: new Date('2026-01-01T00:00:00Z') });
    expect(fire.fireKey).toMatch(/^report@2026-01-01T00:00:00Z#manual-[0-9a-f-]{36}$/);
    expect(application.story()).toEqual(['started', 'completed']);
  });

  it('triggerAndWait rejects with what the method threw, its timeout, or why it was refused', async () => {
    const failure = new Error('no paper');
    registry.add('failing', '* * * * *', () => Promise.reject(failure));
    await expect(registry.triggerAndWait('failing')).rejects.toBe(failure);

    registry.add('slow', '0 0 1 1 *', () => new Promise(() => undefined), { timeout: '1s', maxConcurrent: 1 });
    const slow = registry.triggerAndWait('slow');
    await expect(registry.triggerAndWait('slow')).rejects.toMatchObject({
      code: 'FIRE_REJECTED',
      reason: 'concurrency-limit',
    });
    await expect(registry.triggerAndWait('slow')).rejects.toBeInstanceOf(FireRejectedError);
    const timedOut = expect(slow).rejects.toBeInstanceOf(TimeoutError);
    await application.clock.advance(1_000);
    await timedOut;
  });
});

describe('next', () => {
  it('gives the next instants from now', () => {
    expect(registry.next('report', 2).map((date) => date.toISOString())).toEqual([
      '2026-01-01T00:30:00.000Z',
      '2026-01-02T00:30:00.000Z',
    ]);
    expect(registry.next('report', 0)).toEqual([]);
    registry.add(
      'never',
      () => null,
      () => undefined,
    );
    expect(registry.next('never', 5)).toEqual([]);
  });

  it.each([[Number.POSITIVE_INFINITY], [Number.NaN], [-1], [1.5]])('refuses %p instants', (count) => {
    expect(() => registry.next('report', count)).toThrow(RangeError);
  });
});

it('an unknown key is an EntryNotFoundError that names the known ones, everywhere', async () => {
  const calls: ((key: string) => unknown)[] = [
    (key) => registry.update(key, {}),
    (key) => registry.remove(key),
    (key) => registry.pause(key),
    (key) => registry.resume(key),
    (key) => registry.trigger(key),
    (key) => registry.next(key),
  ];
  for (const call of calls) {
    const error = thrown(() => call('Report'));
    expect(error).toBeInstanceOf(EntryNotFoundError);
    expect((error as Error).message).toContain('Known: report.');
  }
  await expect(registry.triggerAndWait('Report')).rejects.toBeInstanceOf(EntryNotFoundError);
});

it('after drain nothing is added, updated or triggered', async () => {
  await registry.drain();
  const calls = [
    () => registry.add('late', '* * * * *', () => undefined),
    () => registry.update('report', { cron: '* * * * *' }),
    () => registry.trigger('report'),
  ];
  for (const call of calls) expect(thrown(call)).toBeInstanceOf(SchedulerStoppedError);
  await expect(registry.triggerAndWait('report')).rejects.toBeInstanceOf(SchedulerStoppedError);
});

it('stop aborts running methods at once', async () => {
  let signal: AbortSignal | undefined;
  registry.add('slow', '0 0 1 1 *', (fire) => {
    signal = fire.signal;
    return new Promise((resolve) => fire.signal.addEventListener('abort', resolve));
  });
  registry.trigger('slow');
  await registry.stop();
  expect(signal?.aborted).toBe(true);
});

describe('configuration that disables an entry', () => {
  it('holds for one that code adds: it is validated and not scheduled', async () => {
    @Injectable()
    class Adds {
      constructor(private readonly entries: DistributedCronRegistry) {}

      onModuleInit() {
        this.entries.add('import', '* * * * *', () => undefined);
      }
    }
    const { app, keys } = await started({ options: { entries: { import: { enabled: false } } }, providers: [Adds] });
    expect(keys()).toEqual([]);
    await app.close();
  });
});
