import { deepStrictEqual, ok } from 'node:assert/strict';
import type { Member, MembershipStore } from '../coordination/membership-store.js';

/** An empty store, made anew for each rule. */
export interface MembershipStoreSetup {
  /** An expiry that `pass` can outlast: long for a clock that is moved by hand, half a second or so where it must be waited for. */
  readonly shortExpiryMs: number;
  /** Moves the store's clock on by at least this, or waits until it has moved by itself. */
  pass(ms: number): Promise<void>;
  /** The membership of a further replica on the same store, open. */
  replica(): Promise<MembershipStore>;
  close(): Promise<void>;
}

export interface MembershipStoreRule {
  readonly rule: string;
  readonly check: (setup: MembershipStoreSetup) => Promise<void>;
}

const { signal } = new AbortController();
/** Longer than any run of a rule. */
const LONG_MS = 600_000;

const member = (instanceId: string, memberName = instanceId): Member => ({ instanceId, memberName });

const heartbeat = async (store: MembershipStore, who: Member, expiryMs = LONG_MS, namespace = 'shop') =>
  plain(await store.heartbeat(namespace, who, expiryMs, signal));

const members = async (store: MembershipStore, namespace = 'shop') => plain(await store.members(namespace, signal));

const leave = (store: MembershipStore, instanceId: string, namespace = 'shop') =>
  store.leave(namespace, instanceId, signal);

/** The order of members means nothing. */
const plain = (list: readonly Member[]) =>
  list.map(({ instanceId, memberName }) => [instanceId, memberName]).sort(([a = ''], [b = '']) => (a < b ? -1 : 1));

const ids = (list: readonly (readonly string[])[]) => list.map(([instanceId]) => instanceId);

const KEYS = [
  ...[`${'x'.repeat(299)}1`, `${'x'.repeat(299)}2`, 'x'.repeat(299), 'Pod', 'pod', 'é', 'e\u0301'],
  ...['__proto__', 'constructor', '@{ }*./', "it's", '"quoted"', '%_', '\\', '}{', 'a b', 'a:b', 'null', '0'],
  ...['😀', '👩‍👩‍👧', '日本'],
];

