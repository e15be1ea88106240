import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ClaimGrant } from '../../../src/coordination/claimer.js';
import { overlapLeaseName } from '../../../src/coordination/overlap-lease.js';
import { type PostgresServer, startPostgres } from '../../servers/postgres.js';
import { claimOf, holdingClaimOf, openReplica, type Replica, SESSION_SETTINGS } from './replicas.js';

let server: PostgresServer;
const replicas: Replica[] = [];

beforeAll(async () => {
  server = await startPostgres({ max_connections: '200' });
}, 60_000);

afterAll(async () => {
  for (const replica of replicas) await replica.close();
  await server?.stop();
});

async function replica(schema: string, config: { max: number; options: string }): Promise<Replica> {
  const opened = await openReplica({ connectionString: server.url, ...config }, { schema });
  replicas.push(opened);
  return opened;
}

const LEVELS = ['read committed', 'repeatable read', 'serializable'];
const isolationOf = (level: string) => `-c default_transaction_isolation=${level.replace(' ', '\\ ')}`;

/** Asks again while another transaction is in the way, as the guard does. */
async function untilFree<T>(asking: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await asking();
    } catch (error) {
      if ((error as { code?: unknown }).code !== 'STORE_BUSY') throw error;
    }
  }
}

async function racersAt(level: string, schema: string, count: number): Promise<Replica[]> {
  const racers: Replica[] = [];
  for (let i = 0; i < count; i += 1) {
    const options = `${isolationOf(level)} ${SESSION_SETTINGS[i % SESSION_SETTINGS.length]}`;
    racers.push(await replica(schema, { max: 2, options }));
  }
  return racers;
}

