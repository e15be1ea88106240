import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { describeCoordinationBackend } from '../../../src/conformance/describe-coordination-backend.js';
import type { Claim } from '../../../src/coordination/claimer.js';
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

  it('spreads entries over all nodes', async () => {
    for (const { port } of cluster.nodes) {
      expect(Number(await redisCli('-p', String(port), 'dbsize'))).toBeGreaterThan(100);
    }
  });

  it('is found out where the client does not look like one: the batch is asked again by slot', async () => {
    const { client } = connection;
    const calls = client as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
    const plain = Object.fromEntries(
      ['evalsha', 'evalSha', 'eval'].flatMap((method) =>
        typeof calls[method] === 'function' ? [[method, (...args: unknown[]) => calls[method]?.(...args)]] : [],
      ),
    );
    const backend = new RedisBackend({ client: plain as never });
    const namespace = `found out through ${name}`;
    const all = claims(namespace, 'pass-1');
    expect(await backend.claimer.claimMany(all, signal)).toEqual(KEYS.map(() => true));
    const before = await crossSlotErrors();
    expect(before).toBeGreaterThan(0);
    expect(await backend.claimer.claimMany(all, signal)).toEqual(KEYS.map(() => true));
    expect(await crossSlotErrors()).toBe(before);
  });

  describeCoordinationBackend(
    `a Redis Cluster through ${name}`,
    harness(() => connection.client),
    { describe, it },
  );
});
