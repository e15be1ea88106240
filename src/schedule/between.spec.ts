import { expect, test } from '@jest/globals';
import { between } from './between.js';
import { cronSchedule } from './cron-schedule.js';
import { ScheduleError } from './schedule-error.js';

const hourly = cronSchedule('0 * * * *');
const at = (hour: number) => new Date(Date.UTC(2026, 0, 1, hour));

test('the start is among them and the end is not, so that two ranges that meet share none', () => {
  expect(between(hourly, at(0), at(2))).toEqual([at(0), at(1)]);
  expect(between(hourly, at(2), at(4))).toEqual([at(2), at(3)]);
});

test('a start between two instants, or two milliseconds, begins with the later one', () => {
  expect(between(hourly, Number(at(0)) + 1, Number(at(1)) + 1)).toEqual([at(1)]);
  expect(between(hourly, Number(at(0)) + 0.5, at(2))).toEqual([at(1)]);
});

test('a range that ends before it starts has none', () => {
  expect(between(hourly, at(2), at(0))).toEqual([]);
});

test('more than a hundred thousand are refused, not collected', () => {
  expect(() => between(cronSchedule('* * * * * *'), 0, Date.UTC(2026, 0, 1))).toThrow(ScheduleError);
});

test('a start or an end that is no instant is refused', () => {
  expect(() => between(hourly, Number.NaN, at(1))).toThrow(ScheduleError);
  expect(() => between(hourly, at(1), new Date(Number.NaN))).toThrow(ScheduleError);
});
