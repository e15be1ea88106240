import { deepStrictEqual, equal } from 'node:assert/strict';
import { CLAIMS_KEPT_PER_ENTRY, DEFAULT_CLAIM_PROTOCOL } from '../coordination/claim-protocol.js';
import { overlapLeaseName } from '../coordination/overlap-lease.js';
import type { HeldClaim, RecoveryStore } from '../coordination/recovery-store.js';
import {
  ask,
  claim,
  claimMany,
  grantedToken,
  heldClaim,
  isSuperseded,
  LONG_MS,
  lastFireIs,
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

const rule = ruleIn('recovery', ['repeatable', 'claimMany', 'holding', 'recovery']);
const { retentionMs: RETENTION } = DEFAULT_CLAIM_PROTOCOL;
const long = { recoveryTtlMs: LONG_MS };

const renew = (recovery: RecoveryStore | undefined, held: HeldClaim, ttlMs = LONG_MS) =>
  recovery?.renew(held, ttlMs, signal);
const finish = (recovery: RecoveryStore | undefined, held: HeldClaim) => recovery?.finish(held, signal);
const release = (recovery: RecoveryStore | undefined, held: HeldClaim) => recovery?.release(held, signal);

/** It is not the owner's: whatever that asks is answered false. */
async function isNotHeld(recovery: RecoveryStore | undefined, held: HeldClaim): Promise<void> {
  equal(await renew(recovery, held), false);
  equal(await release(recovery, held), false);
  equal(await finish(recovery, held), false);
}

const taken = (atMs: number, attempt: number, entryKey = 'report') => ({ entryKey, atMs, attempt, abandoned: false });
const abandoned = (atMs: number, attempt: number) => ({ ...taken(atMs, attempt), abandoned: true });

/** What the ports say of `recoveryTtlMs` and of recovery, one rule each. */
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

  rule('what an instance made or took is left to it, also when it lapsed', async (store) => {
    const [a, b] = [await store.replica(), await store.replica()];
    const at = store.clock.now();
    await outcome(a.claimer, ask(at, 'pass-1', { instanceId: 'replica-1', holds: { recoveryTtlMs: store.shortMs } }));
    await store.pass(store.shortMs);
    deepStrictEqual(await takeLapsed(a.recovery, { by: 'replica-1' }), []);
    deepStrictEqual(await takeLapsed(b.recovery, { by: 'replica-2', ttlMs: store.shortMs }), [taken(at, 2)]);
    await store.pass(store.shortMs);
    deepStrictEqual(await takeLapsed(b.recovery, { by: 'replica-2' }), []);
    deepStrictEqual(await takeLapsed(a.recovery, { by: 'replica-1' }), [taken(at, 3)]);
  }),

  rule('what an instance may not take does not use up its limit', async (store) => {
    const [a, b] = [await store.replica(), await store.replica()];
    const at = store.clock.now();
    const made = [
      ask(at - 3 * MINUTE, 'pass-1', {
        instanceId: 'replica-2',
        holds: { recoveryTtlMs: Math.ceil(store.shortMs / 4) },
      }),
      ask(at - 2 * MINUTE, 'pass-2', { entryKey: 'unasked', holds: { recoveryTtlMs: Math.ceil(store.shortMs / 3) } }),
      ask(at - MINUTE, 'pass-3', { holds: { recoveryTtlMs: store.shortMs } }),
    ];
    await claimMany(a.claimer, made);
    await store.pass(store.shortMs);
    deepStrictEqual(await takeLapsed(b.recovery, { limit: 1 }), [taken(at - MINUTE, 2)]);
  }),

  rule('a claim that was not asked for so is never taken over', async (store) => {
    const [a, b] = [await store.replica(), await store.replica()];
    const at = store.clock.now();
    equal(await outcome(a.claimer, ask(at, 'pass-1')), true);
    await store.pass(store.shortMs);
    deepStrictEqual(await takeLapsed(b.recovery), []);
    await isNotHeld(a.recovery, heldClaim(at, 'pass-1'));
  }),

  rule('a claim that had its most attempts is abandoned: told once with its last attempt, and done', async (store) => {
    const [a, b] = [await store.replica(), await store.replica()];
    const at = store.clock.now();
    await outcome(a.claimer, ask(at, 'pass-1', { holds: { recoveryTtlMs: store.shortMs } }));
    await store.pass(store.shortMs);
    const bounded = { maxAttempts: 2, ttlMs: store.shortMs };
    deepStrictEqual(await takeLapsed(b.recovery, { ...bounded, claimId: 'scan-1' }), [taken(at, 2)]);
    await store.pass(store.shortMs);
    deepStrictEqual(await takeLapsed(a.recovery, { ...bounded, by: 'replica-3' }), [abandoned(at, 2)]);
    deepStrictEqual(await takeLapsed(a.recovery, { by: 'replica-3' }), []);
    await isNotHeld(b.recovery, heldClaim(at, 'scan-1'));
    await isNotHeld(a.recovery, heldClaim(at, 'scan of replica-3'));
    equal(await outcome(b.claimer, ask(at, 'another pass')), false);
  }),

  rule('those that lapsed first come first, and no more than the limit, abandoned ones counted', async (store) => {
    const [a, b] = [await store.replica(), await store.replica()];
    const at = store.clock.now();
    // Neither the order of the instants nor that of the keys is the order of lapsing.
    const parts = [
      { minute: 1, part: 4, entryKey: 'b' },
      { minute: 3, part: 2, entryKey: 'a' },
      { minute: 2, part: 3, entryKey: 'b' },
      { minute: 4, part: 1, entryKey: 'a' },
    ];
    await claimMany(
      a.claimer,
      parts.map(({ minute, part, entryKey }) =>
        ask(at - minute * MINUTE, `pass-${minute}`, {
          entryKey,
          holds: { recoveryTtlMs: Math.ceil(store.shortMs / part) },
        }),
      ),
    );
    await store.pass(store.shortMs);
    const entries = ['a', 'b'];
    const inTwo = await takeLapsed(b.recovery, { entries, limit: 2, maxAttempts: 1 });
    deepStrictEqual(
      inTwo.map(({ atMs }) => atMs),
      [at - MINUTE, at - 2 * MINUTE],
    );
    deepStrictEqual(
      inTwo.map((lapsed) => lapsed.abandoned),
      [true, true],
    );
    const rest = await takeLapsed(b.recovery, { entries });
    deepStrictEqual(rest, [taken(at - 3 * MINUTE, 2, 'a'), taken(at - 4 * MINUTE, 2, 'a')]);
  }),

  rule('each entry of a request has its own most attempts', async (store) => {
    const { claimer, recovery } = await store.replica();
    const at = store.clock.now();
    const entries = ['a', 'b'].map((entryKey, i) => ({ entryKey, maxAttempts: i + 1 }));
    const holds = { recoveryTtlMs: store.shortMs };
    await claimMany(
      claimer,
      entries.map(({ entryKey }) => ask(at, 'pass-1', { entryKey, holds })),
    );
    await store.pass(store.shortMs);
    const request = {
      namespace: 'shop',
      claimId: 'scan-1',
      instanceId: 'replica-2',
      ttlMs: LONG_MS,
      limit: 9,
      entries,
    };
    const answers = (await recovery?.takeLapsed(request, signal)) ?? [];
    deepStrictEqual(
      new Map(answers.map((lapsed) => [lapsed.entryKey, [lapsed.attempt, lapsed.abandoned]])),
      new Map([
        ['a', [1, true]],
        ['b', [2, false]],
      ]),
    );
  }),

  rule('ten replicas that scan at once take each lapsed claim once', async (store) => {
    const replicas = await Promise.all(Array.from({ length: 10 }, () => store.replica()));
    const at = store.clock.now();
    const claims = Array.from({ length: 20 }, (_, i) =>
      ask(at - i, `pass-${i}`, { instanceId: 'dead', holds: { recoveryTtlMs: store.shortMs } }),
    );
    await claimMany((replicas[0] as (typeof replicas)[0]).claimer, claims);
    await store.pass(store.shortMs);
    const scans = replicas.map(({ recovery }, i) => takeLapsed(recovery, { by: `replica-${i}`, limit: 4 }));
    const found = (await Promise.all(scans)).flat();
    // Whoever met another's claims may have found fewer than it asked for; none is lost for that.
    const later = await takeLapsed(replicas[0]?.recovery, { by: 'last' });
    const instants = [...found, ...later].map(({ atMs }) => atMs);
    deepStrictEqual(
      instants.sort((x, y) => y - x),
      claims.map(({ context }) => context.scheduledAt.getTime()),
    );
    deepStrictEqual(new Set([...found, ...later].map(({ attempt }) => attempt)), new Set([2]));
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

  rule('only the entries of the request are taken, of its namespace: keys are kept whole and apart', async (store) => {
    const { claimer, recovery } = await store.replica();
    const at = store.clock.now();
    const holds = { recoveryTtlMs: store.shortMs };
    for (const namespace of ['shop', 'bank'])
      await claimMany(
        claimer,
        ODD_KEYS.map((entryKey, i) => ask(at, `of key ${i}`, { entryKey, namespace, holds })),
      );
    await store.pass(store.shortMs);
    deepStrictEqual(await takeLapsed(recovery, { entries: [] }), []);
    deepStrictEqual(await takeLapsed(recovery, { entries: ['never heard of'] }), []);
    deepStrictEqual(await takeLapsed(recovery, { namespace: 'other', entries: ODD_KEYS }), []);
    const asked = ODD_KEYS.filter((_, i) => i % 2 === 0);
    const keys = (await takeLapsed(recovery, { entries: asked })).map(({ entryKey }) => entryKey);
    deepStrictEqual(keys.sort(), [...asked].sort());
    const rest = (await takeLapsed(recovery, { entries: ODD_KEYS })).map(({ entryKey }) => entryKey);
    deepStrictEqual(rest.sort(), ODD_KEYS.filter((key) => !asked.includes(key)).sort());
    equal((await takeLapsed(recovery, { namespace: 'bank', entries: ODD_KEYS })).length, ODD_KEYS.length);
  }),

  rule('a scan raises no watermark and changes no schedule', async (store) => {
    const { claimer, recovery } = await store.replica();
    const at = store.clock.now();
    const holds = { recoveryTtlMs: store.shortMs };
    await outcome(claimer, ask(at, 'pass-1', { schedule: 'new' }));
    await outcome(claimer, ask(at - MINUTE, 'pass-2', { schedule: 'old', holds }));
    await store.pass(store.shortMs);
    deepStrictEqual(await takeLapsed(recovery), [taken(at - MINUTE, 2)]);
    await lastFireIs(claimer, 'report', [at, 'new']);
  }),

  rule(
    'the claims of an entry that is paused are neither taken over nor abandoned before it is resumed',
    async (store) => {
      const [a, b] = [await store.replica(), await store.replica()];
      const at = store.clock.now();
      const holds = { recoveryTtlMs: store.shortMs };
      for (const entryKey of ['report', 'other']) await outcome(a.claimer, ask(at, 'pass-1', { entryKey, holds }));
      await pause(a.claimer);
      await store.pass(store.shortMs);
      const entries = ['report', 'other'];
      deepStrictEqual(await takeLapsed(b.recovery, { entries }), [taken(at, 2, 'other')]);
      deepStrictEqual(await takeLapsed(b.recovery, { entries, maxAttempts: 1 }), []);
      equal(await renew(a.recovery, heldClaim(at, 'pass-1'), 1), true);
      await resume(a.claimer);
      await store.pass(store.shortMs);
      deepStrictEqual(await takeLapsed(b.recovery, { entries }), [taken(at, 2)]);
    },
    { needs: ['pause'] },
  ),

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
