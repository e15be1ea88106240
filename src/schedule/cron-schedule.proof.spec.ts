import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { DAY_MATCHES, type DayMatch, DST_POLICIES, type DstPolicy } from '../domain/policies.js';
import { between } from './between.js';
import { cronSchedule } from './cron-schedule.js';
import { type RandomExpression, randomExpression } from './expression.fixture.js';
import { KEPT_SEEDS } from './kept-seeds.fixture.js';
import { plainClock, plainDays, plainScan } from './plain-scan.fixture.js';
import { PROOF_TIMEOUT_MS, proof, proofZones } from './proof.fixture.js';
import type { Schedule } from './schedule.js';
import { CronExpressionError } from './schedule-error.js';
import { zoneSpans } from './zone-spans.js';

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

const zones = fc.constantFrom(...proofZones());
const dst = fc.constantFrom(...DST_POLICIES);
const dayMatch = fc.constantFrom(...DAY_MATCHES);

/** Instants of 1973 to 2060 (before, some zones had seconds in their offset), half of them within a day of a change of the zone's offset. */
const places = fc
  .tuple(zones, fc.integer({ min: 1973, max: 2060 }), fc.integer({ min: 0, max: 366 * 24 * 60 }), fc.boolean())
  .map(([timeZone, year, minute, near]) => {
    const somewhereMs = Date.UTC(year, 0, 1) + minute * MINUTE_MS;
    const transitionMs = near ? transitionAfterMs(timeZone, somewhereMs) : undefined;
    const fromMs = transitionMs === undefined ? somewhereMs : transitionMs - (minute % 1440) * MINUTE_MS;
    return { timeZone, fromMs: Math.floor(fromMs / MINUTE_MS) * MINUTE_MS };
  });

/** Only chooses where to look; what is right there is found without it. */
function transitionAfterMs(timeZone: string, instantMs: number): number | undefined {
  const spans = zoneSpans(timeZone);
  spans.cover(instantMs / 1000 + 366 * 86_400);
  const start = spans.starts[spans.indexAt(instantMs / 1000) + 1];
  return start === undefined ? undefined : start * 1000;
}

/** The schedule, or `undefined` for one that is refused because it has no day; then the plain search must find none either. */
function scheduleOf(
  expression: RandomExpression,
  options: { timeZone: string; dst: DstPolicy; dayMatch: DayMatch },
): Schedule | undefined {
  try {
    return cronSchedule(expression.text, options);
  } catch (error) {
    if (!(error instanceof CronExpressionError) || error.reason !== 'no year has such a day') throw error;
    expect(plainDays(expression, Date.UTC(2000, 0, 1), 28 * 366, options.dayMatch)).toEqual([]);
    return undefined;
  }
}

function backwards(schedule: Schedule, fromMs: number, toMs: number): number[] {
  const instants: number[] = [];
  for (let atMs = schedule.previous!(toMs); atMs !== null && atMs >= fromMs; atMs = schedule.previous!(atMs)) {
    instants.unshift(atMs);
  }
  return instants;
}

/** Compares as text first: thousands of long lists are equal, and the matcher is slow to say so. */
function expectSame(what: string, instants: readonly number[], wanted: readonly number[]): void {
  if (instants.join() === wanted.join()) return;
  const readable = (list: readonly number[]) => list.map((instantMs) => new Date(instantMs).toISOString());
  expect({ what, instants: readable(instants) }).toEqual({ what, instants: readable(wanted) });
}

function sameAsPlainScan(
  timeZone: string,
  fromMs: number,
  lengthMs: number,
  stepMs: number,
  cases: readonly (readonly [RandomExpression, DstPolicy, DayMatch])[],
): void {
  const untilMs = fromMs + lengthMs;
  const clock = plainClock(timeZone, fromMs, untilMs, stepMs);
  for (const [expression, dst, dayMatch] of cases) {
    const schedule = scheduleOf(expression, { timeZone, dst, dayMatch });
    if (schedule === undefined) continue;
    const where = `${expression.text} in ${timeZone}, ${dst}, ${dayMatch}`;
    const wanted = plainScan(clock, expression, dst, dayMatch);
    expectSame(`next of ${where}`, between(schedule, fromMs, untilMs).map(Number), wanted);
    expectSame(`previous of ${where}`, backwards(schedule, fromMs, untilMs), wanted);
  }
}

const minuteCases = fc.array(fc.tuple(randomExpression(), dst, dayMatch), { minLength: 12, maxLength: 12 });
const secondCases = fc.array(fc.tuple(randomExpression({ seconds: true }), dst, dayMatch), {
  minLength: 12,
  maxLength: 12,
});

