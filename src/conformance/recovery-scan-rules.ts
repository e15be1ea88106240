import { deepStrictEqual, equal } from 'node:assert/strict';
import {
  ask,
  claimMany,
  heldClaim,
  LONG_MS,
  lastFireIs,
  MINUTE,
  ODD_KEYS,
  outcome,
  pause,
  resume,
  signal,
  takeLapsed,
} from './asking.js';
import type { ConformanceRule } from './conformance-rule.js';
import { abandoned, isNotHeld, renew, rule, taken } from './recovery-asking.js';

/** What the port says of `takeLapsed`: what a request takes, and what it leaves. */
export const RECOVERY_SCAN_RULES: readonly ConformanceRule[] = [
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
];
