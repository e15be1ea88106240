import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { describeCoordinationBackend } from '../../../src/conformance/describe-coordination-backend.js';
import type { Claim } from '../../../src/coordination/claimer.js';
import { overlapLeaseName } from '../../../src/coordination/overlap-lease.js';
import type { LapsedClaim } from '../../../src/coordination/recovery-store.js';
import { RedisBackend } from '../../../src/coordination/redis/index.js';
import { RedisCluster, redisCli } from '../../servers/redis.js';
import { asked, CLIENTS, type Connection, harness, signal } from './redis.fixture.js';

let cluster: RedisCluster;

beforeAll(async () => {
  cluster = await RedisCluster.start();
}, 60_000);
afterAll(() => cluster?.stop());

/** Refusals since the nodes started, by the server's own count. */
async function crossSlotErrors(): Promise<number> {
  const counts = cluster.nodes.map(async ({ port }) => {
    const stats = await redisCli('-p', String(port), 'info', 'errorstats');
    return Number(/errorstat_CROSSSLOT:count=(\d+)/.exec(stats)?.[1] ?? 0);
  });
  return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
}

const KEYS = Array.from({ length: 1_000 }, (_, i) => `entry-${i}`);
const scheduledAt = new Date();
const claims = (namespace: string, pass: string): Claim[] =>
  KEYS.map((entryKey) => asked({ namespace, entryKey, scheduledAt, claimId: `${pass} of ${entryKey}` }));

describe.each(CLIENTS)('a Redis Cluster of three nodes through $name', ({ name, connectCluster }) => {
  let connection: Connection;

  beforeAll(async () => {
    connection = await connectCluster(cluster.addresses);
  });
  afterAll(() => connection?.close());

  /** The client, without what tells that it is a Cluster's. */
  function plainClient() {
    const calls = connection.client as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
    return Object.fromEntries(
      ['evalsha', 'evalSha', 'eval'].flatMap((method) =>
        typeof calls[method] === 'function' ? [[method, (...args: unknown[]) => calls[method]?.(...args)]] : [],
      ),
    );
  }

  it('takes a batch of all slots without a cross-slot error', async () => {
    const before = await crossSlotErrors();
    const backend = new RedisBackend({ client: connection.client });
    const namespace = `batch through ${name}`;
    expect(await backend.claimer.claimMany(claims(namespace, 'pass-1'), signal)).toEqual(KEYS.map(() => true));
    expect(await backend.claimer.claimMany(claims(namespace, 'pass-2'), signal)).toEqual(KEYS.map(() => false));
    expect((await backend.claimer.lastFire(namespace, KEYS, signal)).size).toBe(KEYS.length);
    const leases = KEYS.slice(0, 50).map((key) => ({ namespace, name: key, owner: 'owner-1', ttlMs: 60_000 }));
    for (const lease of leases) await backend.leases.acquire(lease, signal);
    expect((await backend.leases.read(namespace, KEYS, signal)).size).toBe(leases.length);
    expect(await crossSlotErrors()).toBe(before);
  });

  it('takes leases with claims, and lapsed claims over, without a cross-slot error', async () => {
    const before = await crossSlotErrors();
    const backend = new RedisBackend({ client: connection.client });
    const namespace = `holds through ${name}`;
    const holding = (pass: string, atMs: number): Claim[] =>
      KEYS.map((entryKey) =>
        asked({
          ...{ namespace, entryKey, scheduledAt: new Date(atMs), claimId: `${pass} of ${entryKey}` },
          holds: { overlapTtlMs: 60_000, recoveryTtlMs: 60_000 },
        }),
      );
    const first = holding('pass-1', scheduledAt.getTime());
    const grant = { granted: true, overlapToken: 1 };
    expect(await backend.claimer.claimMany(first, signal)).toEqual(KEYS.map(() => grant));
    const next = holding('pass-2', scheduledAt.getTime() + 1);
    expect(await backend.claimer.claimMany(next, signal)).toEqual(KEYS.map(() => 'overlap'));
    const [lease] = first as [Claim];
    const { entryKey, claimId } = lease.context;
    const held = { namespace, name: overlapLeaseName(entryKey), owner: claimId, token: 1 };
    expect(await backend.leases.renew(held, { ttlMs: 60_000 }, signal)).toBe(true);
    expect(await backend.leases.read(namespace, KEYS.map(overlapLeaseName), signal)).toHaveProperty(
      'size',
      KEYS.length,
    );

    await Promise.all(first.map(({ context }) => backend.recovery.release(context, signal)));
    const request = { namespace, claimId: 'scan', instanceId: 'replica-2', ttlMs: 60_000, limit: 900 };
    const entries = KEYS.map((entryKey) => ({ entryKey, maxAttempts: 2 }));
    const taken = await backend.recovery.takeLapsed({ ...request, entries }, signal);
    expect(taken).toHaveLength(900);
    expect(await backend.recovery.takeLapsed({ ...request, entries }, signal)).toHaveLength(100);
    const [one] = taken as [LapsedClaim];
    expect(await backend.recovery.renew({ ...one, ...request }, 60_000, signal)).toBe(true);
    expect(await backend.recovery.finish({ ...one, ...request }, signal)).toBe(true);

    await backend.claimer.pause(namespace, 'entry-1', signal);
    expect(await backend.claimer.resume(namespace, 'entry-1', { keepWatermark: false }, signal)).toBeInstanceOf(Date);
    for (const key of KEYS) await backend.claimer.forget(namespace, key, signal);
    expect(await backend.claimer.lastFire(namespace, KEYS, signal)).toEqual(new Map());
    expect(await crossSlotErrors()).toBe(before);
  });

  it('spreads entries over all nodes', async () => {
    for (const { port } of cluster.nodes) {
      expect(Number(await redisCli('-p', String(port), 'dbsize'))).toBeGreaterThan(100);
    }
  });

  it('is found out where the client does not look like one: the batch is asked again by slot', async () => {
    const backend = new RedisBackend({ client: plainClient() as never });
    const namespace = `found out through ${name}`;
    const all = claims(namespace, 'pass-1');
    expect(await backend.claimer.claimMany(all, signal)).toEqual(KEYS.map(() => true));
    const before = await crossSlotErrors();
    expect(before).toBeGreaterThan(0);
    expect(await backend.claimer.claimMany(all, signal)).toEqual(KEYS.map(() => true));
    expect(await crossSlotErrors()).toBe(before);
  });

  it('is found out by a request for lapsed claims too', async () => {
    const backend = new RedisBackend({ client: plainClient() as never });
    const entries = KEYS.map((entryKey) => ({ entryKey, maxAttempts: 2 }));
    const namespace = `lapsed through ${name}`;
    const request = { namespace, entries, claimId: 'scan', instanceId: 'replica-1', ttlMs: 60_000, limit: 10 };
    const before = await crossSlotErrors();
    expect(await backend.recovery.takeLapsed(request, signal)).toEqual([]);
    expect(await crossSlotErrors()).toBe(before + 1);
    expect(await backend.recovery.takeLapsed(request, signal)).toEqual([]);
    expect(await crossSlotErrors()).toBe(before + 1);
  });

  describeCoordinationBackend(
    `a Redis Cluster through ${name}`,
    harness(() => connection.client),
    { describe, it },
  );
});
