import { deepStrictEqual, equal, ok } from 'node:assert/strict';
import { DEFAULT_CLAIM_PROTOCOL } from '../coordination/claim-protocol.js';
import { overlapLeaseName } from '../coordination/overlap-lease.js';
import {
  ask,
  claim,
  claimMany,
  grantedToken,
  isSuperseded,
  LONG_MS,
  lastFireIs,
  MINUTE,
  ODD_KEYS,
  outcome,
  overlapLease,
  signal,
  wordOf,
} from './asking.js';
import { type ConformanceRule, ruleIn } from './conformance-rule.js';

const rule = ruleIn('overlap', ['repeatable', 'claimMany', 'holding', 'leases']);
const holds = { overlapTtlMs: LONG_MS };
const leaseOf = (owner: string, token: number, entryKey = 'report') => ({
  namespace: 'shop',
  name: overlapLeaseName(entryKey),
  owner,
  token,
});

/** What the claimer port says of `overlapTtlMs`, one rule each. */
export const OVERLAP_RULES: readonly ConformanceRule[] = [
  rule('a granted claim takes the overlap lease, which its claim id then renews and releases', async (store) => {
    const [{ claimer, leases }, other] = [await store.replica(), await store.replica()];
    const token = await grantedToken(claimer, ask(store.clock.now(), 'pass-1', { holds }));
    const record = await overlapLease(other.leases);
    deepStrictEqual([record?.owner, record?.token, record?.value], ['pass-1', token, null]);
    ok(record !== undefined && record.expiresInMs > 0 && record.expiresInMs <= LONG_MS, `${record?.expiresInMs} ms`);
    equal(await leases?.renew(leaseOf('pass-1', token), { ttlMs: LONG_MS }, signal), true);
    equal(await leases?.renew(leaseOf('replica-1', token), { ttlMs: LONG_MS }, signal), false);
    equal(await leases?.release(leaseOf('pass-1', token), {}, signal), true);
    equal((await overlapLease(leases))?.owner, null);
  }),

  rule('while another run holds the overlap lease the answer is overlap, and the claim stays made', async (store) => {
    const [a, b] = [await store.replica(), await store.replica()];
    const at = store.clock.now();
    const token = await grantedToken(a.claimer, ask(at - MINUTE, 'pass-1', { holds }));
    equal(await outcome(b.claimer, ask(at, 'pass-2', { holds, schedule: 'new' })), 'overlap');
    equal(await outcome(a.claimer, ask(at, 'pass-3', { holds })), false);
    equal(await outcome(a.claimer, ask(at, 'pass-3')), false);
    await lastFireIs(a.claimer, 'report', [at, 'new']);
    const record = await overlapLease(a.leases);
    deepStrictEqual([record?.owner, record?.token], ['pass-1', token]);
  }),

  rule(
    'a pass that was told overlap and asks again is granted the lease once it is free, and only then',
    async (store) => {
      const [a, b] = [await store.replica(), await store.replica()];
      const at = store.clock.now();
      const first = await grantedToken(a.claimer, ask(at - MINUTE, 'pass-1', { holds }));
      const waiting = ask(at, 'pass-2', { holds });
      equal(await outcome(b.claimer, waiting), 'overlap');
      equal(await outcome(b.claimer, waiting), 'overlap');
      equal(await a.leases?.release(leaseOf('pass-1', first), {}, signal), true);
      ok((await grantedToken(b.claimer, waiting)) > first, 'the token grew');
      equal((await overlapLease(a.leases))?.owner, 'pass-2');
    },
  ),

  rule(
    'a pass that has the lease and asks again has it with a higher token, and the lower one holds nothing',
    async (store) => {
      const [a, b] = [await store.replica(), await store.replica()];
      const asked = ask(store.clock.now(), 'pass-1', { holds });
      const first = await grantedToken(a.claimer, asked);
      const second = await grantedToken(b.claimer, asked);
      ok(second > first, 'the token grew');
      equal(await a.leases?.renew(leaseOf('pass-1', first), { ttlMs: LONG_MS }, signal), false);
      equal(await a.leases?.renew(leaseOf('pass-1', second), { ttlMs: LONG_MS }, signal), true);
    },
  ),

  rule('a lease that is not renewed expires, and the next fire is granted with a higher token', async (store) => {
    const [a, b] = [await store.replica(), await store.replica()];
    const at = store.clock.now();
    const first = await grantedToken(a.claimer, ask(at - MINUTE, 'pass-1', { holds: { overlapTtlMs: store.shortMs } }));
    await store.pass(store.shortMs);
    ok((await grantedToken(b.claimer, ask(at, 'pass-2', { holds }))) > first, 'the token grew');
    equal(await a.leases?.renew(leaseOf('pass-1', first), { ttlMs: LONG_MS }, signal), false);
  }),

  rule(
    'of one batch the earliest instant gets the lease, wherever it stands; the others are told overlap',
    async (store) => {
      const { claimer, leases } = await store.replica();
      const at = store.clock.now();
      const minutes = [2, 4, 1, 3];
      const answers = await claimMany(
        claimer,
        minutes.map((minute) => ask(at - minute * MINUTE, `pass-${minute}`, { holds })),
      );
      deepStrictEqual(answers.map(wordOf), ['overlap', 'granted', 'overlap', 'overlap']);
      equal((await overlapLease(leases))?.owner, 'pass-4');
      equal(await outcome(claimer, ask(at - MINUTE, 'another pass', { holds })), false);
    },
  ),

  rule('in one batch each claim has the answer to what it asked for: some hold, some do not', async (store) => {
    const { claimer, leases } = await store.replica();
    const at = store.clock.now();
    equal(await claim(claimer, ask(at, 'theirs', { entryKey: 'lost' })), true);
    await grantedToken(claimer, ask(at - MINUTE, 'theirs', { entryKey: 'busy', holds }));
    const keys = ['plain', 'lost', 'holding', 'busy'];
    const answers = await claimMany(
      claimer,
      keys.map((entryKey) => ask(at, `ours ${entryKey}`, entryKey === 'plain' ? { entryKey } : { entryKey, holds })),
    );
    deepStrictEqual(answers.map(wordOf), [true, false, 'granted', 'overlap']);
    equal((await overlapLease(leases, 'holding'))?.owner, 'ours holding');
    equal(await overlapLease(leases, 'plain'), undefined);
  }),

  rule('a claim that does not ask for the lease takes none and heeds none', async (store) => {
    const { claimer, leases } = await store.replica();
    const at = store.clock.now();
    equal(await outcome(claimer, ask(at - 3 * MINUTE, 'plain-1')), true);
    equal(await overlapLease(leases), undefined);
    const token = await grantedToken(claimer, ask(at - 2 * MINUTE, 'pass-1', { holds }));
    equal(await outcome(claimer, ask(at - MINUTE, 'plain-2')), true);
    equal(await claim(claimer, ask(at, 'plain-3')), true);
    const record = await overlapLease(leases);
    deepStrictEqual([record?.owner, record?.token], ['pass-1', token]);
  }),

  rule(
    'a claim that is not granted takes no lease: another pass has it, it lies below the floor, or too far ahead',
    async (store) => {
      const { claimer, leases } = await store.replica();
      const at = store.clock.now();
      // More than a store keeps of an entry, which raises the floor.
      await claimMany(
        claimer,
        Array.from({ length: 300 }, (_, i) => ask(at - 300 + i, 'plain')),
      );
      equal(await outcome(claimer, ask(at - 1, 'pass-1', { holds })), false);
      await isSuperseded(claimer, ask(at - 301, 'pass-2', { holds }));
      const ahead = ask(at + DEFAULT_CLAIM_PROTOCOL.maxClockSkewMs + MINUTE, 'pass-3', { holds });
      equal(await outcome(claimer, ahead), 'CLOCK_AHEAD');
      equal(await overlapLease(leases), undefined);
    },
  ),

  rule('claim, which has no words, is true only where the lease was granted too', async (store) => {
    const { claimer, leases } = await store.replica();
    const at = store.clock.now();
    equal(await claim(claimer, ask(at - MINUTE, 'pass-1', { holds })), true);
    equal((await overlapLease(leases))?.owner, 'pass-1');
    equal(await claim(claimer, ask(at, 'pass-2', { holds })), false);
    equal(await claim(claimer, ask(at, 'pass-3')), false);
  }),

  rule('it is a lease as any other: who acquired it keeps claims out, and its value stays', async (store) => {
    const { claimer, leases } = await store.replica();
    const at = store.clock.now();
    const name = overlapLeaseName('report');
    const request = { namespace: 'shop', name, owner: 'by hand', ttlMs: LONG_MS, value: 'kept' };
    const grant = await leases?.acquire(request, signal);
    ok(grant, 'the lease is acquired');
    equal(await outcome(claimer, ask(at - MINUTE, 'pass-1', { holds })), 'overlap');
    equal(await leases?.release(leaseOf('by hand', grant.token), {}, signal), true);
    ok((await grantedToken(claimer, ask(at, 'pass-2', { holds }))) > grant.token, 'the token grew');
    equal(await leases?.acquire(request, signal), null);
    equal((await overlapLease(leases))?.value, 'kept');
  }),

  rule(
    'ten replicas with ten fires of one entry at once: one is granted the lease, nine are told overlap',
    async (store) => {
      const at = store.clock.now();
      const replicas = await Promise.all(Array.from({ length: 10 }, () => store.replica()));
      const words = await Promise.all(
        replicas.map(({ claimer }, i) =>
          outcome(claimer, ask(at - i, `pass-${i}`, { instanceId: `replica-${i}`, holds })),
        ),
      );
      deepStrictEqual(words.sort(), ['granted', ...new Array(9).fill('overlap')]);
    },
  ),

  rule('each entry has a lease of its own, in each namespace: keys are kept whole and apart', async (store) => {
    const { claimer, leases } = await store.replica();
    const at = store.clock.now();
    const claims = ODD_KEYS.map((entryKey, i) => ask(at, `of key ${i}`, { entryKey, holds }));
    const elsewhere = ask(at, 'elsewhere', { entryKey: 'job', namespace: 'bank', holds });
    const answers = await claimMany(claimer, [...claims, elsewhere]);
    deepStrictEqual(new Set(answers.map(wordOf)), new Set(['granted']));
    for (const [i, entryKey] of ODD_KEYS.entries()) equal((await overlapLease(leases, entryKey))?.owner, `of key ${i}`);
    equal((await overlapLease(leases, 'job', 'bank'))?.owner, 'elsewhere');
  }),
];
