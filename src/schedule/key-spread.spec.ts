import { expect, test } from '@jest/globals';
import { spreadKey } from './key-spread.js';

test('a key has the same place for ever', () => {
  expect(['daily-report', 'Daily-report', 'report é', ''].map((key) => spreadKey(key, 'minute', 1_000_000))).toEqual([
    399336, 781998, 151915, 722557,
  ]);
});

test('a key has another place for another purpose', () => {
  expect(spreadKey('daily-report', 'minute', 1_000_000)).not.toBe(spreadKey('daily-report', 'hour', 1_000_000));
});

test('keys that differ in their last character are spread over the whole range', () => {
  const places = Array.from({ length: 1000 }, (_, index) =>
    spreadKey(`key-${String(index).padStart(3, '0')}`, 'minute', 10),
  );
  const counts = Array.from({ length: 10 }, (_, place) => places.filter((value) => value === place).length);
  expect(Math.min(...counts)).toBeGreaterThan(70);
  expect(Math.max(...counts)).toBeLessThan(130);
});