const everyMinuteForTwoDays = fc.property(places, minuteCases, ({ timeZone, fromMs }, cases) =>
  sameAsPlainScan(timeZone, fromMs, 2 * DAY_MS, MINUTE_MS, cases),
);
const everySecondForAnHour = fc.property(
  places,
  secondCases,
  fc.integer({ min: -3600, max: 3600 }),
  (place, cases, seconds) => {
    const nearMs = transitionAfterMs(place.timeZone, place.fromMs) ?? place.fromMs;
    sameAsPlainScan(place.timeZone, nearMs + seconds * 1000, 60 * MINUTE_MS, 1000, cases);
  },
);
const dayByDayForYears = fc.property(
  randomExpression(),
  dayMatch,
  fc.integer({ min: 0, max: 225 * 365 }),
  (expression, dayMatch, day) => {
    const atMidnight = { ...expression, text: `0 0 ${expression.text.split(' ').slice(2).join(' ')}` };
    const schedule = scheduleOf(atMidnight, { timeZone: 'UTC', dst: 'vixie', dayMatch });
    if (schedule === undefined) return;
    const fromMs = day * DAY_MS;
    const wanted = plainDays(atMidnight, fromMs, 5 * 366, dayMatch);
    const untilMs = fromMs + 5 * 366 * DAY_MS;
    expectSame(`next of ${atMidnight.text}`, between(schedule, fromMs, untilMs).map(Number), wanted);
    expectSame(`previous of ${atMidnight.text}`, backwards(schedule, fromMs, untilMs), wanted);
  },
);
// Far away, a zone's spans take tens of milliseconds to find, so only a few zones are asked there.
const anywhere = fc.oneof(
  { weight: 3, arbitrary: places.map(({ timeZone, fromMs }) => ({ timeZone, atMs: fromMs })) },
  fc.record({
    timeZone: fc.constantFrom('America/New_York', 'Australia/Lord_Howe', 'Africa/Casablanca', 'Pacific/Apia', 'UTC'),
    atMs: fc.integer({ min: 0, max: Date.UTC(2200, 0, 1) }),
  }),
);
const laws = fc.property(
  randomExpression({ seconds: true }),
  anywhere,
  fc.integer({ min: 0, max: MINUTE_MS }),
  dst,
  dayMatch,
  (expression, place, moreMs, dst, dayMatch) => {
    const atMs = place.atMs + moreMs;
    const schedule = scheduleOf(expression, { timeZone: place.timeZone, dst, dayMatch });
    if (schedule === undefined) return;
    const nextMs = schedule.next(atMs);
    const previousMs = schedule.previous!(atMs);
    if (nextMs !== null) {
      expect(nextMs).toBeGreaterThan(atMs);
      expect(nextMs % 1000).toBe(0);
      // Nothing lies between, from wherever it is asked.
      expect(schedule.next(nextMs - 1)).toBe(nextMs);
      expect(schedule.next(Math.floor((atMs + nextMs) / 2))).toBe(nextMs);
      expect(schedule.previous!(nextMs) ?? -Infinity).toBeLessThanOrEqual(atMs);
      expect(schedule.previous!(nextMs + 1)).toBe(nextMs);
    }
    if (previousMs !== null) {
      expect(previousMs).toBeLessThan(atMs);
      expect(schedule.previous!(previousMs + 1)).toBe(previousMs);
      expect(schedule.next(previousMs - 1)).toBe(previousMs);
      expect(schedule.next(previousMs) ?? Infinity).toBeGreaterThanOrEqual(atMs);
    }
  },
);

describe('the instants of a random expression in a random zone', () => {
  test(
    'are those of a plain scan of every minute for two days, forwards and backwards',
    () => {
      fc.assert(everyMinuteForTwoDays, proof(15));
    },
    PROOF_TIMEOUT_MS,
  );

  test(
    'are those of a plain scan of every second around a change of offset',
    () => {
      fc.assert(everySecondForAnHour, proof(10));
    },
    PROOF_TIMEOUT_MS,
  );

  test(
    'fall on the days of a plain scan of every day for five years',
    () => {
      fc.assert(dayByDayForYears, proof(60));
    },
    PROOF_TIMEOUT_MS,
  );

  test(
    'are later than the question, and the same from wherever and in whichever direction the walk began',
    () => {
      fc.assert(laws, proof(500));
    },
    PROOF_TIMEOUT_MS,
  );
});

test('what failed once still holds', () => {
  const properties = { everyMinuteForTwoDays, everySecondForAnHour, dayByDayForYears, laws };
  for (const { property, seed, path } of KEPT_SEEDS) {
    fc.assert(properties[property] as fc.IProperty<unknown>, { seed, path, numRuns: 1 });
  }
});
