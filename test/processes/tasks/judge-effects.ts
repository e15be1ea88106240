import type { KeptEffect } from './effect.js';

export interface EffectsVerdict {
  readonly runs: number;
  /** Accepted though the first effect of a newer run was there already. */
  readonly late: readonly KeptEffect[];
  readonly refused: readonly KeptEffect[];
  /** Effects of one run between the first and the last of another. */
  readonly overlaps: readonly KeptEffect[];
  /** Runs that share a token, of one process or two. */
  readonly sharedTokens: readonly number[];
  /** Runs that began sooner after the one before than that one had said, with how much sooner. */
  readonly early: readonly { readonly effect: KeptEffect; readonly byMs: number }[];
}

/**
 * Two processes' readings of the store's clock differ by as long as their question took to answer, which on a busy machine is tens of milliseconds; and a replica may be 20 ms
 * early by its own reading.
 */
export const EARLY_TOLERANCE_MS = 150;

/** Judges a singleton's effects by their order in the ledger; times are asked only for what is too early. Pure. */
export function judgeEffects(all: readonly KeptEffect[]): EffectsVerdict {
  const effects = all.filter(({ task }) => task === 'singleton');
  const late: KeptEffect[] = [];
  const overlaps: KeptEffect[] = [];
  const early: { effect: KeptEffect; byMs: number }[] = [];
  const starts = new Map<number, number>();
  let highest = 0;
  for (const [i, effect] of effects.entries()) {
    const token = tokenOf(effect);
    if (effect.accepted && token < highest) late.push(effect);
    if (effect.accepted) highest = Math.max(highest, token);
    if (effect.phase === 'started') {
      starts.set(token, (starts.get(token) ?? 0) + 1);
      const before = effects[i - 1];
      if (before !== undefined && before.nextInMs !== null && before.accepted) {
        const byMs = before.atMs + before.nextInMs - effect.atMs;
        if (byMs > EARLY_TOLERANCE_MS) early.push({ effect, byMs });
      }
      continue;
    }
    // What came between this run's start and its end. An end that was refused is counted as that alone.
    const begun = effects.findLastIndex(
      (other, at) => at < i && other.phase === 'started' && isOfOneRun(other, effect),
    );
    if (effect.accepted) overlaps.push(...effects.slice(begun + 1, i).filter((other) => !isOfOneRun(other, effect)));
  }
  return {
    runs: effects.filter(({ phase }) => phase === 'started').length,
    late,
    refused: effects.filter(({ accepted }) => !accepted),
    overlaps,
    sharedTokens: [...starts].filter(([, count]) => count > 1).map(([token]) => token),
    early,
  };
}

const isOfOneRun = (one: KeptEffect, other: KeptEffect) => one.token === other.token && one.process === other.process;

function tokenOf({ token }: KeptEffect): number {
  if (token === null) throw new Error('A singleton ran without a fencing token: it had no lease.');
  return token;
}
