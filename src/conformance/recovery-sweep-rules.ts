import { deepStrictEqual, equal } from 'node:assert/strict';
import { CLAIMS_KEPT_PER_ENTRY } from '../coordination/claim-protocol.js';
import { ask, claimMany, heldClaim, isSuperseded, MINUTE, outcome, wordOf } from './asking.js';
import type { ConformanceRule } from './conformance-rule.js';
import { finish, long, RETENTION, renew, rule } from './recovery-asking.js';

/** What becomes of claims that can be taken over when old ones are removed. */
export const RECOVERY_SWEEP_RULES: readonly ConformanceRule[] = [
  rule(
    `an unfinished claim is kept beyond the newest ${CLAIMS_KEPT_PER_ENTRY}, and only until it is finished`,
    async (store) => {
      const { claimer, recovery } = await store.replica();
      const at = store.clock.now();
      const own = heldClaim(at - 400, 'pass-1');
      equal(await outcome(claimer, ask(at - 400, 'pass-1', { holds: long })), true);
      const words = await claimMany(
        claimer,
        Array.from({ length: 300 }, (_, i) => ask(at - 300 + i, 'plain')),
      );
      deepStrictEqual(new Set(words.map(wordOf)), new Set([true]));
      // The floor rises over the others all the same, and past it.
      await isSuperseded(claimer, ask(at - 300, 'plain'));
      await isSuperseded(claimer, ask(at - 399, 'nobody ran it'));
      equal(await outcome(claimer, ask(at - 400, 'another pass')), false);
      equal(await outcome(claimer, ask(at - 400, 'pass-1')), true);
      equal(await outcome(claimer, ask(at - CLAIMS_KEPT_PER_ENTRY + 1, 'another pass')), false);
      equal(await renew(recovery, own), true);
      equal(await finish(recovery, own), true);
      for (let i = 0; i < 3; i += 1) equal(await outcome(claimer, ask(at + i, 'plain')), true);
      await isSuperseded(claimer, ask(at - 400, 'pass-1'));
    },
  ),

  rule('more unfinished claims than are kept are all kept, and go when they are finished', async (store) => {
    const { claimer, recovery } = await store.replica();
    const at = store.clock.now();
    const instants = Array.from({ length: CLAIMS_KEPT_PER_ENTRY + 20 }, (_, i) => at - 1_000 + i);
    const words = await claimMany(
      claimer,
      instants.map((instant) => ask(instant, `pass-${instant}`, { holds: long })),
    );
    deepStrictEqual(new Set(words.map(wordOf)), new Set([true]));
    equal(await outcome(claimer, ask(at - 1_001, 'below all, and nothing was removed', { holds: long })), true);
    for (const instant of instants) equal(await finish(recovery, heldClaim(instant, `pass-${instant}`)), true);
    await claimMany(
      claimer,
      Array.from({ length: 50 }, (_, i) => ask(at - 50 + i, 'plain')),
    );
    await isSuperseded(claimer, ask(instants[0] as number, `pass-${instants[0]}`));
  }),

  rule(
    'an unfinished claim outlives the retention, the floor rising over the others; finished, it goes as they did',
    async (store) => {
      const { claimer, recovery } = await store.replica();
      const at = store.clock.now();
      const own = heldClaim(at - 2 * MINUTE, 'pass-1');
      equal(await outcome(claimer, ask(at - 2 * MINUTE, 'pass-1', { holds: { recoveryTtlMs: 2 * RETENTION } })), true);
      equal(await outcome(claimer, ask(at, 'plain')), true);
      await store.clock.advance(RETENTION + 1);
      equal(await outcome(claimer, ask(store.clock.now(), 'sweeps')), true);
      await isSuperseded(claimer, ask(at, 'plain'));
      await isSuperseded(claimer, ask(at - MINUTE, 'nobody ran it'));
      equal(await outcome(claimer, ask(at - 2 * MINUTE, 'another pass')), false);
      equal(await outcome(claimer, ask(at - 2 * MINUTE, 'pass-1')), true);
      equal(await renew(recovery, own), true);
      equal(await finish(recovery, own), true);
      equal(await outcome(claimer, ask(store.clock.now() - 1, 'sweeps too')), true);
      await isSuperseded(claimer, ask(at - 2 * MINUTE, 'pass-1'));
    },
    { moves: true },
  ),

  rule(
    'retention counts from the claim, not from its end: one finished within it is kept as any other',
    async (store) => {
      const { claimer, recovery } = await store.replica();
      const at = store.clock.now();
      equal(await outcome(claimer, ask(at, 'pass-1', { holds: { recoveryTtlMs: RETENTION } })), true);
      equal(await finish(recovery, heldClaim(at, 'pass-1')), true);
      await store.clock.advance(RETENTION);
      equal(await outcome(claimer, ask(store.clock.now(), 'pass-2')), true);
      equal(await outcome(claimer, ask(at, 'pass-1')), true);
      await store.clock.advance(1);
      equal(await outcome(claimer, ask(store.clock.now(), 'pass-3')), true);
      await isSuperseded(claimer, ask(at, 'pass-1'));
    },
    { moves: true },
  ),
];
