import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { DEFAULT_ENTRY_POLICIES, type EntryPolicies } from '../domain/entry.js';
import { MISSED_POLICIES, type MissedPolicy } from '../domain/policies.js';
import type { Schedule } from '../schedule/schedule.js';
import { COUNTED_INSTANTS, plan, planMissed, RUN_ALL_CAP } from './plan.js';
import { at, DAY, every, HOUR, MINUTE, SECOND } from './replica.fixture.js';

const NOON = Date.UTC(2026, 0, 5, 12);

/** A schedule that can only be asked forwards. */
const forwards = ({ previous: _, ...schedule }: Schedule): Schedule => schedule;

/** Instants as hours and minutes before noon, since that is what the reader compares. */
function planned(schedule: Schedule, dueMs: number, nowMs: number, policies: Partial<EntryPolicies>) {
  const { fires, missed, reachedMs } = plan(schedule, dueMs, nowMs, { ...DEFAULT_ENTRY_POLICIES, ...policies });
  return {
    runs: fires.map(({ atMs, origin }) => `${origin === 'schedule' ? '' : 'late '}${minutes(atMs)}`),
    missed: missed && { from: minutes(missed.firstMs), to: minutes(missed.lastMs), count: missed.count },
    atLeast: missed?.atLeast ?? false,
    reached: minutes(reachedMs),
  };
}

const minutes = (ms: number) => (ms - NOON) / MINUTE;

type Expected = { readonly runs: readonly string[]; readonly missed?: { from: number; to: number; count: number } };

interface Situation {
  readonly schedule: Schedule;
  readonly nowMs: number;
  readonly change?: Partial<EntryPolicies>;
  readonly reached: number;
  readonly expected: Readonly<Record<MissedPolicy, Expected>>;
}

const quarterly = every(15 * MINUTE);
const same = (expected: Expected) => ({ 'run-once': expected, skip: expected, 'run-all': expected });

/** What is due from noon on, and what each policy makes of it. Minutes are counted from noon. */
const SITUATIONS: Readonly<Record<string, Situation>> = {
  'on time': { schedule: quarterly, nowMs: NOON, reached: 0, expected: same({ runs: ['0'] }) },
  'late, within the tolerance': {
    schedule: quarterly,
    nowMs: NOON + MINUTE,
    reached: 0,
    expected: same({ runs: ['0'] }),
  },
  'late by a millisecond more than the tolerance': {
    schedule: quarterly,
    nowMs: NOON + MINUTE + 1,
    reached: 0,
    expected: {
      'run-once': { runs: ['late 0'] },
      skip: { runs: [], missed: { from: 0, to: 0, count: 1 } },
      'run-all': { runs: ['late 0'] },
    },
  },
  'several due, the newest on time: it is the one of run-once': {
    schedule: quarterly,
    nowMs: NOON + 30 * MINUTE,
    reached: 30,
    expected: {
      'run-once': { runs: ['30'], missed: { from: 0, to: 15, count: 2 } },
      skip: { runs: ['30'], missed: { from: 0, to: 15, count: 2 } },
      'run-all': { runs: ['late 0', 'late 15', '30'] },
    },
  },
  'several due within the tolerance: the newest alone is on time': {
    schedule: every(20 * SECOND),
    nowMs: NOON + 45 * SECOND,
    reached: 40 / 60,
    expected: {
      'run-once': { runs: [`${40 / 60}`], missed: { from: 0, to: 20 / 60, count: 2 } },
      skip: { runs: [`${40 / 60}`], missed: { from: 0, to: 20 / 60, count: 2 } },
      'run-all': { runs: ['late 0', `late ${20 / 60}`, `${40 / 60}`] },
    },
  },
  'several due, all too late': {
    schedule: quarterly,
    nowMs: NOON + 40 * MINUTE,
    reached: 30,
    expected: {
      'run-once': { runs: ['late 30'], missed: { from: 0, to: 15, count: 2 } },
      skip: { runs: [], missed: { from: 0, to: 30, count: 3 } },
      'run-all': { runs: ['late 0', 'late 15', 'late 30'] },
    },
  },
  'some older than catchUpWithin': {
    schedule: quarterly,
    nowMs: NOON + 40 * MINUTE,
    change: { catchUpWithinMs: 25 * MINUTE },
    reached: 30,
    expected: {
      'run-once': { runs: ['late 30'], missed: { from: 0, to: 15, count: 2 } },
      skip: { runs: [], missed: { from: 0, to: 30, count: 3 } },
      'run-all': { runs: ['late 15', 'late 30'], missed: { from: 0, to: 0, count: 1 } },
    },
  },
  'all older than catchUpWithin': {
    schedule: at(NOON, NOON + 15 * MINUTE),
    nowMs: NOON + 2 * DAY,
    reached: 15,
    expected: same({ runs: [], missed: { from: 0, to: 15, count: 2 } }),
  },
};

