import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { systemClock } from '../../../src/ambient/clock.js';
import { systemRandom } from '../../../src/ambient/random.js';
import { type ClaimProtocolSettings, DEFAULT_CLAIM_PROTOCOL } from '../../../src/coordination/claim-protocol.js';
import type { ClaimAnswer } from '../../../src/coordination/claimer.js';
import { GuardedBackend } from '../../../src/coordination/guarded-backend.js';
import { tablesFor } from '../../../src/coordination/postgres/postgres-schema.js';
import { statementsFor } from '../../../src/coordination/postgres/postgres-statements.js';
import { type PostgresServer, startPostgres } from '../../servers/postgres.js';
import { claimOf, openReplica, type Replica, SESSION_SETTINGS, whenWaiting } from './replicas.js';

const MINUTE = 60_000;
const RETENTION = 3_600_000;
let server: PostgresServer;
const replicas: Replica[] = [];

beforeAll(async () => {
  server = await startPostgres();
}, 60_000);

afterAll(async () => {
  for (const replica of replicas) await replica.close();
  await server?.stop();
});

async function replica(
  schema: string,
  config: { max?: number; options?: string } = {},
  settings: Partial<ClaimProtocolSettings> = {},
): Promise<Replica> {
  const opened = await openReplica(
    { connectionString: server.url, ...config },
    { schema },
    { ...DEFAULT_CLAIM_PROTOCOL, ...settings },
  );
  replicas.push(opened);
  return opened;
}

/** What was granted of a fire that is claimed, swept, and asked for by a claim that began before and had to wait. */
async function waitThenSweep(
  schema: string,
  claimStatement?: string,
): Promise<ClaimAnswer | 'granted' | 'not granted'> {
  const { backend, pool } = await replica(schema, { max: 10 });
  const at = Date.now() - 2 * RETENTION;
  const tables = tablesFor({ schema });
  // The entry is there, so that its row can be held.
  await backend.claimer.claimMany([claimOf('report', at - MINUTE, 'before')]);

  // Another pass is granted the fire, but not yet visible to anybody else.
  const other = await pool.connect();
  await other.query('BEGIN');
  await other.query(`SELECT FROM ${tables.entry} FOR UPDATE`);
  await other.query(
    `INSERT INTO ${tables.claim} (namespace, entry_key, instant_ms, claim_id, instance_id, made_ms) VALUES ('shop', 'report', $1, 'first', 'replica-2', $1)`,
    [at],
  );
  const asked = claimOf('report', at, 'late');
  const late =
    claimStatement === undefined
      ? backend.claimer.claimMany([asked]).then(([answer]) => answer as ClaimAnswer)
      : pool
          .query(claimStatement, ['shop', 'report', at, 'late'])
          .then(({ rows }) => (rows.length > 0 ? ('granted' as const) : ('not granted' as const)));
  await whenWaiting(pool, 1);

  // While the late one waits, the claim grows old and is removed.
  await other.query(statementsFor(tables).sweep, ['{shop}', '{report}', String(RETENTION)]);
  await other.query('COMMIT');
  other.release();
  return late;
}

/** The claim as one might write it first: what is free is read from the snapshot, and the entry's row is written last. */
const naive = (schema: string) => {
  const { entry, claim } = tablesFor({ schema });
  return `
    WITH free AS (
      SELECT FROM ${entry} AS e
      WHERE e.namespace = $1::text AND e.entry_key = $2::text AND (e.floor_ms IS NULL OR e.floor_ms < $3::bigint)
    ),
    won AS (
      INSERT INTO ${claim} (namespace, entry_key, instant_ms, claim_id, instance_id, made_ms)
      SELECT $1::text, $2::text, $3::bigint, $4::text, 'naive', $3::bigint FROM free
      ON CONFLICT DO NOTHING RETURNING instant_ms
    ),
    head AS (
      UPDATE ${entry} AS e SET watermark_ms = greatest(e.watermark_ms, won.instant_ms) FROM won
      WHERE e.namespace = $1::text AND e.entry_key = $2::text RETURNING 1
    )
    SELECT * FROM won`;
};

describe('a claim that waits while its fire is claimed and swept', () => {
  it('is not granted: the floor it obeys is the one that the sweep left', async () => {
    await expect(waitThenSweep('wait_then_sweep')).resolves.toBe('superseded');
  });

  it('would be granted if the floor were read before the row of the entry is written', async () => {
    await expect(waitThenSweep('wait_then_sweep_naive', naive('wait_then_sweep_naive'))).resolves.toBe('granted');
  });
});

