import { expect, test } from '@jest/globals';
import { cronSchedule } from './cron-schedule.js';
import { onceAt } from './once-at.js';
import { ScheduleError } from './schedule-error.js';
import { upcoming } from './upcoming.js';

const hourly = cronSchedule('0 * * * *');

test('the first is strictly after the start, which may be a Date or milliseconds', () => {
  const from = Date.UTC(2026, 0, 1);
  const wanted = [Date.UTC(2026, 0, 1, 1), Date.UTC(2026, 0, 1, 2)].map((instantMs) => new Date(instantMs));
  expect(upcoming(hourly, from, 2)).toEqual(wanted);
  expect(upcoming(hourly, new Date(from), 2)).toEqual(wanted);
});

test('there are fewer where the schedule ends, and none where none are asked for', () => {
  expect(upcoming(onceAt(1000), 0, 5)).toEqual([new Date(1000)]);
  expect(upcoming(hourly, 0, 0)).toEqual([]);
});

test.each([-1, 1.5, Number.NaN, Infinity])('%p instants are refused', (count) => {
  expect(() => upcoming(hourly, 0, count)).toThrow(ScheduleError);
});

test('a start that is no instant is refused', () => {
  expect(() => upcoming(hourly, new Date(Number.NaN), 1)).toThrow(ScheduleError);
});
