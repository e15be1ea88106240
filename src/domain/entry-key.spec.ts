import { describe, expect, it } from '@jest/globals';
import { entryKeyFault, MAX_ENTRY_KEY_LENGTH } from './entry-key.js';

describe('entry key', () => {
  it.each([
    'x',
    'Reports.daily',
    '__proto__',
    'constructor',
    'a@b{c}*./#',
    'a b',
    'déjà-vu',
    '🦊',
    'x'.repeat(MAX_ENTRY_KEY_LENGTH),
  ])('may be %p', (key) => {
    expect(entryKeyFault(key)).toBeUndefined();
  });

  it.each([
    ['', 'at least one character'],
    ['x'.repeat(MAX_ENTRY_KEY_LENGTH + 1), 'at most 512 characters'],
    ['a\nb', 'no control characters'],
    ['a\u0000', 'no control characters'],
    ['\ud83e', 'well-formed Unicode (no lone surrogates)'],
    [' a', 'no white space at its ends'],
    ['a\u00a0', 'no white space at its ends'],
    [undefined, 'a string'],
    [7, 'a string'],
  ])('cannot be %p', (key, expected) => {
    expect(entryKeyFault(key)).toBe(expected);
  });
});
