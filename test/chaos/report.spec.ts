import { describe, expect, it } from '@jest/globals';
import { closingLine, longestGapMs, neverInjected } from './report.js';

const injected = (kind: 'kill' | 'skew' | 'cut') => ({ fault: { kind, atMs: 0, lastsMs: 1 }, fromMs: 0, toMs: 1 });
const verdict = {
  fires: 9_000,
  runs: 8_990,
  duplicates: [],
  unexplained: [],
  explained: new Map(),
  grantedTwice: [],
};

describe('the report of a chaos run', () => {
  it('ends with one line, kinds in their order', () => {
    const faults = [injected('skew'), injected('kill'), injected('kill')];
    expect(closingLine({ store: 'redis', verdict, runs: [], skips: new Map(), faults, beginMs: 0 })).toBe(
      'chaos: store=redis fires=9000 runs=8990 duplicates=0 unexplained=0 faults=kill:2,skew:1',
    );
  });

  it('names the kinds that never came', () => {
    expect(neverInjected(['kill', 'cut', 'skew'], [injected('cut')])).toEqual(['kill', 'skew']);
  });

  it('measures the longest time without a run, from the fault on, its end included', () => {
    expect(longestGapMs([0, 90, 100, 250, 300], 100, 400)).toBe(150);
    expect(longestGapMs([0, 90, 100, 250, 900], 100, 400)).toBe(150);
    expect(longestGapMs([0, 90], 100, 400)).toBe(300);
    expect(longestGapMs([110, 120], 100, 400)).toBe(280);
  });
});
