import { deepStrictEqual, equal, ok, rejects } from 'node:assert/strict';
import { setImmediate as turn } from 'node:timers/promises';
import type { HeldLease, JsonValue, LeaseGrant, LeaseRequest, LeaseStore } from '../coordination/lease-store.js';
import { MAX_LEASE_VALUE_BYTES } from '../coordination/lease-store.js';

/** An empty store, made anew for each rule. */
export interface LeaseStoreSetup {
  /** A life of a hold that `pass` can outlast: long for a clock that is moved by hand, half a second or so where it must be waited for. */
  readonly shortTtlMs: number;
  /** Moves the store's clock on by at least this, or waits until it has moved by itself. */
  pass(ms: number): Promise<void>;
  /** Sets the store's clock, also back; absent where the harness cannot. */
  readonly step?: (byMs: number) => void;
  /** The leases of a further replica on the same store, open. */
  replica(): Promise<LeaseStore>;
  close(): Promise<void>;
}

export interface LeaseStoreRule {
  readonly rule: string;
  /** The rule sets the clock back. */
  readonly steps?: boolean;
  readonly check: (setup: LeaseStoreSetup) => Promise<void>;
}

const { signal } = new AbortController();
/** Longer than any run of a rule. */
const LONG_MS = 600_000;

interface Asked extends Partial<LeaseRequest> {
  /** Sets no value where it is left out. */
  readonly value?: JsonValue;
}

const acquire = (store: LeaseStore, owner: string, asked: Asked = {}) =>
  store.acquire({ namespace: 'shop', name: 'leader', owner, ttlMs: LONG_MS, ...asked }, signal);

/** A grant, as its owner names it from then on. */
async function hold(store: LeaseStore, owner: string, asked: Asked = {}): Promise<HeldLease & LeaseGrant> {
  const grant = await acquire(store, owner, asked);
  ok(grant !== null, `${owner} is granted the lease`);
  return { namespace: asked.namespace ?? 'shop', name: asked.name ?? 'leader', owner, ...grant };
}

const renew = (store: LeaseStore, lease: HeldLease, change: { ttlMs?: number; value?: JsonValue } = {}) =>
  store.renew(heldLease(lease), { ttlMs: LONG_MS, ...change }, signal);

const release = (store: LeaseStore, lease: HeldLease, change: { value?: JsonValue } = {}) =>
  store.release(heldLease(lease), change, signal);

const heldLease = ({ namespace, name, owner, token }: HeldLease): HeldLease => ({ namespace, name, owner, token });

const read = async (store: LeaseStore, name = 'leader', namespace = 'shop') =>
  (await store.read(namespace, [name], signal)).get(name);

/** A value whose JSON text has this many bytes in UTF-8 and fewer characters. */
const valueOfBytes = (bytes: number) => '€'.repeat(Math.floor((bytes - 2) / 3)) + 'x'.repeat((bytes - 2) % 3);

const KEYS = [
  ...[`${'x'.repeat(299)}1`, `${'x'.repeat(299)}2`, 'x'.repeat(299), 'Job', 'job', 'é', 'e\u0301'],
  ...['__proto__', 'constructor', '@{ }*./', "it's", '"quoted"', '%_', '\\', '}{', 'a b', 'a:b', 'null', '0'],
  ...['😀', '👩‍👩‍👧', '日本'],
];

