import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { CLAIMS_KEPT_PER_ENTRY } from '../../../src/coordination/claim-protocol.js';
import { CoordinationError } from '../../../src/coordination/coordination-error.js';
import { PostgresBackend } from '../../../src/coordination/postgres/postgres-backend.js';
import type { PostgresPool } from '../../../src/coordination/postgres/postgres-client.js';
import { type PostgresServer, startPostgres } from '../../servers/postgres.js';
import { claimOf, openReplica, type Replica } from './replicas.js';

let server: PostgresServer;
let a: Replica;
let b: Replica;

beforeAll(async () => {
  server = await startPostgres();
  [a, b] = [await openReplica({ connectionString: server.url }), await openReplica({ connectionString: server.url })];
}, 60_000);

afterEach(async () => {
  await a.backend.claimer.idle();
  await a.pool.query('DELETE FROM cron_claim');
  await a.pool.query('DELETE FROM cron_entry');
});

afterAll(async () => {
  await a?.close();
  await b?.close();
  await server?.stop();
});

/** The pool of `a`, and what was sent through it. */
function observed(): { pool: PostgresPool; sent: string[] } {
  const sent: string[] = [];
  return {
    sent,
    pool: {
      query: (text, values) => {
        sent.push(text);
        return a.pool.query(text, values);
      },
    },
  };
}

const SETTINGS = { maxClockSkewMs: 10_000, retentionMs: 3_600_000 };

describe('a batch', () => {
  it('of a thousand claims is one statement, won or lost', async () => {
    const { pool, sent } = observed();
    const backend = new PostgresBackend({ pool });
    await backend.open(SETTINGS);
    sent.length = 0;
    const at = Date.now();
    const claims = (id: string) => Array.from({ length: 1_000 }, (_, i) => claimOf(`entry-${i}`, at, id));
    expect(new Set(await backend.claimer.claimMany(claims('pass-1')))).toEqual(new Set([true]));
    expect(new Set(await backend.claimer.claimMany(claims('pass-2')))).toEqual(new Set([false]));
    expect(sent).toHaveLength(2);
  });

  it('of more goes in statements of a thousand, answered in the order of the claims', async () => {
    const at = Date.now();
    const taken = Array.from({ length: 700 }, (_, i) => claimOf(`entry-${i * 3}`, at, 'theirs'));
    await b.backend.claimer.claimMany(taken);
    const claims = Array.from({ length: 2_100 }, (_, i) => claimOf(`entry-${i}`, at, 'ours'));
    expect(await a.backend.claimer.claimMany(claims)).toEqual(claims.map((_, i) => i % 3 !== 0));
  });

  it('may name a fire twice: by the same pass it is granted twice, by another refused', async () => {
    const at = Date.now();
    const claims = ['pass-1', 'pass-2', 'pass-1'].map((id) => claimOf('report', at, id));
    expect(await a.backend.claimer.claimMany(claims)).toEqual([true, false, true]);
  });

  it('may be empty', async () => {
    expect(await a.backend.claimer.claimMany([])).toEqual([]);
  });

  it('with a claim that PostgreSQL cannot keep grants the others', async () => {
    const at = Date.now();
    const keys = ['a', 'b\0', 'c\ud83d', 'd'];
    const answers = await a.backend.claimer.claimMany([
      ...keys.map((key) => claimOf(key, at, 'pass-1')),
      claimOf('e', 8.64e15, 'pass-1'),
    ]);
    expect(answers.map((answer) => (answer instanceof CoordinationError ? answer.code : answer))).toEqual([
      true,
      'COORDINATION_FAILED',
      'COORDINATION_FAILED',
      true,
      'CLOCK_AHEAD',
    ]);
  });
});

describe('a claim that is lost', () => {
  it('writes nothing: the rows are the very same afterwards', async () => {
    const at = Date.now();
    const claims = (id: string) => ['a', 'b'].map((key) => claimOf(key, at, id));
    await a.backend.claimer.claimMany(claims('pass-1'));
    // Where each row lies, and which transactions wrote or locked it.
    const rows = async () => {
      const all = await Promise.all(
        ['cron_entry', 'cron_claim'].map((table) =>
          a.pool.query(`SELECT ctid, xmin, xmax, entry_key FROM ${table} ORDER BY entry_key`),
        ),
      );
      return all.flatMap((result) => result.rows);
    };
    const before = await rows();
    expect(before).toHaveLength(4);
    expect(await b.backend.claimer.claimMany(claims('pass-2'))).toEqual([false, false]);
    expect(await b.backend.claimer.claimMany(claims('pass-1'))).toEqual([true, true]);
    expect(await rows()).toEqual(before);
  });
});

