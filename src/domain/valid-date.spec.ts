import { runInNewContext } from 'node:vm';
import { describe, expect, it } from '@jest/globals';
import { isValidDate } from './valid-date.js';

describe('a valid date', () => {
  it.each([
    ['a date', new Date(0)],
    ['a date of another realm', runInNewContext('new Date(7)')],
  ])('is %s', (_, value) => {
    expect(isValidDate(value)).toBe(true);
  });

  it.each([
    ['a date of no instant', new Date('never')],
    ['a number', 7],
    ['a text', '2026-01-01T00:00:00Z'],
    ['nothing', undefined],
    ['null', null],
    ['what only calls itself one', { [Symbol.toStringTag]: 'Date', getTime: () => 7 }],
    ['what only inherits from one', Object.create(new Date(7))],
  ])('is not %s', (_, value) => {
    expect(isValidDate(value)).toBe(false);
  });
});
