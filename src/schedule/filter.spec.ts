import { expect, test } from '@jest/globals';
import { cronSchedule } from './cron-schedule.js';
import { filter, MOST_REFUSED_IN_A_ROW } from './filter.js';
import { functionSchedule } from './function-schedule.js';
import { ScheduleError } from './schedule-error.js';
import { upcoming } from './upcoming.js';

const daily = cronSchedule('0 9 * * *', { timeZone: 'Europe/Berlin' });
const holidays = new Set(['2026-12-25', '2026-12-26']);
const workable = filter(daily, (instantMs) => !holidays.has(new Date(instantMs).toISOString().slice(0, 10)), {
  name: 'no Christmas',
});

test('the instants are those the rule keeps, in both directions', () => {
  const instants = upcoming(workable, Date.UTC(2026, 11, 24), 3).map((date) => date.toISOString());
  expect(instants).toEqual(['2026-12-24T08:00:00.000Z', '2026-12-27T08:00:00.000Z', '2026-12-28T08:00:00.000Z']);
  expect(workable.previous!(Date.UTC(2026, 11, 27))).toBe(Date.UTC(2026, 11, 24, 8));
});

test('zone, shortest interval and end are those of the schedule', () => {
  expect(workable.timeZone).toBe('Europe/Berlin');
  expect(workable.minIntervalMs).toBe(1000);
  expect(workable.label).toBe('0 9 * * * (no Christmas)');
  expect(workable.next(Date.UTC(2200, 11, 31, 12))).toBeNull();
});

test('another name is another fingerprint', () => {
  const keep = () => true;
  expect(filter(daily, keep, { name: 'a' }).fingerprint).not.toBe(filter(daily, keep, { name: 'b' }).fingerprint);
  expect(filter(daily, keep).fingerprint).toContain('keep');
});

test('a rule that keeps nothing is an error after a bounded search, not a hang', () => {
  let asked = 0;
  const never = filter(cronSchedule('* * * * * *'), () => {
    asked++;
    return false;
  });
  expect(() => never.next(0)).toThrow(ScheduleError);
  expect(asked).toBe(MOST_REFUSED_IN_A_ROW);
});

test('an answer that is neither true nor false is an error: a promise would keep everything', () => {
  const pending = filter(daily, (async () => false) as unknown as () => boolean);
  expect(() => pending.next(0)).toThrow('must answer true or false');
});

test('of a schedule that only goes forward, it only goes forward', () => {
  expect(
    filter(
      functionSchedule((afterMs) => afterMs + 1),
      () => true,
    ).previous,
  ).toBeUndefined();
});