/** What DESIGN 6 and the port say of membership, one rule each. Checks throw; any test runner can run them. */
export const MEMBERSHIP_STORE_RULES: readonly MembershipStoreRule[] = [
  {
    rule: 'nobody is a member of a namespace that nobody joined',
    check: async ({ replica }) => {
      deepStrictEqual(await members(await replica()), []);
    },
  },
  {
    rule: 'a heartbeat answers all live members, the one that asks included',
    check: async ({ replica }) => {
      const [a, b] = [await replica(), await replica()];
      deepStrictEqual(await heartbeat(a, member('i-1', 'pod-1')), [['i-1', 'pod-1']]);
      const both = [
        ['i-1', 'pod-1'],
        ['i-2', 'pod-2'],
      ];
      deepStrictEqual(await heartbeat(b, member('i-2', 'pod-2')), both);
      deepStrictEqual(await members(a), both);
    },
  },
  {
    rule: 'a heartbeat of a member makes no second one',
    check: async ({ replica }) => {
      const a = await replica();
      await heartbeat(a, member('i-1'));
      deepStrictEqual(await heartbeat(a, member('i-1')), [['i-1', 'i-1']]);
    },
  },
  {
    rule: 'ten replicas that join at once are all members',
    check: async ({ replica }) => {
      const replicas = await Promise.all(Array.from({ length: 10 }, replica));
      await Promise.all(replicas.map((store, i) => heartbeat(store, member(`i-${i}`))));
      deepStrictEqual(
        ids(await members(replicas[0] as MembershipStore)),
        replicas.map((_, i) => `i-${i}`),
      );
    },
  },
  {
    rule: 'a member without a heartbeat is gone at its expiry, by the clock of the store',
    check: async ({ replica, pass, shortExpiryMs }) => {
      const [a, b] = [await replica(), await replica()];
      await heartbeat(a, member('i-1'), shortExpiryMs);
      await heartbeat(b, member('i-2'));
      await pass(shortExpiryMs);
      deepStrictEqual(ids(await members(a)), ['i-2']);
      deepStrictEqual(ids(await heartbeat(b, member('i-2'))), ['i-2']);
    },
  },
  {
    rule: 'a heartbeat counts the expiry anew from its time, longer or shorter',
    check: async ({ replica, pass, shortExpiryMs }) => {
      const a = await replica();
      await heartbeat(a, member('i-1'), shortExpiryMs);
      await heartbeat(a, member('i-1'));
      await heartbeat(a, member('i-2'));
      await heartbeat(a, member('i-2'), shortExpiryMs);
      await pass(shortExpiryMs);
      deepStrictEqual(ids(await members(a)), ['i-1']);
    },
  },
  {
    rule: 'a member that was gone joins again',
    check: async ({ replica, pass, shortExpiryMs }) => {
      const a = await replica();
      await heartbeat(a, member('i-1'), shortExpiryMs);
      await pass(shortExpiryMs);
      deepStrictEqual(ids(await heartbeat(a, member('i-1'))), ['i-1']);
      await leave(a, 'i-1');
      deepStrictEqual(ids(await heartbeat(a, member('i-1'))), ['i-1']);
    },
  },
  {
    rule: 'a member that leaves is gone at once, and only it',
    check: async ({ replica }) => {
      const [a, b] = [await replica(), await replica()];
      for (const id of ['i-1', 'i-2', 'i-3']) await heartbeat(a, member(id));
      await leave(a, 'i-2');
      deepStrictEqual(ids(await members(b)), ['i-1', 'i-3']);
    },
  },
  {
    rule: 'leaving twice, or without having joined, is no error',
    check: async ({ replica }) => {
      const a = await replica();
      await leave(a, 'never');
      await heartbeat(a, member('i-1'));
      await leave(a, 'i-1');
      await leave(a, 'i-1');
      deepStrictEqual(await members(a), []);
    },
  },
  {
    rule: 'two instances may share a member name while one replaces the other',
    check: async ({ replica }) => {
      const [a, b] = [await replica(), await replica()];
      await heartbeat(a, member('i-old', 'pod-0'));
      deepStrictEqual(await heartbeat(b, member('i-new', 'pod-0')), [
        ['i-new', 'pod-0'],
        ['i-old', 'pod-0'],
      ]);
      await leave(a, 'i-old');
      deepStrictEqual(await members(b), [['i-new', 'pod-0']]);
    },
  },
  {
    rule: 'the name of the last heartbeat counts',
    check: async ({ replica }) => {
      const a = await replica();
      await heartbeat(a, member('i-1', 'before'));
      await heartbeat(a, member('i-1', 'after'));
      deepStrictEqual(await members(a), [['i-1', 'after']]);
    },
  },
  {
    rule: 'ids and names are kept whole and apart: 300 characters, emoji, __proto__, Pod beside pod',
    check: async ({ replica }) => {
      const a = await replica();
      const reversed = [...KEYS].reverse();
      for (const [i, key] of KEYS.entries()) await heartbeat(a, member(key, reversed[i]));
      deepStrictEqual(await members(a), plain(KEYS.map((key, i) => member(key, reversed[i]))));
      for (const key of KEYS.slice(1)) await leave(a, key);
      deepStrictEqual(ids(await members(a)), KEYS.slice(0, 1));
    },
  },
  {
    rule: 'namespaces do not see each other',
    check: async ({ replica }) => {
      const a = await replica();
      for (const namespace of KEYS) await heartbeat(a, member(`in ${namespace}`), LONG_MS, namespace);
      for (const namespace of KEYS) deepStrictEqual(ids(await members(a, namespace)), [`in ${namespace}`]);
      await leave(a, `in ${KEYS[1]}`, KEYS[0] as string);
      ok(ids(await members(a, KEYS[1] as string)).length === 1, 'leaving one namespace leaves no other');
      deepStrictEqual(await members(a, 'other'), []);
    },
  },
];