/** What DESIGN 6 and the port say of leases, one rule each. Checks throw; any test runner can run them. */
export const LEASE_STORE_RULES: readonly LeaseStoreRule[] = [
  {
    rule: 'ten replicas that ask for one lease at once: one is granted, nine are not',
    check: async ({ replica }) => {
      const replicas = await Promise.all(Array.from({ length: 10 }, replica));
      const grants = await Promise.all(replicas.map((store, i) => acquire(store, `owner-${i}`)));
      equal(grants.filter((grant) => grant !== null).length, 1);
    },
  },
  {
    rule: 'a held lease is not granted to another, whose value is not written',
    check: async ({ replica }) => {
      const [a, b] = [await replica(), await replica()];
      await hold(a, 'owner-1', { value: 'mine' });
      equal(await acquire(b, 'owner-2', { value: 'theirs' }), null);
      const record = await read(b);
      deepStrictEqual([record?.owner, record?.value], ['owner-1', 'mine']);
    },
  },
  {
    rule: 'the owner that asks again is granted again with a higher token, and the lower one holds nothing any more',
    check: async ({ replica }) => {
      const [a, b] = [await replica(), await replica()];
      const first = await hold(a, 'owner-1');
      const second = await hold(b, 'owner-1');
      ok(second.token > first.token, 'the token grew');
      equal(await renew(a, first), false);
      equal(await release(a, first), false);
      equal(await renew(a, second), true);
    },
  },
  {
    rule: 'the token grows with every grant, across release and expiry',
    check: async ({ replica, pass, shortTtlMs }) => {
      const a = await replica();
      const tokens: number[] = [];
      for (const owner of ['owner-1', 'owner-2', 'owner-1']) {
        const held = await hold(a, owner);
        tokens.push(held.token);
        equal(await release(a, held), true);
      }
      tokens.push((await hold(a, 'owner-1', { ttlMs: shortTtlMs })).token);
      await pass(shortTtlMs);
      tokens.push((await hold(a, 'owner-2')).token);
      for (const token of tokens) ok(Number.isSafeInteger(token), `${token} is a whole number`);
      deepStrictEqual(
        tokens,
        [...new Set(tokens)].sort((x, y) => x - y),
      );
    },
  },
  {
    rule: 'a hold that is not renewed expires by the clock of the store, and another is granted the lease',
    check: async ({ replica, pass, shortTtlMs }) => {
      const [a, b] = [await replica(), await replica()];
      const held = await hold(a, 'owner-1', { ttlMs: shortTtlMs });
      await pass(shortTtlMs);
      const next = await hold(b, 'owner-2');
      ok(next.token > held.token, 'the token grew');
    },
  },
  {
    rule: 'a renewed hold lives on from the renewal',
    check: async ({ replica, pass, shortTtlMs }) => {
      const [a, b] = [await replica(), await replica()];
      const held = await hold(a, 'owner-1', { ttlMs: shortTtlMs });
      equal(await renew(a, held), true);
      await pass(shortTtlMs);
      equal(await acquire(b, 'owner-2'), null);
      equal(await renew(a, held, { ttlMs: shortTtlMs }), true);
      await pass(shortTtlMs);
      ok((await acquire(b, 'owner-2')) !== null, 'a renewal can shorten the hold too');
    },
  },
  {
    rule: 'a hold that expired cannot be renewed or released, even if nobody took it',
    check: async ({ replica, pass, shortTtlMs }) => {
      const a = await replica();
      const held = await hold(a, 'owner-1', { ttlMs: shortTtlMs, value: 'kept' });
      await pass(shortTtlMs);
      equal(await renew(a, held, { value: 'late' }), false);
      equal(await release(a, held, { value: 'late' }), false);
      deepStrictEqual(await read(a), { owner: null, token: held.token, value: 'kept', expiresInMs: 0 });
    },
  },
  {
    rule: 'a holder that stalls past its hold renews and releases nothing of the next one',
    check: async ({ replica, pass, shortTtlMs }) => {
      const [a, b] = [await replica(), await replica()];
      const stalled = await hold(a, 'owner-1', { ttlMs: shortTtlMs });
      await pass(shortTtlMs);
      const next = await hold(b, 'owner-2', { value: 'next' });
      equal(await renew(a, stalled, { value: 'stale' }), false);
      equal(await release(a, stalled, { value: 'stale' }), false);
      const record = await read(a);
      deepStrictEqual([record?.owner, record?.token, record?.value], ['owner-2', next.token, 'next']);
    },
  },
  {
    rule: 'renew and release compare the owner, not the token alone',
    check: async ({ replica }) => {
      const a = await replica();
      const held = await hold(a, 'owner-1', { value: 'mine' });
      const other = { ...held, owner: 'owner-2' };
      equal(await renew(a, other, { value: 'theirs' }), false);
      equal(await release(a, other, { value: 'theirs' }), false);
      const record = await read(a);
      deepStrictEqual([record?.owner, record?.value], ['owner-1', 'mine']);
      equal(await renew(a, held), true);
    },
  },
  {
    rule: 'renew and release compare the token, not the owner alone',
    check: async ({ replica }) => {
      const a = await replica();
      const held = await hold(a, 'owner-1', { value: 'mine' });
      for (const token of [held.token - 1, held.token + 1, 0]) {
        equal(await renew(a, { ...held, token }, { value: 'stale' }), false);
        equal(await release(a, { ...held, token }, { value: 'stale' }), false);
      }
      const record = await read(a);
      deepStrictEqual([record?.owner, record?.value], ['owner-1', 'mine']);
    },
  },
  {
    rule: 'a lease that nobody ever held cannot be renewed or released, and has no record',
    check: async ({ replica }) => {
      const a = await replica();
      const never = { namespace: 'shop', name: 'never', owner: 'owner-1', token: 1 };
      equal(await renew(a, never), false);
      equal(await release(a, never), false);
      equal(await read(a, 'never'), undefined);
    },
  },
  {
    rule: 'a released lease is granted to another at once, and cannot be released twice',
    check: async ({ replica }) => {
      const [a, b] = [await replica(), await replica()];
      const held = await hold(a, 'owner-1');
      equal(await release(a, held), true);
      equal(await release(a, held), false);
      equal(await renew(a, held), false);
      ok((await acquire(b, 'owner-2')) !== null, 'the other is granted the lease');
    },
  },
  {
    rule: 'a record stays after release: unowned, with its token and its value',
    check: async ({ replica }) => {
      const [a, b] = [await replica(), await replica()];
      const held = await hold(a, 'owner-1', { value: { due: 1 } });
      equal(await release(a, held, { value: { due: 2 } }), true);
      deepStrictEqual(await read(b), { owner: null, token: held.token, value: { due: 2 }, expiresInMs: 0 });
    },
  },
  {
    rule: 'the record of a held lease tells the owner and how long the hold lives',
    check: async ({ replica }) => {
      const [a, b] = [await replica(), await replica()];
      const held = await hold(a, 'owner-1');
      const record = await read(b);
      deepStrictEqual([record?.owner, record?.token, record?.value], ['owner-1', held.token, null]);
      ok(record !== undefined && record.expiresInMs > 0 && record.expiresInMs <= LONG_MS, `${record?.expiresInMs} ms`);
    },
  },
  {
    rule: 'many records are read at once; names without one are absent',
    check: async ({ replica }) => {
      const a = await replica();
      for (const name of ['a', 'b']) await hold(a, `owner of ${name}`, { name });
      const records = await a.read('shop', ['b', 'none', 'a'], signal);
      deepStrictEqual([...records.keys()].sort(), ['a', 'b']);
      equal(records.get('b')?.owner, 'owner of b');
      equal((await a.read('shop', [], signal)).size, 0);
    },
  },
  {
    rule: 'the value stays where none is given, over renewal, release, expiry and the next owner; `null` is a value',
    check: async ({ replica, pass, shortTtlMs }) => {
      const [a, b] = [await replica(), await replica()];
      equal((await hold(a, 'owner-1')).value, null);
      const held = await hold(a, 'owner-1', { value: 'kept' });
      equal(held.value, 'kept');
      equal(await renew(a, held), true);
      equal(await release(a, held), true);
      const next = await hold(b, 'owner-2', { ttlMs: shortTtlMs });
      equal(next.value, 'kept');
      await pass(shortTtlMs);
      const last = await hold(a, 'owner-1');
      equal(last.value, 'kept');
      equal(await renew(a, last, { value: 'renewed' }), true);
      equal((await read(b))?.value, 'renewed');
      equal((await hold(a, 'owner-1', { value: null })).value, null);
    },
  },
  {
    rule: 'whatever JSON holds comes back as it was',
    check: async ({ replica }) => {
      const a = await replica();
      const values: JsonValue[] = [
        ...[true, false, 0, -1.5, 1e21, 12_345_678_901_234, '', '0', 'null', '{}', '"', "it's\n", '😀'],
        ...[[], {}, [null, [1, { a: [] }]], { due: 1_767_225_600_000, step: 3, 'a.b': ['$x'] }],
        JSON.parse('{"__proto__":1,"constructor":{}}'),
      ];
      for (const value of values) {
        deepStrictEqual((await hold(a, 'owner-1', { value })).value, value);
        deepStrictEqual((await read(a))?.value, value);
      }
    },
  },
  {
    rule: `a value of ${MAX_LEASE_VALUE_BYTES} bytes is kept, a larger one refused without a change`,
    check: async ({ replica }) => {
      const a = await replica();
      const largest = valueOfBytes(MAX_LEASE_VALUE_BYTES);
      const tooLarge = valueOfBytes(MAX_LEASE_VALUE_BYTES + 1);
      const held = await hold(a, 'owner-1', { value: largest });
      equal(held.value, largest);
      await rejects(async () => acquire(a, 'owner-1', { value: tooLarge }));
      await rejects(async () => renew(a, held, { value: tooLarge }));
      await rejects(async () => release(a, held, { value: tooLarge }));
      await rejects(async () => acquire(a, 'owner-1', { name: 'other', value: tooLarge }));
      const record = await read(a);
      deepStrictEqual([record?.owner, record?.token, record?.value], ['owner-1', held.token, largest]);
      equal(await read(a, 'other'), undefined);
    },
  },
  {
    rule: 'names are kept whole and apart: 300 characters, emoji, __proto__, Job beside job',
    check: async ({ replica }) => {
      const a = await replica();
      for (const name of KEYS) equal((await hold(a, `owner of ${name}`, { name, value: name })).value, name);
      const records = await a.read('shop', KEYS, signal);
      deepStrictEqual([...records.keys()].sort(), [...KEYS].sort());
      for (const name of KEYS) {
        deepStrictEqual([records.get(name)?.owner, records.get(name)?.value], [`owner of ${name}`, name]);
      }
    },
  },
  {
    rule: 'namespaces do not see each other',
    check: async ({ replica }) => {
      const a = await replica();
      for (const namespace of KEYS) await hold(a, `owner in ${namespace}`, { namespace });
      for (const namespace of KEYS) equal((await read(a, 'leader', namespace))?.owner, `owner in ${namespace}`);
      await hold(a, 'owner-1', { namespace: 'a:b', name: 'c' });
      await hold(a, 'owner-2', { namespace: 'a', name: 'b:c' });
      equal(await read(a, 'leader', 'other'), undefined);
    },
  },
  {
    rule: 'the token does not fall when the clock of the store is set back, and a hold does not become shorter',
    steps: true,
    check: async ({ replica, step }) => {
      const [a, b] = [await replica(), await replica()];
      const held = await hold(a, 'owner-1');
      step?.(-24 * 3_600_000);
      equal(await acquire(b, 'owner-2'), null);
      equal(await renew(a, held), true);
      const again = await hold(a, 'owner-1');
      ok(again.token > held.token, 'the token grew');
      equal(await release(a, again), true);
      ok((await hold(b, 'owner-2')).token > again.token, 'the token grew');
    },
  },
  {
    rule: 'counting under a lease loses no count: five replicas, ten times each, tokens in the order of the holds',
    check: async ({ replica }) => {
      const replicas = await Promise.all(Array.from({ length: 5 }, replica));
      const tokens: number[] = [];
      let counter = 0;
      await Promise.all(
        replicas.map(async (store, i) => {
          for (let round = 0; round < 10; round += 1) {
            const held = await holdInTheEnd(store, `owner-${i}`);
            const seen = counter;
            // Whoever else holds the lease now reads the same count.
            await turn();
            counter = seen + 1;
            tokens.push(held.token);
            equal(await release(store, held, { value: Number(held.value ?? 0) + 1 }), true);
          }
        }),
      );
      equal(counter, 50);
      equal((await read(replicas[0] as LeaseStore))?.value, 50);
      deepStrictEqual(
        tokens,
        [...new Set(tokens)].sort((x, y) => x - y),
      );
    },
  },
];

async function holdInTheEnd(store: LeaseStore, owner: string): Promise<HeldLease & LeaseGrant> {
  for (let attempt = 0; attempt < 5_000; attempt += 1) {
    const grant = await acquire(store, owner);
    if (grant !== null) return { namespace: 'shop', name: 'leader', owner, ...grant };
    await turn();
  }
  throw new Error(`${owner} was never granted the lease, though the others give it back`);
}