describe('plan', () => {
  describe.each(Object.entries(SITUATIONS))('%s', (_, { schedule, nowMs, change, reached, expected }) => {
    it.each(MISSED_POLICIES)('%s', (missed) => {
      const got = planned(schedule, NOON, nowMs, { ...change, missed });
      expect(got).toEqual({ missed: undefined, ...expected[missed], atLeast: false, reached });
      expect(planned(forwards(schedule), NOON, nowMs, { ...change, missed })).toEqual(got);
    });
  });

  it('a tolerance of zero still runs what is reached in its own millisecond', () => {
    expect(planned(quarterly, NOON, NOON, { missedToleranceMs: 0, missed: 'skip' }).runs).toEqual(['0']);
    expect(planned(quarterly, NOON, NOON + 1, { missedToleranceMs: 0, missed: 'skip' }).runs).toEqual([]);
  });

  it('asks the schedule nothing when no second instant can be due yet', () => {
    const schedule = {
      ...every(HOUR),
      minIntervalMs: HOUR,
      next: () => {
        throw new Error('asked');
      },
    };
    expect(plan(schedule, NOON, NOON + 30 * SECOND, DEFAULT_ENTRY_POLICIES).fires).toHaveLength(1);
  });

  describe.each([
    ['with previous', every(SECOND)],
    ['that only goes forwards', forwards(every(SECOND))],
  ])('very many due, on a schedule %s', (_, schedule) => {
    const lateMs = 20 * HOUR;
    const nowMs = NOON + lateMs;
    const due = lateMs / SECOND + 1;

    it('run-all runs the newest 1,000 beside the one on time, oldest first, and reports the rest', () => {
      const { fires, missed } = plan(schedule, NOON, nowMs, { ...DEFAULT_ENTRY_POLICIES, missed: 'run-all' });
      expect(fires).toHaveLength(RUN_ALL_CAP + 1);
      expect(fires.map(({ atMs }) => atMs)).toEqual(
        Array.from({ length: RUN_ALL_CAP + 1 }, (_, i) => nowMs - (RUN_ALL_CAP - i) * SECOND),
      );
      expect(missed).toEqual({
        firstMs: NOON,
        lastMs: nowMs - (RUN_ALL_CAP + 1) * SECOND,
        count: COUNTED_INSTANTS,
        atLeast: true,
      });
    });

    it('skip and run-once run the newest on time, and report first, last and a lower bound', () => {
      for (const missed of ['skip', 'run-once'] as const) {
        const decided = plan(schedule, NOON, nowMs, { ...DEFAULT_ENTRY_POLICIES, missed });
        expect(decided.fires).toEqual([{ atMs: nowMs, origin: 'schedule' }]);
        expect(decided.missed).toEqual({
          firstMs: NOON,
          lastMs: nowMs - SECOND,
          count: COUNTED_INSTANTS,
          atLeast: true,
        });
        expect(decided.reachedMs).toBe(nowMs);
      }
      expect(due).toBeGreaterThan(COUNTED_INSTANTS);
    });

    it.each([
      [COUNTED_INSTANTS, false],
      [COUNTED_INSTANTS + 1, true],
    ])('%i that do not run: the count is a lower bound: %s', (unrun, atLeast) => {
      for (const [missed, runs] of [
        ['skip', 1],
        ['run-all', RUN_ALL_CAP + 1],
      ] as const) {
        const decided = plan(schedule, NOON, NOON + (unrun + runs - 1) * SECOND, { ...DEFAULT_ENTRY_POLICIES, missed });
        expect(decided.fires).toHaveLength(runs);
        expect(decided.missed).toMatchObject({ count: COUNTED_INSTANTS, atLeast });
      }
    });
  });

  it('a schedule that only goes forwards, dense long ago and sparse since: the newest are found all the same', () => {
    const sparseFromMs = NOON + 12_000 * SECOND;
    const schedule: Schedule = {
      ...forwards(every(SECOND)),
      next: (afterMs) => (afterMs < sparseFromMs ? every(SECOND) : every(10 * MINUTE)).next(afterMs),
    };
    const nowMs = sparseFromMs + DAY;
    const { fires, missed } = plan(schedule, NOON, nowMs, {
      ...DEFAULT_ENTRY_POLICIES,
      missed: 'run-all',
      catchUpWithinMs: 9 * DAY,
    });
    expect(fires).toHaveLength(RUN_ALL_CAP + (nowMs % (10 * MINUTE) <= MINUTE ? 1 : 0));
    const run = new Set(fires.map(({ atMs }) => atMs));
    expect(run.has(missed!.lastMs)).toBe(false);
    expect(schedule.next(missed!.lastMs)).toBe(fires[0]!.atMs);
  });

  it.each<[string, (beforeMs: number) => unknown]>([
    [
      'throws',
      () => {
        throw new Error('broken');
      },
    ],
    ['does not go back', (beforeMs) => beforeMs],
    ['answers no number', () => Number.NaN],
    ['answers a fraction', (beforeMs) => beforeMs - 0.5],
    ['answers nothing', () => undefined],
    ['knows of no instant, though next() does', () => null],
    ['skips all that next() answered', () => NOON - 1],
  ])('a previous that %s fails the plan instead of losing instants in silence', (_, previous) => {
    const schedule = { ...every(SECOND), previous } as Schedule;
    expect(() => plan(schedule, NOON, NOON + DAY, DEFAULT_ENTRY_POLICIES)).toThrow();
  });

  it('every due instant is either run or counted as missed, by any policy (against a plain enumeration)', () => {
    const instants = fc.uniqueArray(fc.integer({ min: 0, max: 3_000 }), { minLength: 1, maxLength: 60 });
    fc.assert(
      fc.property(
        instants,
        fc.integer({ min: 0, max: 4_000 }),
        fc.integer({ min: 0, max: 500 }),
        fc.integer({ min: 0, max: 4_000 }),
        fc.constantFrom(...MISSED_POLICIES),
        fc.boolean(),
        (all, sinceMs, missedToleranceMs, catchUpWithinMs, missed, looksBack) => {
          const schedule = looksBack ? at(...all) : forwards(at(...all));
          const firstMs = Math.min(...all);
          const nowMs = firstMs + sinceMs;
          const due = all.filter((ms) => ms <= nowMs).sort((a, b) => a - b);
          const newestMs = due[due.length - 1]!;
          const onTime = nowMs - newestMs <= missedToleranceMs;
          const makeUp = due.filter((ms) => nowMs - ms <= catchUpWithinMs && !(onTime && ms === newestMs));
          const madeUp = { skip: [], 'run-once': onTime ? [] : makeUp.slice(-1), 'run-all': makeUp }[missed];
          const runs = onTime ? [...madeUp, newestMs] : madeUp;
          const unrun = due.filter((ms) => !runs.includes(ms));

          const decided = plan(schedule, firstMs, nowMs, {
            ...DEFAULT_ENTRY_POLICIES,
            missed,
            missedToleranceMs,
            catchUpWithinMs,
          });
          expect(decided.fires.map(({ atMs }) => atMs)).toEqual(runs);
          expect(decided.fires.filter(({ origin }) => origin === 'schedule')).toHaveLength(onTime ? 1 : 0);
          expect(decided.reachedMs).toBe(newestMs);
          expect(decided.missed).toEqual(
            unrun.length === 0
              ? undefined
              : { firstMs: unrun[0], lastMs: unrun[unrun.length - 1], count: unrun.length, atLeast: false },
          );
        },
      ),
    );
  });
});

