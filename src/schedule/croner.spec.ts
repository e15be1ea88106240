import { describe, expect, test } from '@jest/globals';
import { Cron } from 'croner';
import fc from 'fast-check';
import { cronSchedule } from './cron-schedule.js';
import { type RandomExpression, randomExpression } from './expression.fixture.js';
import { PROOF_TIMEOUT_MS, proof, proofZones } from './proof.fixture.js';
import { CronExpressionError } from './schedule-error.js';
import { upcoming } from './upcoming.js';
import { zoneSpans } from './zone-spans.js';

/**
 * croner as a second opinion. It is set to its rule nearest to ours: a time of day is fixed when neither seconds, minutes nor hours hold a
 * wildcard or a step. The two agree wherever both define the answer; where they do not is listed below, each difference with its reason.
 */
function fromCroner(expression: string, timeZone: string, fromMs: number, count: number): string[] {
  const cron = new Cron(expression, { timezone: timeZone, fixedTimeRule: 'no-wildcard', paused: true });
  return cron.nextRuns(count, new Date(fromMs)).map((date) => date.toISOString());
}

function fromUs(expression: string, timeZone: string, fromMs: number, count: number): string[] {
  try {
    return upcoming(cronSchedule(expression, { timeZone }), fromMs, count).map((date) => date.toISOString());
  } catch (error) {
    // We refuse what has no day; croner answers that there is none.
    if (error instanceof CronExpressionError && error.reason === 'no year has such a day') return [];
    throw error;
  }
}

/** Both call it fixed, or both call it elapsed. */
function sameKind({ text, star }: RandomExpression): boolean {
  const wildcardOrStep = /[*/]/.test(text.split(' ').slice(0, 3).join(''));
  return star === wildcardOrStep;
}

/** There is a gap in the range of three hours or more, or one that ends on a later date than it began. */
function hasOddGap(timeZone: string, fromMs: number, toMs: number): boolean {
  const spans = zoneSpans(timeZone);
  spans.cover(toMs / 1000);
  const last = spans.indexAt(toMs / 1000);
  for (let index = spans.indexAt(fromMs / 1000) + 1; index <= last; index++) {
    const gapStartS = spans.reached[index]!;
    const gapEndS = spans.wallClockStart(index);
    if (gapEndS - gapStartS >= 3 * 3600 || Math.floor(gapEndS / 86_400) > Math.floor(gapStartS / 86_400)) return true;
  }
  return false;
}

const zones = fc.constantFrom(...proofZones());
const somewhen = fc.integer({ min: Date.UTC(2000, 0, 1), max: Date.UTC(2040, 0, 1) });

/** Expressions whose times lie around the hours at which clocks change. */
const nightly = fc
  .record({
    expression: randomExpression({ seconds: true, special: false, croner: true }),
    minutes: fc.uniqueArray(fc.nat(59), { minLength: 1, maxLength: 3 }),
    hours: fc.uniqueArray(fc.constantFrom(0, 1, 2, 3, 4, 22, 23), { minLength: 1, maxLength: 3 }),
  })
  .map(({ expression, minutes, hours }) => {
    const [, , , date, month, weekday] = expression.text.split(' ');
    return { ...expression, text: `0 ${minutes} ${hours} ${date} ${month} ${weekday}`, star: false };
  });

const agreement = fc.property(
  fc.oneof(randomExpression({ seconds: true, croner: true }), nightly),
  zones,
  somewhen,
  fc.integer({ min: 0, max: 6 * 3_600_000 }),
  (expression, timeZone, instantMs, beforeMs) => {
    const spans = zoneSpans(timeZone);
    spans.cover(instantMs / 1000 + 366 * 86_400);
    const transitionS = spans.starts[spans.indexAt(instantMs / 1000) + 1];
    const fromMs = transitionS === undefined ? instantMs : transitionS * 1000 - beforeMs;
    const ours = fromUs(expression.text, timeZone, fromMs, 3);
    const untilMs = ours.length < 3 ? fromMs + 366 * 86_400_000 : Date.parse(ours[2]!);
    fc.pre(sameKind(expression) && (expression.star || !hasOddGap(timeZone, fromMs, untilMs)));
    expect([expression.text, timeZone, ours]).toEqual([
      expression.text,
      timeZone,
      fromCroner(expression.text, timeZone, fromMs, 3),
    ]);
  },
);

test(
  'the instants of a random expression near a change of offset are those of croner, where both define them',
  () => {
    fc.assert(agreement, proof(250));
  },
  PROOF_TIMEOUT_MS,
);

describe('we differ from croner on purpose', () => {
  test('a gap of exactly three hours makes nothing up: a zone that moves by so much changed its time, not its season', () => {
    const from = Date.parse('2009-10-17T12:00:00Z');
    expect(fromUs('0 30 3 * * *', 'Antarctica/Casey', from, 1)).toEqual(['2009-10-18T16:30:00.000Z']);
    expect(fromCroner('0 30 3 * * *', 'Antarctica/Casey', from, 1)).toEqual(['2009-10-17T18:00:00.000Z']);
  });

  test('a gap up to midnight is made up for at its end, though that is the next date: a daily job must not lose a day', () => {
    const from = Date.parse('2009-06-19T12:00:00Z');
    expect(fromUs('0 30 23 * * *', 'Asia/Dhaka', from, 1)).toEqual(['2009-06-19T17:00:00.000Z']);
    expect(fromCroner('0 30 23 * * *', 'Asia/Dhaka', from, 1)).toEqual(['2009-06-20T16:30:00.000Z']);
  });

  test('a step or a wildcard makes an expression follow elapsed time only where the minute or the hour field starts with a star', () => {
    const from = Date.parse('2026-11-01T05:45:00Z');
    expect(fromUs('0 0-59/30 1 * * *', 'America/New_York', from, 1)).toEqual(['2026-11-02T06:00:00.000Z']);
    expect(fromCroner('0 0-59/30 1 * * *', 'America/New_York', from, 1)).toEqual(['2026-11-01T06:00:00.000Z']);
    expect(fromUs('* 30 1 * * *', 'America/New_York', from, 1)).toEqual(['2026-11-02T06:30:00.000Z']);
    expect(fromCroner('* 30 1 * * *', 'America/New_York', from, 1)).toEqual(['2026-11-01T06:30:00.000Z']);
  });

  test.each([
    ['5/15 * * * *', 'a step from a value to the end of the field'],
    ['0 0 L-3 * *', 'a day before the last'],
    ['@every 90s', 'an interval'],
    ['H * * * *', 'a minute by the entry key'],
    ['TZ=Europe/Berlin 0 9 * * *', 'a zone in the expression'],
  ])('we read %s, %s', (expression) => {
    expect(() => new Cron(expression, { paused: true })).toThrow();
    expect(() => cronSchedule(expression, { entryKey: 'report' })).not.toThrow();
  });

  test.each([
    ['FRI-MON', '0 0 * * FRI-MON'],
    ['a year', '0 0 0 1 1 * 2030'],
    ['an impossible date', '0 0 30 2 *'],
  ])('we refuse %s', (_, expression) => {
    expect(() => cronSchedule(expression)).toThrow(CronExpressionError);
  });
});
