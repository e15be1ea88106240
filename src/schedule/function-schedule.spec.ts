import { expect, test } from '@jest/globals';
import { functionSchedule } from './function-schedule.js';
import { ScheduleError } from './schedule-error.js';

test('the instants are what the function answers, until null', () => {
  const schedule = functionSchedule((afterMs) => (afterMs < 3000 ? Math.floor(afterMs / 1000) * 1000 + 1000 : null));
  expect(schedule.next(0)).toBe(1000);
  expect(schedule.next(2999)).toBe(3000);
  expect(schedule.next(3000)).toBeNull();
});

test.each([
  ['the same instant', 5000],
  ['an earlier instant', 4999],
  ['a fraction', 5000.5],
  ['NaN', Number.NaN],
  ['Infinity', Infinity],
  ['nothing', undefined],
  ['a Date', new Date(6000)],
  ['a text', '6000'],
  ['a promise', Promise.resolve(6000)],
])('an answer that is %s is an error', (_, answer) => {
  const schedule = functionSchedule((() => answer) as () => number, { name: 'wrong' });
  expect(() => schedule.next(5000)).toThrow(ScheduleError);
  expect(() => schedule.next(5000)).toThrow('The schedule "wrong"');
});

test('its name is its label and its fingerprint', () => {
  const moonrise = (afterMs: number) => afterMs + 1;
  expect(functionSchedule(moonrise).label).toBe('moonrise');
  expect(functionSchedule(moonrise).fingerprint).not.toBe(
    functionSchedule(moonrise, { name: 'moonrise-2' }).fingerprint,
  );
});

test('the shortest interval is what was promised, and one millisecond otherwise', () => {
  expect(functionSchedule((afterMs) => afterMs + 1).minIntervalMs).toBe(1);
  expect(functionSchedule((afterMs) => afterMs + 1, { minInterval: '1m' }).minIntervalMs).toBe(60_000);
  expect(() => functionSchedule((afterMs) => afterMs + 1, { minInterval: 0 })).toThrow(ScheduleError);
});