describe('planMissed', () => {
  const run = (afterMs: number, untilMs: number, nowMs: number, change: Partial<EntryPolicies> = {}) =>
    planMissed(quarterly, afterMs, untilMs, nowMs, {
      ...DEFAULT_ENTRY_POLICIES,
      missed: 'run-all',
      ...change,
    })?.fires.map(({ atMs, origin }) => `${origin === 'schedule' ? '' : 'late '}${minutes(atMs)}`);
  const after = (count: number) => NOON + count * MINUTE;

  it('looks at what came after the last fire, up to and with the end', () => {
    expect(run(NOON, after(45), after(50))).toEqual(['late 15', 'late 30', 'late 45']);
    expect(run(NOON, after(45) - 1, after(50))).toEqual(['late 15', 'late 30']);
  });

  it('is as late as now is, not as the end', () => {
    expect(run(NOON, after(15), after(15))).toEqual(['15']);
    expect(run(NOON, after(15), after(17))).toEqual(['late 15']);
  });

  it('finds nothing where nothing came due since, where the clock was set back behind it, and of instants to come', () => {
    expect(run(NOON, after(14), after(14))).toBeUndefined();
    expect(run(after(60), after(30), after(30))).toBeUndefined();
    expect(run(NOON, after(45), after(20))).toEqual(['late 15']);
  });

  it('looks no further back than catchUpWithin, counted from now', () => {
    expect(run(NOON, after(45), after(50), { catchUpWithinMs: 25 * MINUTE })).toEqual(['late 30', 'late 45']);
    expect(run(NOON, after(45), NOON + 2 * DAY)).toBeUndefined();
  });
});