const guarded = ({ backend }: Replica, instanceId: string) =>
  new GuardedBackend(
    backend,
    {
      namespace: 'shop',
      instanceId,
      coordinationTimeoutMs: 20_000,
      claimPatienceMs: 60_000,
      ...DEFAULT_CLAIM_PROTOCOL,
    },
    { clock: systemClock, random: systemRandom },
  );

const FIRES = 500;
const RACERS = 10;

describe('ten replicas, each with sessions of other settings, that race for 500 fires', () => {
  it.each([
    { level: 'read committed', entries: 1 },
    // Where the isolation makes all but one ask again, ten fires go in a batch: the test would take minutes.
    { level: 'repeatable read', entries: 10 },
    { level: 'serializable', entries: 10 },
  ])(
    'at $level: each fire is granted to one and refused to nine; what the isolation gets in the way of is asked again',
    async ({ level, entries }) => {
      const schema = `race_${level.replace(' ', '_')}`;
      const isolation = `-c default_transaction_isolation=${level.replace(' ', '\\ ')}`;
      const racers: GuardedBackend[] = [];
      for (let i = 0; i < RACERS; i += 1) {
        const options = `${isolation} ${SESSION_SETTINGS[i % SESSION_SETTINGS.length]}`;
        racers.push(guarded(await replica(schema, { max: 1, options }), `replica-${i}`));
      }
      const first = Date.now() - FIRES * 1_000;
      for (let round = 0; round < FIRES / entries; round += 1) {
        const fires = Array.from({ length: entries }, (_, i) => ({ key: `entry-${i}`, atMs: first + round * 1_000 }));
        const outcomes = await Promise.all(
          racers.map((racer, i) =>
            Promise.all(fires.map(({ key, atMs }) => outcomeOf(racer, key, atMs, `pass of ${i}`))),
          ),
        );
        for (const place of fires.keys()) {
          const kinds = outcomes.map((ofRacer) => ofRacer[place]).sort();
          expect(kinds).toEqual(['granted', ...Array(RACERS - 1).fill('refused')]);
        }
      }
    },
    120_000,
  );
});

async function outcomeOf(racer: GuardedBackend, entryKey: string, atMs: number, claimId: string): Promise<string> {
  const { fireKey, context } = claimOf(entryKey, atMs, claimId);
  const { scheduledAt, schedule } = context;
  const untilMs = Number.POSITIVE_INFINITY;
  const outcome = await racer.claim({ entryKey, fireKey, scheduledAt, claimId, schedule, untilMs });
  return outcome.kind === 'error' ? outcome.error.message : outcome.kind;
}

describe('batches that cross, with a sweep behind each', () => {
  it('wait for each other, never in a ring, and grant each fire once', async () => {
    const schema = 'crossing';
    // So short that each batch of a round finds the last one's claims too old.
    const settings = { retentionMs: 8 };
    const racers = [];
    for (let i = 0; i < 4; i += 1) racers.push(await replica(schema, { max: 3 }, settings));
    const keys = Array.from({ length: 40 }, (_, i) => `entry-${i}`);
    const first = Date.now() - 3_600_000;
    for (let round = 0; round < 40; round += 1) {
      const at = first + round * 1_000;
      const answers = await Promise.all(
        racers.map(({ backend }, i) => {
          const mine = i % 2 === 0 ? keys : [...keys].reverse();
          return backend.claimer
            .claimMany(mine.flatMap((key) => [claimOf(key, at + 1, `pass of ${i}`), claimOf(key, at, `pass of ${i}`)]))
            .then((all) => (i % 2 === 0 ? all : pairsReversed(all)));
        }),
      );
      for (let place = 0; place < keys.length * 2; place += 1) {
        expect(answers.filter((all) => all[place] === true).length).toBe(1);
      }
    }
    const { rows } = await (racers[0] as Replica).pool.query(
      'SELECT deadlocks::int FROM pg_stat_database WHERE datname = current_database()',
    );
    expect(rows[0].deadlocks).toBe(0);
  }, 60_000);
});

/** The answers of a batch whose keys came in the other order, two each. */
function pairsReversed<T>(all: readonly T[]): T[] {
  const pairs: T[] = [];
  for (let i = all.length - 2; i >= 0; i -= 2) pairs.push(all[i] as T, all[i + 1] as T);
  return pairs;
}
