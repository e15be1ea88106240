import { describe, expect, it } from '@jest/globals';
import { entryKeyFault, MAX_ENTRY_KEY_LENGTH } from './entry-key.js';

describe('entry key', () => {
  it.each(['x', 'Reports.daily', '__proto__', 'constructor', 'a@b{c}*./#', 'a b', 'déjà-vu', '🦊'])(
    'may be %p',
    (key) => {
      expect(entryKeyFault(key)).toBeUndefined();
    },
  );

  it.each([
    ['', 'at least one character'],
    ['a\nb', 'no control characters'],
    ['a\u0000', 'no control characters'],
    [' a', 'no white space at its ends'],
    ['a\u00a0', 'no white space at its ends'],
    [undefined, 'a string'],
    [7, 'a string'],
  ])('cannot be %p', (key, expected) => {
    expect(entryKeyFault(key)).toBe(expected);
  });

  it('is at most 512 UTF-16 units long, and well formed: no store cuts or mends it', () => {
    expect(entryKeyFault('x'.repeat(MAX_ENTRY_KEY_LENGTH))).toBeUndefined();
    expect(entryKeyFault('x'.repeat(MAX_ENTRY_KEY_LENGTH + 1))).toBe('at most 512 characters');
    expect(entryKeyFault('\ud83e')).toBe('well-formed Unicode (no lone surrogates)');
  });
});
