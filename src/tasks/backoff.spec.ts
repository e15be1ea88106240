import { expect, test } from '@jest/globals';
import { backoffMs } from '../domain/backoff.js';
import { DEFAULT_BACKOFF } from './backoff.js';

test('a task that fails waits by default 100 ms, twice as long after each further failure, and never more than 10 s', () => {
  const waits = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((failures) => backoffMs(DEFAULT_BACKOFF, failures, 0.7));
  expect(waits).toEqual([100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000]);
});
