import { describe, expect, it } from '@jest/globals';
import { closingLine, isFine, type RolloutReport } from './report.js';

const verdict = { fires: 600, runs: 600, duplicates: [], overlapped: [], lost: [], silent: [] };
const report: RolloutReport = {
  store: 'redis',
  replaced: 6,
  verdict,
  drainsMs: [40, 2_900],
  skips: new Map(),
  failures: [],
  deaths: [],
  beginMs: 0,
};
const lost = [{ fireKey: 'a@1', why: 'nobody was up' }];

describe('the report of a rollout', () => {
  it('ends with one line', () => {
    expect(closingLine({ ...report, verdict: { ...verdict, lost } })).toBe(
      'rolling: store=redis replaced=6 fires=600 runs=600 duplicates=0 lost=1',
    );
  });

  it.each<[string, Partial<RolloutReport>]>([
    ['a fire that ran twice', { verdict: { ...verdict, duplicates: [{ fireKey: 'a@1', runs: [] }] } }],
    ['a fire that was lost', { verdict: { ...verdict, lost } }],
    [
      'many fires that could not overlap',
      { verdict: { ...verdict, overlapped: Array.from({ length: 13 }, (_, i) => `a@${i}`) } },
    ],
    ['a replica that was silent', { verdict: { ...verdict, silent: ['1: a@1'] } }],
    ['a replica that was not replaced', { replaced: 5 }],
    ['a method that failed', { failures: ['a@1: aborted'] }],
    ['a process that did not drain', { deaths: ['replica 1: exit SIGKILL'] }],
  ])('is not satisfied with %s', (_, difference) => {
    expect(isFine(report, 6)).toBe(true);
    expect(isFine({ ...report, ...difference }, 6)).toBe(false);
  });

  it('is not satisfied with a rollout in which nothing was due', () => {
    expect(isFine({ ...report, verdict: { ...verdict, fires: 0 } }, 6)).toBe(false);
  });
});
