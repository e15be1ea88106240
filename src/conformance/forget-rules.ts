import { deepStrictEqual, equal, ok } from 'node:assert/strict';
import {
  ask,
  claimMany,
  forget,
  grantedToken,
  heldClaim,
  LONG_MS,
  lastFireIs,
  lastFireOf,
  MINUTE,
  ODD_KEYS,
  outcome,
  overlapLease,
  pause,
  resume,
  signal,
  takeLapsed,
  wordOf,
} from './asking.js';
import { type ConformanceRule, ruleIn } from './conformance-rule.js';

const rule = ruleIn('forget', ['repeatable', 'claimMany', 'forget']);

/** What the claimer port says of `forget`, one rule each. */
export const FORGET_RULES: readonly ConformanceRule[] = [
  rule(
    'an entry that is forgotten has no claims, no floor and no last fire, as if it had never been',
    async (store) => {
      const [a, b] = [await store.replica(), await store.replica()];
      const at = store.clock.now();
      const many = (pass: string) => Array.from({ length: 300 }, (_, i) => ask(at - 300 + i, pass));
      await claimMany(a.claimer, many('before'));
      await forget(b.claimer);
      equal(await lastFireOf(a.claimer), undefined);
      equal(await outcome(a.claimer, ask(at - 1, 'after')), true);
      equal(await outcome(a.claimer, ask(at - 301, 'after')), true);
      await lastFireIs(a.claimer, 'report', [at - 1, 'every-minute']);
      // It starts anew in all: its claims are counted from none.
      await forget(b.claimer);
      deepStrictEqual(new Set((await claimMany(a.claimer, many('again'))).map(wordOf)), new Set([true]));
      equal(await outcome(a.claimer, ask(at - 256, 'another pass')), false);
      equal(await outcome(a.claimer, ask(at - 257, 'another pass')), 'superseded');
    },
  ),

  rule('of a key the store does not know nothing is forgotten, and nothing fails', async (store) => {
    const { claimer } = await store.replica();
    const at = store.clock.now();
    equal(await outcome(claimer, ask(at, 'pass-1')), true);
    await forget(claimer, 'never heard of');
    await forget(claimer, 'report', 'bank');
    equal(await outcome(claimer, ask(at, 'pass-2')), false);
  }),

  rule('only that entry of that namespace is forgotten: keys are kept whole and apart', async (store) => {
    const { claimer } = await store.replica();
    const at = store.clock.now();
    const claims = (pass: string, namespace: string) =>
      ODD_KEYS.map((entryKey, i) => ask(at, `${pass} ${i}`, { entryKey, namespace }));
    for (const namespace of ['shop', 'bank']) await claimMany(claimer, claims('first', namespace));
    const gone = ODD_KEYS.filter((_, i) => i % 2 === 0);
    for (const entryKey of gone) await forget(claimer, entryKey);
    deepStrictEqual(
      await claimMany(claimer, claims('second', 'shop')),
      ODD_KEYS.map((entryKey) => gone.includes(entryKey)),
    );
    deepStrictEqual(new Set(await claimMany(claimer, claims('second', 'bank'))), new Set([false]));
  }),

  rule(
    'its pause ends',
    async (store) => {
      const { claimer } = await store.replica();
      const at = store.clock.now();
      equal(await outcome(claimer, ask(at - MINUTE, 'pass-1')), true);
      for (const entryKey of ['report', 'without history']) {
        await pause(claimer, entryKey);
        await forget(claimer, entryKey);
        equal(await outcome(claimer, ask(at, 'pass-2', { entryKey })), true);
        equal(await resume(claimer, false, entryKey), null);
      }
    },
    { needs: ['pause'] },
  ),

  rule(
    'its leases stay, with their owner and token',
    async (store) => {
      const { claimer, leases } = await store.replica();
      const at = store.clock.now();
      const token = await grantedToken(claimer, ask(at, 'pass-1', { holds: { overlapTtlMs: LONG_MS } }));
      await forget(claimer);
      const record = await overlapLease(leases);
      deepStrictEqual([record?.owner, record?.token], ['pass-1', token]);
      equal(await outcome(claimer, ask(at, 'pass-2', { holds: { overlapTtlMs: LONG_MS } })), 'overlap');
    },
    { needs: ['holding', 'leases'] },
  ),

  rule(
    "its claims are not taken over, and not their owners' any more",
    async (store) => {
      const { claimer, recovery } = await store.replica();
      const at = store.clock.now();
      const holds = { recoveryTtlMs: store.shortMs };
      for (const entryKey of ['report', 'other'])
        equal(await outcome(claimer, ask(at, 'pass-1', { entryKey, holds })), true);
      await forget(claimer);
      await store.pass(store.shortMs);
      const taken = await takeLapsed(recovery, { entries: ['report', 'other'] });
      deepStrictEqual(
        taken.map(({ entryKey }) => entryKey),
        ['other'],
      );
      const held = heldClaim(at, 'pass-1');
      equal(await recovery?.renew(held, LONG_MS, signal), false);
      ok((await recovery?.finish(held, signal)) === false, 'there is nothing to finish');
      // Claimed again it is a claim like any other.
      equal(await outcome(claimer, ask(at, 'pass-2', { holds })), true);
      equal(await recovery?.renew(heldClaim(at, 'pass-2'), LONG_MS, signal), true);
    },
    { needs: ['holding', 'recovery'] },
  ),
];
