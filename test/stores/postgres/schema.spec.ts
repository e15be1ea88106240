import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Pool } from 'pg';
import { DEFAULT_CLAIM_PROTOCOL } from '../../../src/coordination/claim-protocol.js';
import { PostgresBackend } from '../../../src/coordination/postgres/postgres-backend.js';
import { createSchema, type PostgresNames, schemaSql } from '../../../src/coordination/postgres/postgres-schema.js';
import { ConfigurationError } from '../../../src/domain/errors.js';
import { databaseUrl, type PostgresServer, startPostgres } from '../../servers/postgres.js';
import { claimOf } from './replicas.js';

let server: PostgresServer;
let admin: Pool;
const pools: Pool[] = [];

beforeAll(async () => {
  server = await startPostgres();
  admin = listened(new Pool({ connectionString: server.url }));
}, 60_000);

afterAll(async () => {
  for (const pool of [...pools, admin]) await pool?.end();
  await server?.stop();
});

/** An empty database, seen by the role that is named. */
async function emptyDatabase(name: string, { role, max = 10 }: { role?: string; max?: number } = {}): Promise<Pool> {
  await admin.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
  await admin.query(`CREATE DATABASE ${name}`);
  return poolOf(name, role, max);
}

function poolOf(database: string, role?: string, max = 10): Pool {
  const url = new URL(databaseUrl(server.url, database));
  if (role !== undefined) url.username = role;
  const pool = listened(new Pool({ connectionString: url.href, max }));
  pools.push(pool);
  return pool;
}

/** The server ends the sessions of a database that is dropped, and all when it stops. */
function listened(pool: Pool): Pool {
  return pool.on('error', () => undefined);
}

const tablesIn = async (pool: Pool) =>
  (
    await pool.query(
      `SELECT schemaname || '.' || tablename AS name FROM pg_tables WHERE tablename LIKE '%member' OR tablename LIKE '%entry' ORDER BY 1`,
    )
  ).rows.map(({ name }) => name);

const open = (backend: PostgresBackend) => backend.open(DEFAULT_CLAIM_PROTOCOL);

describe('creating the schema', () => {
  it.each([{}, { schema: 'jobs', tablePrefix: 'shop_' }] satisfies PostgresNames[])(
    'works for ten replicas that call it at once on an empty database, and again later (%j)',
    async (names) => {
      const pool = await emptyDatabase('ten_at_once');
      await Promise.all(Array.from({ length: 10 }, () => pool.query('SELECT pg_sleep(0)')));
      for (let round = 0; round < 3; round += 1) {
        await Promise.all(Array.from({ length: 10 }, () => createSchema(pool, names)));
      }
      const { schema = 'public', tablePrefix = 'cron_' } = names as PostgresNames;
      expect(await tablesIn(pool)).toEqual([`${schema}.${tablePrefix}entry`, `${schema}.${tablePrefix}member`]);
    },
  );

  it.each(['repeatable read', 'serializable'])(
    'works for ten replicas at once whose sessions are %s',
    async (level) => {
      const pool = await emptyDatabase('ten_isolated');
      await pool.query(`ALTER DATABASE ten_isolated SET default_transaction_isolation = '${level}'`);
      const isolated = poolOf('ten_isolated');
      await Promise.all(Array.from({ length: 10 }, () => createSchema(isolated, { schema: 'jobs' })));
      expect(await tablesIn(pool)).toHaveLength(2);
    },
  );

  it('keeps what is there', async () => {
    const pool = await emptyDatabase('kept');
    const backend = new PostgresBackend({ pool, createSchema: true });
    await open(backend);
    const claim = claimOf('report', Date.now(), 'pass-1');
    expect(await backend.claimer.claim(claim.fireKey, claim.context)).toBe(true);
    await backend.createSchema();
    const again = claimOf('report', claim.context.scheduledAt.getTime(), 'pass-2');
    expect(await backend.claimer.claim(again.fireKey, again.context)).toBe(false);
  });

  it('repeated with everything there needs no more rights than before, and waits for no claim', async () => {
    const pool = await emptyDatabase('repeated');
    await createSchema(pool);
    await admin.query(`DROP ROLE IF EXISTS cron_stranger`);
    await admin.query(`CREATE ROLE cron_stranger LOGIN`);
    await pool.query('GRANT USAGE, CREATE ON SCHEMA public TO cron_stranger');
    const claiming = await pool.connect();
    await claiming.query('BEGIN');
    await claiming.query(`INSERT INTO cron_claim VALUES ('shop', 'report', 0, 'pass', 'replica', 0)`);
    await createSchema(poolOf('repeated', 'cron_stranger'));
    await claiming.query('ROLLBACK');
    claiming.release();
    await pool.query('DROP OWNED BY cron_stranger; DROP ROLE cron_stranger');
  });

  it('is the text of docs/stores/postgres.sql, which a migration tool can run', async () => {
    const file = readFileSync(join('docs', 'stores', 'postgres.sql'), 'utf8');
    expect(file).toContain(schemaSql());
    const pool = await emptyDatabase('migrated');
    await pool.query(file);
    await pool.query(file);
    await open(new PostgresBackend({ pool }));
  });

  it('leaves the tables where they are told to be, whatever the search path of a session', async () => {
    const pool = await emptyDatabase('searched');
    await pool.query(`CREATE SCHEMA elsewhere`);
    await pool.query(`ALTER DATABASE searched SET search_path = elsewhere`);
    const searching = poolOf('searched');
    await open(new PostgresBackend({ pool: searching, createSchema: true }));
    expect(await tablesIn(pool)).toEqual(['public.cron_entry', 'public.cron_member']);
  });
});

