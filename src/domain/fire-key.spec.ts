import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fireKey, formatInstant, manualFireKey } from './fire-key.js';

describe('fire key', () => {
  it.each([
    ['2026-01-02T15:04:05.000Z', 'report@2026-01-02T15:04:05Z'],
    ['2026-01-02T15:04:05.500Z', 'report@2026-01-02T15:04:05.5Z'],
    ['2026-01-02T15:04:05.050Z', 'report@2026-01-02T15:04:05.05Z'],
    ['2026-01-02T15:04:05.123Z', 'report@2026-01-02T15:04:05.123Z'],
    ['2026-01-02T15:04:10.000Z', 'report@2026-01-02T15:04:10Z'],
    ['1969-12-31T23:59:59.999Z', 'report@1969-12-31T23:59:59.999Z'],
  ])('of %s has no trailing zeros in its fraction', (instant, key) => {
    expect(fireKey('report', Date.parse(instant))).toBe(key);
  });

  it('stands for one instant: it can be read back, and two instants never share one', () => {
    fc.assert(
      fc.property(fc.date({ noInvalidDate: true }), (date) => {
        expect(Date.parse(formatInstant(date.getTime()))).toBe(date.getTime());
      }),
    );
  });

  it('of a manual fire is never that of a scheduled one', () => {
    expect(manualFireKey('report', 0, 'abc')).toBe('report@1970-01-01T00:00:00Z#manual-abc');
  });
});