describe.each(LEVELS)('at %s', (level) => {
  // Where the isolation makes all but one ask again, few are many.
  const few = level !== 'read committed';
  const RACERS = few ? 5 : 10;
  const ROUNDS = few ? 6 : 20;
  const named = (what: string) => `${what}_${level.replace(' ', '_')}`;

  it('ten replicas that take the same lapsed claims: each claim is taken by one, and only the last attempt of each is left', async () => {
    const racers = await racersAt(level, named('taking'), 10);
    const [first] = racers as [Replica];
    const at = Date.now() - 100_000;
    const keys = ['a', 'b', 'c', 'd'];
    const made = Array.from({ length: few ? 100 : 200 }, (_, i) =>
      holdingClaimOf(keys[i % 4] as string, at + i, 'pass-1', { recoveryTtlMs: 0 }, 'the dead'),
    );
    expect(new Set(await first.backend.claimer.claimMany(made))).toEqual(new Set([true]));
    const entries = keys.map((entryKey) => ({ entryKey, maxAttempts: 3 }));
    const fires: string[] = [];
    // Two takes with a life of nothing, then the one that abandons.
    for (const wave of [2, 3, 'abandoned'] as const) {
      const taken: string[] = [];
      while (taken.length < made.length) {
        const all = await Promise.all(
          racers.map(({ backend }, i) =>
            untilFree(() =>
              backend.recovery.takeLapsed({
                namespace: 'shop',
                entries,
                claimId: `scan of ${i} in ${wave} after ${taken.length}`,
                instanceId: `scan of ${i} in ${wave}`,
                // Long while this wave goes on, so that nothing lapses within it.
                ttlMs: 60_000,
                limit: 7,
              }),
            ),
          ),
        );
        for (const { entryKey, scheduledAt, attempt, abandoned } of all.flat()) {
          expect([attempt, abandoned]).toEqual(wave === 'abandoned' ? [3, true] : [wave, false]);
          taken.push(`${entryKey}@${scheduledAt.getTime()}`);
        }
      }
      expect(new Set(taken).size).toBe(made.length);
      expect(taken).toHaveLength(made.length);
      fires.push(...taken);
      await first.pool.query(`UPDATE ${named('taking')}.cron_claim SET expires_ms = 0 WHERE expires_ms IS NOT NULL`);
    }
    expect(fires).toHaveLength(3 * made.length);
    const { rows } = await first.pool.query(
      `SELECT count(*)::int AS unfinished FROM ${named('taking')}.cron_claim WHERE expires_ms IS NOT NULL`,
    );
    expect(rows[0].unfinished).toBe(0);
  }, 60_000);

  it('of claims of one entry that come at once, each of another instant, one has the overlap lease; the others stay made, and cannot be taken over', async () => {
    const racers = await racersAt(level, named('overlapping'), RACERS);
    const [first] = racers as [Replica];
    const at = Date.now() - 1_000_000;
    const holds = { overlapTtlMs: 60_000, recoveryTtlMs: 60_000 };
    for (let round = 0; round < ROUNDS; round += 1) {
      // A new entry each time: nobody can lock a lease that is not there yet. Every third with one that is.
      const key = round % 3 === 2 ? 'again' : `entry-${round}`;
      const answers = await Promise.all(
        racers.map(({ backend }, i) => {
          const claim = holdingClaimOf(key, at + round * 100 + i, `pass of ${i} in ${round}`, holds);
          return untilFree(() => backend.claimer.claimMany([claim])).then(([answer]) => answer);
        }),
      );
      const granted = answers.filter((answer) => (answer as ClaimGrant).granted === true);
      expect(granted).toHaveLength(1);
      expect(answers.filter((answer) => answer === 'overlap')).toHaveLength(RACERS - 1);
      const winner = answers.indexOf(granted[0] as ClaimGrant);
      const owner = `pass of ${winner} in ${round}`;
      const { rows } = await first.pool.query(
        `SELECT claim_id, attempt FROM ${named('overlapping')}.cron_claim WHERE entry_key = $1 AND instant_ms >= $2 AND expires_ms IS NOT NULL`,
        [key, at + round * 100],
      );
      expect(rows).toEqual([{ claim_id: owner, attempt: 1 }]);
      const { overlapToken: token } = granted[0] as ClaimGrant;
      const lease = { namespace: 'shop', name: overlapLeaseName(key), owner, token };
      expect(await untilFree(() => first.backend.leases.release(lease, {}))).toBe(true);
    }
  }, 60_000);

  it('a fire that all claim with whatever it can take is granted to one, who has its lease; the others are refused', async () => {
    const racers = await racersAt(level, named('taking_along'), RACERS);
    const at = Date.now() - 1_000_000;
    const holds = { overlapTtlMs: 60_000, recoveryTtlMs: 60_000 };
    for (let round = 0; round < ROUNDS; round += 1) {
      const keys = Array.from({ length: 10 }, (_, i) => `entry-${round % 4}-${i}`);
      const answers = await Promise.all(
        racers.map(({ backend }, i) => {
          const claims = keys.map((key) => holdingClaimOf(key, at + round, `pass of ${i} in ${round}`, holds));
          return untilFree(() => backend.claimer.claimMany(i % 2 === 0 ? claims : [...claims].reverse())).then((all) =>
            i % 2 === 0 ? all : [...all].reverse(),
          );
        }),
      );
      for (const [place, key] of keys.entries()) {
        const ofFire = answers.map((all) => all[place]);
        expect(ofFire.filter((answer) => answer === false)).toHaveLength(RACERS - 1);
        // Of an entry's later rounds the lease is still held by its first.
        const expected = round < 4 ? { granted: true, overlapToken: 1 } : 'overlap';
        expect(ofFire.filter((answer) => answer !== false)).toEqual([expected]);
        if (round >= 4) continue;
        const owner = `pass of ${ofFire.findIndex((answer) => answer !== false)} in ${round}`;
        const name = overlapLeaseName(key);
        expect((await racers[0]?.backend.leases.read('shop', [name]))?.get(name)?.owner).toBe(owner);
      }
    }
    const { rows } = await (racers[0] as Replica).pool.query(
      'SELECT deadlocks::int FROM pg_stat_database WHERE datname = current_database()',
    );
    expect(rows[0].deadlocks).toBe(0);
  }, 60_000);

  it('once pause has resolved nothing more is granted, until it is resumed', async () => {
    const racers = await racersAt(level, named('pausing'), 5);
    const [first, ...claimants] = racers as [Replica, ...Replica[]];
    const at = Date.now() - 1_000_000;
    const all = { overlapTtlMs: 60_000, recoveryTtlMs: 60_000 };
    let granted = 0;
    for (let round = 0; round < ROUNDS; round += 1) {
      const key = `entry-${round % 3}`;
      let pausedAt = Number.POSITIVE_INFINITY;
      let stopped = false;
      let asked = 0;
      const claiming = claimants.map(async ({ backend }, i) => {
        let refusals = 0;
        while (!stopped) {
          asked += 1;
          const mine = asked;
          const instantMs = at + round * 10_000 + mine;
          const claim =
            i % 2 === 0 ? claimOf(key, instantMs, `${mine}`) : holdingClaimOf(key, instantMs, `${mine}`, all);
          const [answer] = await untilFree(() => backend.claimer.claimMany([claim]));
          if (mine > pausedAt) {
            expect(answer).toBe('paused');
            refusals += 1;
            if (refusals === 3) return;
          } else if (answer !== 'paused') granted += 1;
        }
      });
      await untilFree(() => first.backend.claimer.pause('shop', key));
      pausedAt = asked;
      await Promise.all(claiming);
      stopped = true;
      // At least a statement's own time ago, by the clock of the store.
      const since = await untilFree(() => first.backend.claimer.resume('shop', key, { keepWatermark: true }));
      expect(since).toBeInstanceOf(Date);
      expect(await untilFree(() => first.backend.claimer.resume('shop', key, { keepWatermark: true }))).toBeNull();
      const next = claimOf(key, at + round * 10_000 + 9_999, 'next');
      expect(await untilFree(() => first.backend.claimer.claimMany([next]))).toEqual([true]);
    }
    expect(granted).toBeGreaterThan(0);
  }, 60_000);

  it('an entry that is forgotten while it is claimed keeps a head for every claim that is left', async () => {
    const schema = named('forgetting');
    const racers = await racersAt(level, schema, 4);
    const [first, ...claimants] = racers as [Replica, ...Replica[]];
    const at = Date.now() - 1_000_000;
    for (let round = 0; round < ROUNDS; round += 1) {
      const claiming = claimants.map(({ backend }, i) =>
        untilFree(() =>
          backend.claimer.claimMany([
            claimOf('report', at + round * 10 + i, `pass of ${i}`),
            holdingClaimOf('report', at + round * 10 + 5 + i, `pass of ${i}`, { recoveryTtlMs: 60_000 }),
          ]),
        ),
      );
      await untilFree(() => first.backend.claimer.forget('shop', 'report'));
      await Promise.all(claiming);
      const { rows } = await first.pool.query(
        `SELECT (SELECT count(*)::int FROM ${schema}.cron_claim) AS kept, coalesce((SELECT claims FROM ${schema}.cron_entry), 0) AS counted`,
      );
      expect(rows[0].counted).toBe(rows[0].kept);
    }
  }, 60_000);
});
