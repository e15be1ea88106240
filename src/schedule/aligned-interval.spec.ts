import { expect, test } from '@jest/globals';
import { alignedInterval } from './aligned-interval.js';
import { ScheduleError } from './schedule-error.js';
import { upcoming } from './upcoming.js';

test('the instants are multiples of the interval since the epoch, whenever a replica started', () => {
  const schedule = alignedInterval('90s');
  expect(schedule.next(0)).toBe(90_000);
  expect(schedule.next(89_999)).toBe(90_000);
  expect(schedule.next(90_000)).toBe(180_000);
  expect(schedule.next(90_000.5)).toBe(180_000);
  expect(schedule.previous!(90_000)).toBe(0);
  expect(schedule.previous!(90_001)).toBe(90_000);
  expect(schedule.minIntervalMs).toBe(90_000);
});

test('an offset moves them all', () => {
  const schedule = alignedInterval('1h', { offset: '10m' });
  expect(upcoming(schedule, Date.UTC(2026, 0, 1), 2).map((date) => date.toISOString())).toEqual([
    '2026-01-01T00:10:00.000Z',
    '2026-01-01T01:10:00.000Z',
  ]);
  expect(schedule.label).toBe('every 1h at +10m');
  expect(schedule.fingerprint).not.toBe(alignedInterval('1h').fingerprint);
});

test('they lie between 1970 and 2200', () => {
  const schedule = alignedInterval('1d');
  expect(schedule.next(-5e15)).toBe(0);
  expect(schedule.previous!(0)).toBeNull();
  expect(schedule.next(Date.UTC(2200, 11, 31))).toBeNull();
  expect(schedule.previous!(Infinity)).toBe(Date.UTC(2200, 11, 31));
});

test.each([0, -1, 0.5, Number.NaN, Infinity, '90', 'soon', '0s', undefined])(
  'the interval %p is refused',
  (interval) => {
    expect(() => alignedInterval(interval as number)).toThrow(ScheduleError);
  },
);

test.each(['1h', '2h', -1, 'x'])('the offset %p is refused for an interval of an hour', (offset) => {
  expect(() => alignedInterval('1h', { offset })).toThrow(ScheduleError);
});

test('NaN is refused', () => {
  expect(() => alignedInterval('1h').next(Number.NaN)).toThrow(ScheduleError);
});
