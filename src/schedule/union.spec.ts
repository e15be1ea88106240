import { expect, test } from '@jest/globals';
import { cronSchedule } from './cron-schedule.js';
import { functionSchedule } from './function-schedule.js';
import { onceAt } from './once-at.js';
import { ScheduleError } from './schedule-error.js';
import { union } from './union.js';
import { upcoming } from './upcoming.js';

const nine = cronSchedule('0 9 * * MON-FRI');
const ten = cronSchedule('0 10 * * SAT,SUN');

test('the instants are those of all schedules, each once', () => {
  const schedule = union(nine, ten, cronSchedule('0 9 * * FRI'));
  expect(upcoming(schedule, Date.UTC(2026, 0, 2), 4).map((date) => date.toISOString())).toEqual([
    '2026-01-02T09:00:00.000Z',
    '2026-01-03T10:00:00.000Z',
    '2026-01-04T10:00:00.000Z',
    '2026-01-05T09:00:00.000Z',
  ]);
  expect(schedule.previous!(Date.UTC(2026, 0, 5, 9))).toBe(Date.UTC(2026, 0, 4, 10));
});

test('it ends when all have ended', () => {
  const schedule = union(onceAt(1000), onceAt(3000));
  expect(schedule.next(0)).toBe(1000);
  expect(schedule.next(1000)).toBe(3000);
  expect(schedule.next(3000)).toBeNull();
  expect(schedule.previous!(1000)).toBeNull();
});

test('order and repetition do not change the fingerprint', () => {
  expect(union(nine, ten).fingerprint).toBe(union(ten, nine, ten).fingerprint);
  expect(union(nine, ten).fingerprint).not.toBe(union(nine).fingerprint);
});

test('with one schedule that only goes forward, it only goes forward', () => {
  expect(
    union(
      nine,
      functionSchedule((afterMs) => afterMs + 1),
    ).previous,
  ).toBeUndefined();
});

test('of nothing is refused', () => {
  expect(() => union()).toThrow(ScheduleError);
});
