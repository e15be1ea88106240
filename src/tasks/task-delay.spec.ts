import { describe, expect, test } from '@jest/globals';
import { taskDelayMs } from './task-delay.js';

describe('what a task returns', () => {
  test.each([
    [1_500, 1_500],
    ['1m30s', 90_000],
    [0, 1],
    [0.25, 1],
    ['0s', 1],
    ['3650d', 315_360_000_000],
  ])('%j asks for a wait of %d ms', (returned, waitMs) => {
    expect(taskDelayMs('sync', returned)).toBe(waitMs);
  });

  test.each([
    [-1, '-1'],
    [Number.NaN, 'NaN'],
    [Number.POSITIVE_INFINITY, 'Infinity'],
    [undefined, 'nothing'],
    [null, 'null'],
    ['soon', '"soon"'],
    ['', '""'],
    [{}, 'a value of type object'],
    [true, 'a value of type boolean'],
    [1e12, '1000000000000'],
  ])('%p is no delay: the error names the key and what was returned', (returned, shown) => {
    expect(() => taskDelayMs('sync', returned)).toThrow(
      expect.objectContaining({
        code: 'TASK_DELAY_INVALID',
        message: expect.stringContaining(`"sync" returned ${shown};`),
      }),
    );
  });
});
