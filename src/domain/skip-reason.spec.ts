import { describe, expect, it } from '@jest/globals';
import { SkipReason, skipReasonLabel } from './skip-reason.js';

describe('skip reason', () => {
  it('is one of four words, the same in code, logs and metrics', () => {
    expect(Object.values(SkipReason)).toEqual(['not-leader', 'election-error', 'already-claimed', 'claim-error']);
    for (const reason of Object.values(SkipReason)) expect(skipReasonLabel(reason)).toBe(reason);
  });

  it.each(['NotLeader', 'toString', '', 0, undefined, null, {}])('%p is labelled unknown', (value) => {
    expect(skipReasonLabel(value)).toBe('unknown');
  });
});
