import { describe, expect, it } from '@jest/globals';
import { MemoryBackend } from '../coordination/memory/memory-backend.js';
import { MemoryStore } from '../coordination/memory/memory-store.js';
import { EntryNotFoundError } from '../domain/errors.js';
import type { Schedule } from '../schedule/schedule.js';
import { VirtualClock } from '../testing/virtual-clock.js';
import { at, definition, every, HOUR, heldMethod, MINUTE, replica, SECOND } from './replica.fixture.js';

const RETRY = { attempts: 2, minMs: MINUTE, maxMs: MINUTE, factor: 1, jitter: 0 };
const NO_COUNTERS = {
  started: 0,
  completed: 0,
  failed: 0,
  retried: 0,
  canceled: 0,
  missed: 0,
  abandoned: 0,
  skipped: { 'not-leader': 0, 'election-error': 0, 'already-claimed': 0, 'claim-error': 0 },
  rejected: { overlap: 0, 'concurrency-limit': 0, paused: 0, guard: 0 },
};

/** A schedule that counts how often it is asked. */
function counted(stepMs: number) {
  const asked = { next: 0, previous: 0 };
  const { next, previous, ...names } = every(stepMs);
  const schedule: Schedule = {
    ...names,
    next: (ms) => {
      asked.next += 1;
      return next(ms);
    },
    previous: (ms) => {
      asked.previous += 1;
      return previous!(ms);
    },
  };
  return { schedule, asked };
}

describe('what an operator sees of an entry', () => {
  it('before it fired: nought and nothing', () => {
    const { scheduler, clock } = replica();
    scheduler.add(definition('a', every(HOUR)));
    scheduler.start();
    expect(scheduler.list()).toEqual([
      {
        key: 'a',
        expression: `every ${HOUR} ms`,
        nextAt: new Date(clock.now() + HOUR),
        paused: false,
        pausedOverFleet: false,
        underWay: 0,
        running: 0,
        failed: false,
        counters: NO_COUNTERS,
        lastStartedAt: null,
        lastOutcome: null,
      },
    ]);
  });

  it('while it runs, and after: what runs now, when it was last called, and how its last fire ended', async () => {
    const { run, calls } = heldMethod();
    const { clock, scheduler } = replica();
    scheduler.add(definition('a', every(MINUTE), { run, maxConcurrent: 2 }));
    scheduler.start();
    await clock.advance(2 * MINUTE);
    expect(scheduler.view('a')).toMatchObject({ running: 2, underWay: 2, lastOutcome: null });
    expect(scheduler.view('a').lastStartedAt).toEqual(new Date('2026-01-01T00:02:00Z'));
    calls[0]?.fail(new Error('no'));
    await clock.advance(SECOND);
    expect(scheduler.view('a')).toMatchObject({
      running: 1,
      underWay: 1,
      lastStartedAt: new Date('2026-01-01T00:02:00Z'),
      lastOutcome: {
        fireKey: 'a@2026-01-01T00:01:00Z',
        scheduledAt: new Date('2026-01-01T00:01:00Z'),
        origin: 'schedule',
        kind: 'failed',
        error: 'no',
        durationMs: MINUTE,
        atMs: new Date('2026-01-01T00:02:00Z').getTime(),
      },
      counters: { ...NO_COUNTERS, started: 2, failed: 1 },
    });
  });

  it('a fire that pauses before its next attempt is under way, and its method does not run', async () => {
    const { clock, scheduler, ofType } = replica();
    scheduler.add(definition('a', every(HOUR), { run: () => Promise.reject(new Error('no')), retry: RETRY }));
    scheduler.start();
    scheduler.trigger('a');
    await clock.settle();
    expect(scheduler.view('a')).toMatchObject({ running: 0, underWay: 1, counters: { retried: 1, failed: 0 } });
    void scheduler.drain();
    expect(ofType('scheduler.draining')).toMatchObject([{ running: 0 }]);
    await clock.settle();
  });

  it('a method that overran its time and still runs counts as running', async () => {
    const { run, calls } = heldMethod();
    const { clock, scheduler } = replica();
    scheduler.add(definition('a', every(HOUR), { run, timeoutMs: SECOND }));
    scheduler.start();
    scheduler.trigger('a');
    await clock.advance(MINUTE);
    expect(scheduler.view('a')).toMatchObject({ running: 1, lastOutcome: { kind: 'failed' } });
    calls[0]?.end();
    await clock.settle();
    expect(scheduler.view('a')).toMatchObject({ running: 0, underWay: 0 });
  });

  it('the latest instant that has passed, whether it ran or not, and the next five', async () => {
    const { clock, scheduler } = replica();
    scheduler.add(definition('a', every(MINUTE)));
    scheduler.add(definition('ends', at('2026-01-01T00:00:30Z', '2026-01-01T00:05:00Z')));
    scheduler.start();
    expect(scheduler.view('a').previousAt).toEqual(new Date('2026-01-01T00:00:00Z'));
    expect(scheduler.view('ends').previousAt).toBeNull();
    scheduler.pause('a');
    await clock.advance(90 * SECOND);
    const [a, ends] = scheduler.snapshot();
    expect(a?.previousAt).toEqual(new Date('2026-01-01T00:01:00Z'));
    expect(a?.next.map((date) => date.toISOString().slice(14, 19))).toEqual([
      '02:00',
      '03:00',
      '04:00',
      '05:00',
      '06:00',
    ]);
    expect(ends).toMatchObject({
      previousAt: new Date('2026-01-01T00:00:30Z'),
      next: [new Date('2026-01-01T00:05:00Z')],
    });
    expect(a).toEqual(scheduler.view('a'));
    expect(() => scheduler.view('typo')).toThrow(EntryNotFoundError);
  });

  it('a schedule that throws, or cannot look back, shows no instants, and takes no other entry from the list', () => {
    const { scheduler } = replica();
    const boom = () => {
      throw new Error('schedule');
    };
    const { previous: _, ...forward } = every(MINUTE);
    scheduler.add(definition('throws', { ...every(MINUTE), next: boom, previous: boom }));
    scheduler.add(definition('stands', { ...every(MINUTE), next: (ms) => ms, previous: (ms) => ms }));
    scheduler.add(definition('forward', forward));
    scheduler.start();
    expect(
      scheduler.snapshot().map(({ key, previousAt, next, failed }) => [key, previousAt, next.length, failed]),
    ).toEqual([
      ['throws', null, 0, true],
      ['stands', null, 0, true],
      ['forward', null, 5, false],
    ]);
  });

  it('a list asks no schedule, and a snapshot asks one that many entries share once', () => {
    const { scheduler } = replica();
    const { schedule, asked } = counted(MINUTE);
    for (let i = 0; i < 1_000; i++) scheduler.add(definition(`entry-${i}`, schedule));
    scheduler.start();
    Object.assign(asked, { next: 0, previous: 0 });
    expect(scheduler.list()).toHaveLength(1_000);
    expect(asked).toEqual({ next: 0, previous: 0 });
    expect(scheduler.snapshot()).toHaveLength(1_000);
    expect(asked).toEqual({ next: 5, previous: 1 });
  });

  it('is read as it was then: later fires change nothing of it', async () => {
    const { clock, scheduler } = replica();
    scheduler.add(definition('a', every(MINUTE)));
    scheduler.start();
    await clock.advance(MINUTE);
    const before = scheduler.view('a');
    await clock.advance(MINUTE);
    expect(before.counters.completed).toBe(1);
    expect(scheduler.view('a').counters.completed).toBe(2);
  });
});

