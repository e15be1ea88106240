import { deepStrictEqual, equal } from 'node:assert/strict';
import { overlapLeaseName } from '../coordination/overlap-lease.js';
import {
  ask,
  claim,
  grantedToken,
  heldClaim,
  LONG_MS,
  MINUTE,
  outcome,
  overlapLease,
  signal,
  takeLapsed,
} from './asking.js';
import type { ConformanceRule } from './conformance-rule.js';
import { finish, isNotHeld, long, release, renew, rule, taken } from './recovery-asking.js';

/** What the ports say of `recoveryTtlMs`, and of who owns a claim that can be taken over, one rule each. */
export const RECOVERY_RULES: readonly ConformanceRule[] = [
  rule(
    'a claim that lapsed is taken over by another instance, with attempt 2; one that did not lapse is not',
    async (store) => {
      const [a, b] = [await store.replica(), await store.replica()];
      const at = store.clock.now();
      equal(await outcome(a.claimer, ask(at, 'pass-1', { holds: { recoveryTtlMs: store.shortMs } })), true);
      equal(await outcome(a.claimer, ask(at - MINUTE, 'pass-2', { holds: long })), true);
      await store.pass(store.shortMs);
      deepStrictEqual(await takeLapsed(b.recovery), [taken(at, 2)]);
      deepStrictEqual(await takeLapsed(b.recovery, { by: 'replica-3' }), []);
    },
  ),

  rule(
    'a claim that was told overlap can be taken over once its own pass has asked again and got the lease',
    async (store) => {
      const [a, b] = [await store.replica(), await store.replica()];
      const at = store.clock.now();
      const holds = { overlapTtlMs: LONG_MS, recoveryTtlMs: store.shortMs };
      const token = await grantedToken(a.claimer, ask(at - MINUTE, 'pass-1', { holds: { overlapTtlMs: LONG_MS } }));
      equal(await outcome(a.claimer, ask(at, 'pass-2', { holds })), 'overlap');
      const lease = { namespace: 'shop', name: overlapLeaseName('report'), owner: 'pass-1', token };
      equal(await a.leases?.release(lease, {}, signal), true);
      await grantedToken(a.claimer, ask(at, 'pass-2', { holds }));
      equal(await renew(a.recovery, heldClaim(at, 'pass-2'), store.shortMs), true);
      await store.pass(store.shortMs);
      deepStrictEqual(await takeLapsed(b.recovery), [taken(at, 2)]);
    },
    { needs: ['leases'] },
  ),

  rule('a claim whose renewals arrive is never taken over', async (store) => {
    const [a, b] = [await store.replica(), await store.replica()];
    const at = store.clock.now();
    await outcome(a.claimer, ask(at, 'pass-1', { holds: { recoveryTtlMs: store.shortMs } }));
    equal(await renew(a.recovery, heldClaim(at, 'pass-1')), true);
    await store.pass(store.shortMs);
    deepStrictEqual(await takeLapsed(b.recovery), []);
    equal(await renew(a.recovery, heldClaim(at, 'pass-1'), store.shortMs), true);
    await store.pass(store.shortMs);
    deepStrictEqual(await takeLapsed(b.recovery), [taken(at, 2)]);
  }),

  rule("a claim that lapsed is its owner's to renew and to finish as long as nobody took it", async (store) => {
    const [a, b] = [await store.replica(), await store.replica()];
    const at = store.clock.now();
    const instants = [at, at - MINUTE];
    for (const instant of instants)
      await outcome(a.claimer, ask(instant, 'pass-1', { holds: { recoveryTtlMs: store.shortMs } }));
    await store.pass(store.shortMs);
    equal(await renew(a.recovery, heldClaim(at, 'pass-1')), true);
    equal(await finish(a.recovery, heldClaim(at - MINUTE, 'pass-1')), true);
    deepStrictEqual(await takeLapsed(b.recovery), []);
  }),

  rule(
    "what was taken over is the new owner's alone: the old one may not renew, release or finish it, nor claim it",
    async (store) => {
      const [a, b] = [await store.replica(), await store.replica()];
      const at = store.clock.now();
      await outcome(a.claimer, ask(at, 'pass-1', { holds: { recoveryTtlMs: store.shortMs } }));
      await store.pass(store.shortMs);
      deepStrictEqual(await takeLapsed(b.recovery, { claimId: 'scan-1' }), [taken(at, 2)]);
      await isNotHeld(a.recovery, heldClaim(at, 'pass-1'));
      equal(await outcome(a.claimer, ask(at, 'pass-1', { holds: long })), false);
      equal(await renew(b.recovery, heldClaim(at, 'scan-1')), true);
      equal(await finish(b.recovery, heldClaim(at, 'scan-1')), true);
    },
  ),

  rule('what was taken over lives for the time the request gave it', async (store) => {
    const [a, b, c] = [await store.replica(), await store.replica(), await store.replica()];
    const at = store.clock.now();
    const holds = { recoveryTtlMs: store.shortMs };
    for (const instant of [at, at - MINUTE]) await outcome(a.claimer, ask(instant, 'pass-1', { holds }));
    await store.pass(store.shortMs);
    const [first] = await takeLapsed(b.recovery, { ttlMs: store.shortMs, limit: 1 });
    const [second] = await takeLapsed(b.recovery, { ttlMs: LONG_MS, limit: 1 });
    deepStrictEqual([first?.attempt, second?.attempt], [2, 2]);
    await store.pass(store.shortMs);
    deepStrictEqual(await takeLapsed(c.recovery, { by: 'replica-3' }), [taken(first?.atMs as number, 3)]);
  }),

  rule("a claim that is finished is done: nobody takes it over, and it is not its owner's any more", async (store) => {
    const [a, b] = [await store.replica(), await store.replica()];
    const at = store.clock.now();
    await outcome(a.claimer, ask(at, 'pass-1', { holds: { recoveryTtlMs: store.shortMs } }));
    equal(await finish(b.recovery, heldClaim(at, 'pass-1')), true);
    await isNotHeld(a.recovery, heldClaim(at, 'pass-1'));
    await store.pass(store.shortMs);
    deepStrictEqual(await takeLapsed(b.recovery), []);
    equal(await outcome(b.claimer, ask(at, 'another pass', { holds: long })), false);
  }),

  rule('a claim that is released lapses at once', async (store) => {
    const [a, b] = [await store.replica(), await store.replica()];
    const at = store.clock.now();
    await outcome(a.claimer, ask(at, 'pass-1', { holds: long }));
    equal(await release(a.recovery, heldClaim(at, 'pass-1')), true);
    equal(await outcome(b.claimer, ask(at, 'another pass', { holds: long })), false);
    deepStrictEqual(await takeLapsed(b.recovery), [taken(at, 2)]);
  }),

  rule('a claim that was not asked for so is never taken over', async (store) => {
    const [a, b] = [await store.replica(), await store.replica()];
    const at = store.clock.now();
    equal(await outcome(a.claimer, ask(at, 'pass-1')), true);
    await store.pass(store.shortMs);
    deepStrictEqual(await takeLapsed(b.recovery), []);
    await isNotHeld(a.recovery, heldClaim(at, 'pass-1'));
  }),

  rule(
    'no pass wins a claim that lapsed; its own pass is told true until it was taken over, and starts no attempt anew',
    async (store) => {
      const [a, b] = [await store.replica(), await store.replica()];
      const at = store.clock.now();
      const asked = ask(at, 'pass-1', { holds: { recoveryTtlMs: store.shortMs } });
      equal(await outcome(a.claimer, asked), true);
      await store.pass(store.shortMs);
      equal(await outcome(b.claimer, ask(at, 'another pass', { holds: long })), false);
      deepStrictEqual(await takeLapsed(b.recovery, { claimId: 'scan-1' }), [taken(at, 2)]);
      // The repeat of an own claim tells nothing new.
      equal(await outcome(b.claimer, ask(at, 'scan-1')), true);
      equal(await release(b.recovery, heldClaim(at, 'scan-1')), true);
      deepStrictEqual(await takeLapsed(a.recovery, { by: 'replica-3' }), [taken(at, 3)]);
    },
  ),

  rule('a finished claim that its pass asks for again stays finished', async (store) => {
    const [a, b] = [await store.replica(), await store.replica()];
    const at = store.clock.now();
    const asked = ask(at, 'pass-1', { holds: { recoveryTtlMs: store.shortMs } });
    equal(await outcome(a.claimer, asked), true);
    equal(await finish(a.recovery, heldClaim(at, 'pass-1')), true);
    equal(await outcome(a.claimer, asked), true);
    await store.pass(store.shortMs);
    deepStrictEqual(await takeLapsed(b.recovery), []);
  }),

  rule('claim, which has no words, makes a claim that can be taken over too', async (store) => {
    const [a, b] = [await store.replica(), await store.replica()];
    const at = store.clock.now();
    equal(await claim(a.claimer, ask(at, 'pass-1', { holds: { recoveryTtlMs: store.shortMs } })), true);
    await store.pass(store.shortMs);
    deepStrictEqual(await takeLapsed(b.recovery), [taken(at, 2)]);
  }),

  rule("what is not there is nobody's: another claim id, another instant, entry or namespace", async (store) => {
    const { claimer, recovery } = await store.replica();
    const at = store.clock.now();
    await outcome(claimer, ask(at, 'pass-1', { holds: long }));
    await isNotHeld(recovery, heldClaim(at, 'pass-2'));
    await isNotHeld(recovery, heldClaim(at - 1, 'pass-1'));
    await isNotHeld(recovery, heldClaim(at, 'pass-1', 'other'));
    await isNotHeld(recovery, heldClaim(at, 'pass-1', 'report', 'bank'));
    equal(await renew(recovery, heldClaim(at, 'pass-1')), true);
  }),

  rule(
    'a claim can take both, the overlap lease and recovery; told overlap, it is not taken over',
    async (store) => {
      const [a, b] = [await store.replica(), await store.replica()];
      const at = store.clock.now();
      const holds = { overlapTtlMs: LONG_MS, recoveryTtlMs: store.shortMs };
      await grantedToken(a.claimer, ask(at - MINUTE, 'pass-1', { holds }));
      equal(await outcome(a.claimer, ask(at, 'pass-2', { holds })), 'overlap');
      await isNotHeld(a.recovery, heldClaim(at, 'pass-2'));
      await store.pass(store.shortMs);
      deepStrictEqual(await takeLapsed(b.recovery), [taken(at - MINUTE, 2)]);
      equal((await overlapLease(b.leases))?.owner, 'pass-1');
    },
    { needs: ['leases'] },
  ),
];