describe('opening the backend', () => {
  it('without the tables creates nothing, and says how they are created', async () => {
    const pool = await emptyDatabase('bare');
    const opening = open(new PostgresBackend({ pool }));
    await expect(opening).rejects.toMatchObject({
      name: 'CoordinationError',
      code: 'COORDINATION_FAILED',
      operation: 'open',
    });
    await expect(opening).rejects.toThrow(/public\.cron_claim.*createSchema\(\).*|docs\/stores\/postgres\.sql/);
    expect(await tablesIn(pool)).toEqual([]);
  });

  it('works with a role that may read and write the tables, and no more', async () => {
    const pool = await emptyDatabase('granted');
    await createSchema(pool, { schema: 'jobs' });
    await admin.query(`DROP ROLE IF EXISTS cron_app`);
    await admin.query(`CREATE ROLE cron_app LOGIN`);
    const backend = new PostgresBackend({ pool: poolOf('granted', 'cron_app'), schema: 'jobs', createSchema: true });
    await expect(open(backend)).rejects.toThrow(
      /lacks USAGE on the schema, SELECT, INSERT, UPDATE, DELETE \(jobs\.cron_claim\)/,
    );
    await pool.query('GRANT USAGE ON SCHEMA jobs TO cron_app');
    await pool.query('GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA jobs TO cron_app');
    await expect(open(backend)).rejects.toThrow(/lacks DELETE \(jobs\.cron_claim\); DELETE \(jobs\.cron_entry\)/);
    await pool.query('GRANT DELETE ON ALL TABLES IN SCHEMA jobs TO cron_app');
    await open(backend);
    const claim = claimOf('report', Date.now(), 'pass-1');
    expect(await backend.claimer.claim(claim.fireKey, claim.context)).toBe(true);
  });

  it('may be asked again after it failed', async () => {
    const pool = await emptyDatabase('again');
    const backend = new PostgresBackend({ pool });
    await expect(open(backend)).rejects.toThrow('not found');
    await backend.createSchema();
    await open(backend);
    expect(Math.abs((await backend.now()) - Date.now())).toBeLessThan(60_000);
  });

  it('does not end the pool when it closes', async () => {
    const pool = await emptyDatabase('left_open');
    const backend = new PostgresBackend({ pool, createSchema: true });
    await open(backend);
    await backend.close();
    await expect(pool.query('SELECT 1')).resolves.toBeDefined();
    await expect(backend.now()).rejects.toThrow('not open');
  });
});

describe('names and pools', () => {
  const pool = { query: async () => [] };

  it.each([
    ['schema', 'public"; DROP SCHEMA public; --'],
    ['schema', 'Public'],
    ['schema', 'pg_catalog'],
    ['schema', ''],
    ['schema', 'a'.repeat(64)],
    ['schema', 'ä'],
    ['tablePrefix', "cron_'; --"],
    ['tablePrefix', 'cron-'],
    ['tablePrefix', '1cron_'],
    ['tablePrefix', 'a'.repeat(53)],
    ['tablePrefix', 'cron_\n'],
    ['tablePrefix', null],
  ])('%s %j is refused', (option, value) => {
    const names = { [option]: value } as PostgresNames;
    expect(() => new PostgresBackend({ pool, ...names })).toThrow(ConfigurationError);
    if (value !== null) expect(() => schemaSql(names)).toThrow(RangeError);
  });

  it('all faults are told at once', () => {
    const options = { pool: undefined, schema: 'A', tablePrefix: 'B', createSchema: 'yes' } as never;
    const { faults } = thrownBy(() => new PostgresBackend(options)) as ConfigurationError;
    expect(faults.map(({ subject }) => subject)).toEqual([
      'PostgresBackend.pool',
      'PostgresBackend.schema',
      'PostgresBackend.tablePrefix',
      'PostgresBackend.createSchema',
    ]);
  });

  it('a session of a pool is refused, and a single client', async () => {
    const session = await admin.connect();
    session.release();
    expect(() => new PostgresBackend({ pool: session })).toThrow('not one session');
    expect(() => new PostgresBackend({ pool: admin })).not.toThrow();
  });

  it('the longest names are kept whole', async () => {
    const names = { schema: 's'.repeat(63), tablePrefix: 'p'.repeat(52) };
    const database = await emptyDatabase('long_names');
    await open(new PostgresBackend({ pool: database, ...names, createSchema: true }));
    const { rows } = await database.query('SELECT relname FROM pg_class WHERE relname LIKE $1 ORDER BY 1', [
      'pppp%member%',
    ]);
    expect(rows.map(({ relname }) => relname)).toEqual([
      `${names.tablePrefix}member`,
      `${names.tablePrefix}member_pkey`,
    ]);
  });

  it('a client that has query alone is enough, whichever of the two shapes it answers', async () => {
    const database = await emptyDatabase('query_only');
    const backend = new PostgresBackend({
      pool: { query: async (text, values) => (await database.query(text, values)).rows },
      createSchema: true,
    });
    await open(backend);
    const claim = claimOf('report', Date.now(), 'pass-1');
    expect(await backend.claimer.claim(claim.fireKey, claim.context)).toBe(true);
    const { signal } = claim.context;
    expect(await backend.leases.acquire({ namespace: 'shop', name: 'leader', owner: 'a', ttlMs: 1_000 })).toMatchObject(
      { token: 1 },
    );
    expect(await backend.membership.heartbeat('shop', { instanceId: 'a', memberName: 'a' }, 1_000)).toHaveLength(1);
    expect(signal.aborted).toBe(false);
  });
});

function thrownBy(work: () => unknown): unknown {
  try {
    work();
  } catch (cause) {
    return cause;
  }
  throw new Error('nothing was thrown');
}