describe('counters of a replica', () => {
  it('count instants that were missed, over all entries and for each', async () => {
    const { clock, scheduler } = replica();
    scheduler.add(definition('skips', every(MINUTE), { missed: 'skip', missedToleranceMs: SECOND }));
    scheduler.add(definition('runs', every(MINUTE), { missed: 'run-once', missedToleranceMs: SECOND }));
    scheduler.start();
    await clock.suspend(5 * MINUTE + 10 * SECOND);
    expect(scheduler.list().map(({ key, counters }) => [key, counters.missed, counters.completed])).toEqual([
      ['skips', 5, 0],
      ['runs', 4, 1],
    ]);
    expect(scheduler.counters()).toMatchObject({ missed: 9, started: 1, completed: 1 });
  });

  it('keep what a removed entry came to; one that is added again begins at nought', async () => {
    const { run, calls } = heldMethod();
    const { clock, scheduler } = replica();
    scheduler.add(definition('a', every(MINUTE), { run }));
    scheduler.start();
    await clock.advance(MINUTE);
    scheduler.remove('a');
    scheduler.add(definition('a', every(MINUTE)));
    calls[0]?.end();
    await clock.settle();
    expect(scheduler.counters()).toMatchObject({ started: 1, completed: 1 });
    expect(scheduler.view('a').counters).toEqual(NO_COUNTERS);
  });

  it('an update keeps what the entry came to', async () => {
    const { clock, scheduler } = replica();
    scheduler.add(definition('a', every(MINUTE)));
    scheduler.start();
    await clock.advance(MINUTE);
    scheduler.update('a', { schedule: every(HOUR) });
    expect(scheduler.view('a').counters.completed).toBe(1);
  });

  it('count each fire once on whatever replica reached it, as its events do', async () => {
    const clock = new VirtualClock();
    const store = new MemoryStore({ clock });
    const replicas = ['a', 'b', 'c'].map((id) => replica({ id, clock, backend: new MemoryBackend({ store }) }));
    for (const { scheduler } of replicas) {
      scheduler.add(definition('job', every(MINUTE)));
      scheduler.start();
    }
    await clock.advance(10 * MINUTE);
    const totals = replicas.map(({ scheduler }) => scheduler.counters());
    expect(totals.reduce((sum, { completed }) => sum + completed, 0)).toBe(10);
    expect(totals.reduce((sum, { skipped }) => sum + skipped['already-claimed'], 0)).toBe(20);
    for (const { scheduler, ofType } of replicas)
      expect(scheduler.counters().completed).toBe(ofType('fire.completed').length);
  });
});
