import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Pool } from 'pg';
import { type PgBouncer, startPgBouncer } from '../../servers/pgbouncer.js';
import { type PostgresServer, startPostgres } from '../../servers/postgres.js';
import { claimOf, holdingClaimOf, openReplica, type Replica } from './replicas.js';

const ZONES = ['UTC', 'Asia/Tokyo', 'America/New_York', 'Pacific/Chatham'];

let server: PostgresServer;
let bouncer: PgBouncer;
const replicas: Replica[] = [];

beforeAll(async () => {
  server = await startPostgres();
  bouncer = await startPgBouncer(server.url, {
    // As short as PgBouncer knows: each session is replaced about every second.
    serverLifetimeSeconds: 1,
    poolSize: 3,
    aliases: Object.fromEntries(
      ZONES.map((zone, i) => [`zone_${i}`, `SET TimeZone = '${zone}'; SET DateStyle = 'German'`]),
    ),
  });
}, 60_000);

afterAll(async () => {
  for (const replica of replicas) await replica.close();
  await bouncer?.stop();
  await server?.stop();
});

async function replica(url: string): Promise<Replica> {
  const opened = await openReplica({ connectionString: url, max: 5 }, { schema: 'pooled' });
  replicas.push(opened);
  return opened;
}

const sessionOf = async (pool: Pool) => (await pool.query('SELECT pg_backend_pid() AS pid')).rows[0].pid as number;

describe('behind a pooler in transaction mode, which gives each statement another session and replaces each within a second', () => {
  it('one run per fire, and a leader that stays the leader', async () => {
    const direct = await replica(server.url);
    const racers = await Promise.all(ZONES.map((_, i) => replica(bouncer.urlWith(`zone_${i}`))));
    const all = [direct, ...racers];
    const { signal } = new AbortController();
    const lease = await racers[0]?.backend.leases.acquire({
      namespace: 'shop',
      name: 'leader',
      owner: 'a',
      ttlMs: 30_000,
    });
    const held = { namespace: 'shop', name: 'leader', owner: 'a', token: lease?.token ?? 0 };

    const sessions = new Set<number>();
    const first = Date.now() - 3_600_000;
    const [leader, ...followers] = racers as [Replica, ...Replica[]];
    // Goes on until every session was replaced at least once.
    for (let round = 0; sessions.size < 8; round += 1) {
      const atMs = first + round * 1_000;
      const answers = await Promise.all(
        all.map(({ backend }, i) =>
          backend.claimer.claimMany([claimOf('report', atMs, `pass of ${i}`), claimOf('bill', atMs, `pass of ${i}`)]),
        ),
      );
      for (const place of [0, 1]) expect(answers.filter((answer) => answer[place] === true)).toHaveLength(1);
      expect(await leader.backend.leases.renew(held, { ttlMs: 30_000 })).toBe(true);
      for (const { backend } of followers) {
        expect(
          await backend.leases.acquire({ namespace: 'shop', name: 'leader', owner: 'b', ttlMs: 30_000 }),
        ).toBeNull();
      }
      for (const { pool } of racers.slice(0, 2)) sessions.add(await sessionOf(pool));
    }
    expect(signal.aborted).toBe(false);
  }, 60_000);

  it('a run keeps its overlap lease and its claim; left alone, its claim is taken by one replica, and the run is told', async () => {
    const [owner, ...others] = await Promise.all(ZONES.map((_, i) => replica(bouncer.urlWith(`zone_${i}`))));
    const { backend } = owner as Replica;
    const at = Date.now();
    const holds = { overlapTtlMs: 30_000, recoveryTtlMs: 30_000 };
    const claim = holdingClaimOf('held', at, 'pass of the owner', holds, 'the owner');
    const [grant] = await backend.claimer.claimMany([claim]);
    expect(grant).toMatchObject({ granted: true });
    const { namespace, entryKey, scheduledAt, claimId } = claim.context;
    const own = { namespace, entryKey, scheduledAt, claimId };
    const scans = () =>
      Promise.all(
        others.map((scanner, i) =>
          scanner.backend.recovery.takeLapsed({
            namespace,
            entries: [{ entryKey, maxAttempts: 3 }],
            claimId: `scan of ${i}`,
            instanceId: `replica ${i}`,
            ttlMs: 30_000,
            limit: 10,
          }),
        ),
      );
    for (const [i, other] of others.entries()) {
      const later = holdingClaimOf('held', at + 1 + i, `pass of ${i}`, holds);
      expect(await other.backend.claimer.claimMany([later])).toEqual(['overlap']);
      expect(await backend.recovery.renew(own, 30_000)).toBe(true);
      expect((await scans()).flat()).toEqual([]);
    }
    expect(await backend.recovery.renew(own, 0)).toBe(true);
    expect((await scans()).flat()).toEqual([{ entryKey, scheduledAt, attempt: 2, abandoned: false }]);
    expect(await backend.recovery.finish(own)).toBe(false);
  });

  it('sessions in other time zones see one instant, and one last fire', async () => {
    const all = await Promise.all(ZONES.map((_, i) => replica(bouncer.urlWith(`zone_${i}`))));
    const zones = await Promise.all(
      all.map(({ pool }) => pool.query('SHOW TimeZone').then(({ rows }) => rows[0].TimeZone)),
    );
    expect(zones).toEqual(ZONES);
    // Inside the repeated hour of New York, where a local time has two meanings.
    const atMs = Date.parse('2025-11-02T06:30:00.500Z');
    const answers: boolean[] = [];
    for (const [i, { backend }] of all.entries()) {
      const { fireKey, context } = claimOf('zoned', atMs, `pass of ${i}`);
      answers.push(await backend.claimer.claim(fireKey, context));
    }
    expect(answers).toEqual([true, false, false, false]);
    for (const { backend } of all) {
      const last = (await backend.claimer.lastFire('shop', ['zoned'])).get('zoned');
      expect(last?.scheduledAt.toISOString()).toBe('2025-11-02T06:30:00.500Z');
    }
  });
});
