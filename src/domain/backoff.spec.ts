import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { backoffMs } from './backoff.js';

describe('backoff', () => {
  test('jitter shortens a wait by at most its part, and a wait stays between minimum and maximum without it', () => {
    const settings = fc.record({
      minMs: fc.integer({ min: 1, max: 10_000 }),
      maxMs: fc.integer({ min: 10_000, max: 1e9 }),
      factor: fc.double({ min: 1, max: 10, noNaN: true }),
      jitter: fc.double({ min: 0, max: 1, noNaN: true }),
    });
    const check = fc.property(
      settings,
      fc.integer({ min: 1, max: 2_000 }),
      fc.double({ min: 0, max: 0.999, noNaN: true }),
      (backoff, failures, fraction) => {
        const full = backoffMs({ ...backoff, jitter: 0 }, failures, fraction);
        const waited = backoffMs(backoff, failures, fraction);
        expect(full).toBeGreaterThanOrEqual(backoff.minMs);
        expect(full).toBeLessThanOrEqual(backoff.maxMs);
        expect(waited).toBeLessThanOrEqual(full);
        expect(waited).toBeGreaterThanOrEqual(full * (1 - backoff.jitter));
      },
    );
    fc.assert(check);
  });
});