describe('old claims', () => {
  const rowsOf = async (entryKey: string) =>
    Number((await a.pool.query('SELECT count(*) FROM cron_claim WHERE entry_key = $1', [entryKey])).rows[0].count);

  it('are at most twice as many as are kept, whatever comes', async () => {
    const first = Date.now() - 2_000_000;
    for (let round = 0; round < 20; round += 1) {
      const claims = Array.from({ length: 100 }, (_, i) => claimOf('busy', first + round * 100 + i, 'pass-1'));
      expect(new Set(await a.backend.claimer.claimMany(claims))).toEqual(new Set([true]));
      await a.backend.claimer.idle();
      expect(await rowsOf('busy')).toBeLessThanOrEqual(2 * CLAIMS_KEPT_PER_ENTRY);
    }
    expect(await rowsOf('busy')).toBeGreaterThanOrEqual(CLAIMS_KEPT_PER_ENTRY);
  });

  it('are removed behind the answer, in a statement of their own; closing waits for it', async () => {
    const sweeps: (() => void)[] = [];
    const backend = new PostgresBackend({
      pool: {
        query: async (text, values) => {
          if (text.includes('DELETE FROM')) await new Promise<void>((resume) => sweeps.push(resume));
          return a.pool.query(text, values);
        },
      },
    });
    await backend.open(SETTINGS);
    const first = Date.now() - 2_000_000;
    const claims = Array.from({ length: CLAIMS_KEPT_PER_ENTRY + 5 }, (_, i) => claimOf('busy', first + i, 'pass-1'));
    expect(new Set(await backend.claimer.claimMany(claims))).toEqual(new Set([true]));
    expect(sweeps).toHaveLength(1);
    let closed = false;
    const closing = backend.close().then(() => {
      closed = true;
    });
    await a.pool.query('SELECT 1');
    expect(closed).toBe(false);
    sweeps[0]?.();
    await closing;
    expect(await rowsOf('busy')).toBe(CLAIMS_KEPT_PER_ENTRY);
  });

  it('that a failing sweep leaves are removed by the next', async () => {
    let failing = true;
    const backend = new PostgresBackend({
      pool: {
        query: async (text, values) => {
          if (failing && text.includes('DELETE FROM')) throw new Error('connection lost');
          return a.pool.query(text, values);
        },
      },
    });
    await backend.open(SETTINGS);
    const first = Date.now() - 2_000_000;
    const claims = Array.from({ length: CLAIMS_KEPT_PER_ENTRY + 5 }, (_, i) => claimOf('busy', first + i, 'pass-1'));
    await backend.claimer.claimMany(claims);
    await backend.claimer.idle();
    expect(await rowsOf('busy')).toBe(CLAIMS_KEPT_PER_ENTRY + 5);
    failing = false;
    expect(await backend.claimer.claimMany([claimOf('busy', first + 1_000, 'pass-1')])).toEqual([true]);
    await backend.close();
    expect(await rowsOf('busy')).toBe(CLAIMS_KEPT_PER_ENTRY);
  });
});

describe('the clock of the store', () => {
  it('is that of the statement: an old transaction on the connection makes no claim early', async () => {
    const session = await a.pool.connect();
    try {
      const backend = new PostgresBackend({ pool: { query: (text, values) => session.query(text, values) } });
      await session.query('BEGIN');
      const { rows } = await session.query('SELECT extract(epoch FROM now()) * 1000 AS began');
      // Until the transaction's own time is behind by more than the skew that is allowed here.
      await backend.open({ ...SETTINGS, maxClockSkewMs: 0 });
      while ((await backend.now()) <= Number(rows[0].began) + 20);
      const { fireKey, context } = claimOf('report', Math.ceil(Number(rows[0].began)) + 10, 'pass-1');
      expect(await backend.claimer.claim(fireKey, context)).toBe(true);
      await session.query('COMMIT');
    } finally {
      session.release();
    }
  });

  it('tells how far a fire lies ahead of it', async () => {
    const [answer] = await a.backend.claimer.claimMany([claimOf('report', Date.now() + 3_600_000, 'pass-1')]);
    expect(answer).toMatchObject({ code: 'CLOCK_AHEAD', store: 'postgres' });
    expect((answer as CoordinationError).aheadMs).toBeGreaterThan(3_500_000);
  });
});
