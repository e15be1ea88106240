import { deepStrictEqual, equal, ok } from 'node:assert/strict';
import { DEFAULT_CLAIM_PROTOCOL } from '../coordination/claim-protocol.js';
import {
  ask,
  claim,
  claimMany,
  grantedToken,
  LONG_MS,
  lastFireIs,
  lastFireOf,
  MINUTE,
  ODD_KEYS,
  outcome,
  overlapLease,
  pause,
  resume,
  wordOf,
} from './asking.js';
import { type ConformanceRule, ruleIn } from './conformance-rule.js';

const rule = ruleIn('pause', ['repeatable', 'claimMany', 'pause']);
const { maxClockSkewMs: SKEW, retentionMs: RETENTION } = DEFAULT_CLAIM_PROTOCOL;

/** What the claimer port says of `pause` and `resume`, one rule each. */
export const PAUSE_RULES: readonly ConformanceRule[] = [
  rule('an entry that is paused is paused for every replica, until it is resumed on any', async (store) => {
    const [a, b] = [await store.replica(), await store.replica()];
    const at = store.clock.now();
    equal(await outcome(a.claimer, ask(at - 2 * MINUTE, 'pass-1')), true);
    await pause(a.claimer);
    for (const { claimer } of [a, b]) equal(await outcome(claimer, ask(at - MINUTE, 'pass-2')), 'paused');
    await a.close?.();
    equal(await outcome(b.claimer, ask(at - MINUTE, 'pass-2')), 'paused');
    await resume(b.claimer);
    equal(await outcome(b.claimer, ask(at - MINUTE, 'pass-2')), true);
  }),

  rule('claim, which has no words, refuses it with false', async (store) => {
    const { claimer } = await store.replica();
    await pause(claimer);
    equal(await claim(claimer, ask(store.clock.now(), 'pass-1')), false);
  }),

  rule('a paused answer leaves nothing behind: no claim, no watermark', async (store) => {
    const { claimer } = await store.replica();
    const at = store.clock.now();
    equal(await outcome(claimer, ask(at - MINUTE, 'pass-1')), true);
    await pause(claimer);
    equal(await outcome(claimer, ask(at, 'pass-2')), 'paused');
    equal(await claim(claimer, ask(at, 'pass-2')), false);
    await lastFireIs(claimer, 'report', [at - MINUTE, 'every-minute']);
    await resume(claimer, true);
    await lastFireIs(claimer, 'report', [at - MINUTE, 'every-minute']);
    equal(await outcome(claimer, ask(at, 'pass-3')), true);
  }),

  rule(
    'a claim that was made before the pause is answered as ever: true to its own pass, false to others',
    async (store) => {
      const [a, b] = [await store.replica(), await store.replica()];
      const at = store.clock.now();
      equal(await claim(a.claimer, ask(at, 'pass-1')), true);
      await pause(b.claimer);
      equal(await outcome(a.claimer, ask(at, 'pass-1')), true);
      equal(await outcome(b.claimer, ask(at, 'pass-2')), false);
      await resume(b.claimer);
      equal(await outcome(b.claimer, ask(at, 'pass-2')), false);
    },
  ),

  rule(
    'a fire at or below the floor is told superseded, and an early one an error, also while paused',
    async (store) => {
      const { claimer } = await store.replica();
      const at = store.clock.now();
      await claimMany(
        claimer,
        Array.from({ length: 300 }, (_, i) => ask(at - 300 + i, 'plain')),
      );
      await pause(claimer);
      equal(await outcome(claimer, ask(at - 301, 'pass-1')), 'superseded');
      equal(await outcome(claimer, ask(at + SKEW + MINUTE, 'pass-2')), 'CLOCK_AHEAD');
      equal(await outcome(claimer, ask(at, 'pass-3')), 'paused');
    },
  ),

  rule('an entry without history can be paused, and has none after it', async (store) => {
    const { claimer } = await store.replica();
    const at = store.clock.now();
    await pause(claimer);
    equal(await lastFireOf(claimer), undefined);
    equal(await outcome(claimer, ask(at, 'pass-1')), 'paused');
    equal(await lastFireOf(claimer), undefined);
    ok((await resume(claimer)) instanceof Date, 'since when it was paused');
    equal(await lastFireOf(claimer), undefined);
    equal(await outcome(claimer, ask(at - MINUTE, 'pass-2')), true);
    await lastFireIs(claimer, 'report', [at - MINUTE, 'every-minute']);
  }),

  rule('an entry that is paused again stays paused since the first time, which resume tells', async (store) => {
    const [a, b] = [await store.replica(), await store.replica()];
    for (const { claimer } of [a, b]) await pause(claimer);
    await store.pass(store.shortMs);
    await pause(b.claimer);
    await pause(b.claimer, 'later');
    const since = await resume(a.claimer);
    const later = await resume(a.claimer, false, 'later');
    ok(since instanceof Date && later instanceof Date, 'both were paused');
    // Both by the store's clock, which need not be the host's.
    ok(later.getTime() - since.getTime() >= store.shortMs, `${since.toISOString()}, ${later.toISOString()}`);
  }),

  rule('resume of an entry that is not paused answers null, and changes nothing', async (store) => {
    const { claimer } = await store.replica();
    const at = store.clock.now();
    equal(await outcome(claimer, ask(at - MINUTE, 'pass-1')), true);
    equal(await resume(claimer), null);
    await lastFireIs(claimer, 'report', [at - MINUTE, 'every-minute']);
    equal(await resume(claimer, false, 'never heard of'), null);
    equal(await lastFireOf(claimer, 'never heard of'), undefined);
    await pause(claimer);
    ok((await resume(claimer)) instanceof Date, 'since when it was paused');
    equal(await resume(claimer), null);
  }),

  rule(
    "resume raises the watermark to the store's now, and keeps the schedule it was claimed under",
    async (store) => {
      const { claimer } = await store.replica();
      equal(await outcome(claimer, ask(store.clock.now() - MINUTE, 'pass-1', { schedule: 'theirs' })), true);
      await pause(claimer);
      await store.pass(store.shortMs);
      const since = await resume(claimer);
      const last = await lastFireOf(claimer);
      ok(since instanceof Date && last !== undefined, 'it was paused, and has a last fire');
      ok(last.scheduledAt.getTime() - since.getTime() >= store.shortMs, `${last.scheduledAt.toISOString()} is the end`);
      equal(last.schedule, 'theirs');
    },
    { needs: ['lastFire'] },
  ),

  rule(
    'resume that is to keep the watermark leaves it',
    async (store) => {
      const { claimer } = await store.replica();
      const at = store.clock.now();
      equal(await outcome(claimer, ask(at - MINUTE, 'pass-1', { schedule: 'theirs' })), true);
      await pause(claimer);
      await store.pass(store.shortMs);
      ok((await resume(claimer, true)) instanceof Date, 'since when it was paused');
      await lastFireIs(claimer, 'report', [at - MINUTE, 'theirs']);
    },
    { needs: ['lastFire'] },
  ),

  rule(
    'resume lowers no watermark',
    async (store) => {
      const { claimer } = await store.replica();
      const ahead = store.clock.now() + SKEW / 2;
      equal(await outcome(claimer, ask(ahead, 'pass-1')), true);
      await pause(claimer);
      await resume(claimer);
      await lastFireIs(claimer, 'report', [ahead, 'every-minute']);
    },
    { needs: ['lastFire'] },
  ),

  rule('the fires of a pause can be claimed after it: the raised watermark is no floor', async (store) => {
    const { claimer } = await store.replica();
    const at = store.clock.now();
    equal(await outcome(claimer, ask(at - 3 * MINUTE, 'pass-1')), true);
    await pause(claimer);
    equal(await outcome(claimer, ask(at - MINUTE, 'pass-2')), 'paused');
    await resume(claimer);
    for (const minute of [1, 2]) equal(await outcome(claimer, ask(at - minute * MINUTE, `late-${minute}`)), true);
  }),

  rule(
    'a pause keeps what was claimed before it from being claimed again, and the floor where it is',
    async (store) => {
      const { claimer } = await store.replica();
      const at = store.clock.now();
      await claimMany(
        claimer,
        Array.from({ length: 300 }, (_, i) => ask(at - 300 + i, 'plain')),
      );
      await pause(claimer);
      await resume(claimer);
      equal(await outcome(claimer, ask(at - 1, 'pass-1')), false);
      equal(await outcome(claimer, ask(at - 301, 'pass-2')), 'superseded');
    },
  ),

  rule('in one batch a paused entry harms only itself', async (store) => {
    const { claimer } = await store.replica();
    const at = store.clock.now();
    await pause(claimer, 'b');
    const keys = ['c', 'b', 'a'];
    const answers = await claimMany(
      claimer,
      keys.map((entryKey) => ask(at, 'pass-1', { entryKey })),
    );
    deepStrictEqual(answers, [true, 'paused', true]);
  }),

  rule('only that entry of that namespace is paused: keys are kept whole and apart', async (store) => {
    const { claimer } = await store.replica();
    const at = store.clock.now();
    const paused = ODD_KEYS.filter((_, i) => i % 2 === 0);
    for (const entryKey of paused) await pause(claimer, entryKey);
    for (const entryKey of ODD_KEYS) {
      equal(await outcome(claimer, ask(at, 'pass-1', { entryKey })), paused.includes(entryKey) ? 'paused' : true);
      equal(await outcome(claimer, ask(at, 'pass-1', { entryKey, namespace: 'bank' })), true);
    }
    equal(await resume(claimer, false, paused[0], 'bank'), null);
    equal(await outcome(claimer, ask(at, 'pass-2', { entryKey: paused[0] as string })), 'paused');
    ok((await resume(claimer, false, paused[0])) instanceof Date, 'since when it was paused');
    equal(await outcome(claimer, ask(at, 'pass-2', { entryKey: paused[1] as string })), 'paused');
  }),

  rule(
    'a pause does not end by itself, also past the retention',
    async (store) => {
      const { claimer } = await store.replica();
      equal(await outcome(claimer, ask(store.clock.now(), 'pass-1')), true);
      await pause(claimer);
      await pause(claimer, 'without history');
      await store.clock.advance(2 * RETENTION);
      equal(await outcome(claimer, ask(store.clock.now(), 'pass-2')), 'paused');
      equal(await outcome(claimer, ask(store.clock.now(), 'pass-3', { entryKey: 'without history' })), 'paused');
    },
    { moves: true },
  ),

  rule(
    'a paused answer takes no overlap lease; a pass that has its claim is given its lease also while paused',
    async (store) => {
      const { claimer, leases } = await store.replica();
      const at = store.clock.now();
      const holds = { overlapTtlMs: LONG_MS };
      const asked = ask(at - MINUTE, 'pass-1', { holds });
      const token = await grantedToken(claimer, asked);
      await pause(claimer);
      await pause(claimer, 'other');
      ok((await grantedToken(claimer, asked)) > token, 'the token grew');
      equal(wordOf((await claimMany(claimer, [ask(at, 'pass-2', { holds })]))[0]), 'paused');
      equal(await outcome(claimer, ask(at, 'pass-3', { entryKey: 'other', holds })), 'paused');
      equal((await overlapLease(leases))?.owner, 'pass-1');
      equal(await overlapLease(leases, 'other'), undefined);
    },
    { needs: ['holding', 'leases'] },
  ),
];
