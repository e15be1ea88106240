import { expect, test } from '@jest/globals';
import { onceAt } from './once-at.js';
import { ScheduleError } from './schedule-error.js';

const INSTANT_MS = Date.UTC(2190, 5, 1, 12);

test.each([
  ['a Date', new Date(INSTANT_MS)],
  ['milliseconds', INSTANT_MS],
  ['a text in UTC', '2190-06-01T12:00:00Z'],
  ['a text with an offset', '2190-06-01T14:00:00.000+02:00'],
])('%s is one instant, at any distance', (_, instant) => {
  const schedule = onceAt(instant);
  expect(schedule.next(0)).toBe(INSTANT_MS);
  expect(schedule.next(INSTANT_MS - 1)).toBe(INSTANT_MS);
  expect(schedule.next(INSTANT_MS)).toBeNull();
  expect(schedule.previous!(INSTANT_MS)).toBeNull();
  expect(schedule.previous!(INSTANT_MS + 1)).toBe(INSTANT_MS);
  expect(schedule.label).toBe('once at 2190-06-01T12:00:00Z');
});

test.each([
  ['a text that means another instant on another host', '2190-06-01T12:00:00'],
  ['a date alone', '2190-06-01'],
  ['no date', '2190-13-01T12:00:00Z'],
  ['a fraction of a millisecond', 0.5],
  ['NaN', Number.NaN],
  ['an instant beyond any date', 1e17],
  ['an invalid Date', new Date(Number.NaN)],
])('%s is refused', (_, instant) => {
  expect(() => onceAt(instant)).toThrow(ScheduleError);
});

test('a Date that is changed afterwards changes nothing', () => {
  const date = new Date(INSTANT_MS);
  const schedule = onceAt(date);
  date.setTime(0);
  expect(schedule.next(0)).toBe(INSTANT_MS);
});
