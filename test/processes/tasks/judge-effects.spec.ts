import { describe, expect, it } from '@jest/globals';
import type { KeptEffect } from './effect.js';
import { judgeEffects } from './judge-effects.js';

const DELAY_MS = 1_000;

/** `1a>` is the start of run 1 in process a, `1a.` its end; `!` behind it: refused. A second lies between two effects, unless `at` says otherwise. */
function ledger(text: string, at: readonly number[] = []): KeptEffect[] {
  return text.split(' ').map((word, i) => {
    const [, token, process = '', mark, refused] = /^(\d+)(\w)([>.])(!?)$/.exec(word) as unknown as string[];
    const phase = mark === '>' ? 'started' : 'ended';
    const nextInMs = phase === 'ended' ? DELAY_MS : null;
    const atMs = at[i] ?? i * DELAY_MS;
    return { task: 'singleton', token: Number(token), process, phase, atMs, nextInMs, accepted: refused === '' };
  });
}

const FINE = { late: [], refused: [], overlaps: [], sharedTokens: [], early: [] };

describe('the judge of effects', () => {
  it('finds nothing in runs one after the other, also where one never ended', () => {
    expect(judgeEffects(ledger('1a> 1a. 2a> 3b> 3b.'))).toEqual({ runs: 3, ...FINE });
  });

  it('counts a refused effect as that and nothing else', () => {
    const { refused, ...others } = judgeEffects(ledger('1a> 2b> 2b. 1a.! 3b> 3b.'));
    expect(refused).toMatchObject([{ token: 1, phase: 'ended' }]);
    expect(others).toEqual({ runs: 3, ...FINE, refused: undefined });
  });

  it('finds an older effect that was let through after a newer one', () => {
    expect(judgeEffects(ledger('1a> 2b> 2b. 1a.')).late).toMatchObject([{ token: 1, phase: 'ended' }]);
  });

  it('finds what happened between the start and the end of another run', () => {
    expect(judgeEffects(ledger('1a> 2b> 1a. 2b.')).overlaps).toMatchObject([{ token: 2 }, { token: 1 }]);
    expect(judgeEffects(ledger('2a> 1b>! 2a.')).overlaps).toMatchObject([{ token: 1 }]);
  });

  it('finds two runs of one token', () => {
    expect(judgeEffects(ledger('1a> 1a. 1b> 1b.')).sharedTokens).toEqual([1]);
  });

  it('finds a run that came before the one before had said', () => {
    const found = judgeEffects(ledger('1a> 1a. 2b> 2b.', [0, 50, 550, 600])).early;
    expect(found).toMatchObject([{ byMs: 500, effect: { token: 2 } }]);
  });

  it('does not take a singleton without a token', () => {
    const [effect] = ledger('1a>') as [KeptEffect];
    expect(() => judgeEffects([{ ...effect, token: null }])).toThrow('without a fencing token');
  });
});
