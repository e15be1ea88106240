import { describe, expect, it } from '@jest/globals';
import { durationMs, formatDuration } from './duration.js';

describe('duration', () => {
  it.each([
    [0, 0],
    [250, 250],
    ['250ms', 250],
    ['90s', 90_000],
    ['1h30m', 5_400_000],
    ['1.5d', 129_600_000],
    // In binary 1.005 * 1000 is 1004.9999999999999.
    ['2.3s', 2_300],
    ['1.005s', 1_005],
    ['1.1m', 66_000],
    ['0.001s', 1],
  ])('reads %p as %p milliseconds', (value, ms) => {
    expect(durationMs(value)).toBe(ms);
  });

  it.each([
    -1,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    '',
    '5',
    ' 5s',
    '5 s',
    '-5s',
    '5S',
    '0.5ms',
    '0.0001s',
    null,
    undefined,
    {},
    5n,
  ])('reads %p as none', (value) => {
    expect(durationMs(value)).toBeUndefined();
  });

  it('reads what is longer than a number can hold as none', () => {
    expect(durationMs(`${'9'.repeat(400)}d`)).toBeUndefined();
  });

  it.each([
    [0, '0ms'],
    [250, '250ms'],
    [90_000, '1m30s'],
    [86_400_000, '1d'],
    [90_061_001, '1d1h1m1s1ms'],
  ])('writes %p as %p', (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
    expect(durationMs(text)).toBe(ms);
  });
});
