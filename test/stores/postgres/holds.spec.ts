import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Pool } from 'pg';
import { CLAIMS_KEPT_PER_ENTRY } from '../../../src/coordination/claim-protocol.js';
import type { Claim, ClaimGrant } from '../../../src/coordination/claimer.js';
import { overlapLeaseName } from '../../../src/coordination/overlap-lease.js';
import { PostgresBackend } from '../../../src/coordination/postgres/postgres-backend.js';
import { tablesFor } from '../../../src/coordination/postgres/postgres-schema.js';
import { statementsFor } from '../../../src/coordination/postgres/postgres-statements.js';
import { type PostgresServer, startPostgres } from '../../servers/postgres.js';
import { claimOf, holdingClaimOf, openReplica, type Replica, whenWaiting } from './replicas.js';

const BOTH = { overlapTtlMs: 30_000, recoveryTtlMs: 30_000 };
const SETTINGS = { maxClockSkewMs: 10_000, retentionMs: 3_600_000 };
const TTL = 30_000;

let server: PostgresServer;
let a: Replica;
let b: Replica;

beforeAll(async () => {
  server = await startPostgres();
  [a, b] = [await openReplica({ connectionString: server.url }), await openReplica({ connectionString: server.url })];
}, 60_000);

afterEach(async () => {
  await a.backend.claimer.idle();
  for (const table of ['claim', 'entry', 'lease']) await a.pool.query(`DELETE FROM cron_${table}`);
});

afterAll(async () => {
  await a?.close();
  await b?.close();
  await server?.stop();
});

const heldClaim = ({ context: { namespace, entryKey, scheduledAt, claimId } }: Claim) => ({
  namespace,
  entryKey,
  scheduledAt,
  claimId,
});

const takeLapsed = (replica: Replica, claimId: string, entryKeys: readonly string[], limit = 100) =>
  replica.backend.recovery.takeLapsed({
    namespace: 'shop',
    entries: entryKeys.map((entryKey) => ({ entryKey, maxAttempts: 3 })),
    claimId,
    instanceId: 'the scan',
    ttlMs: TTL,
    limit,
  });

describe('a batch of which some claims take something with them', () => {
  it('is one statement, and each claim has the answer it would have alone', async () => {
    const sent: string[] = [];
    const backend = new PostgresBackend({
      pool: {
        query: (text, values) => {
          sent.push(text);
          return a.pool.query(text, values);
        },
      },
    });
    await backend.open(SETTINGS);
    sent.length = 0;
    const at = Date.now();
    await b.backend.claimer.claimMany([holdingClaimOf('busy', at - 1, 'theirs', { overlapTtlMs: TTL })]);
    await b.backend.claimer.pause('shop', 'paused');
    const answers = await backend.claimer.claimMany([
      claimOf('plain', at, 'pass'),
      holdingClaimOf('both', at, 'pass', BOTH),
      holdingClaimOf('busy', at, 'pass', BOTH),
      holdingClaimOf('recoverable', at, 'pass', { recoveryTtlMs: TTL }),
      holdingClaimOf('paused', at, 'pass', BOTH),
      claimOf('busy', at - 1, 'pass'),
    ]);
    expect(answers).toEqual([true, { granted: true, overlapToken: 1 }, 'overlap', true, 'paused', false]);
    expect(sent).toHaveLength(1);
    const { rows } = await a.pool.query('SELECT entry_key FROM cron_claim WHERE expires_ms IS NOT NULL ORDER BY 1');
    expect(rows.map(({ entry_key }) => entry_key)).toEqual(['both', 'recoverable']);
  });

  it('gives the overlap lease of an entry to the earliest of its instants', async () => {
    const at = Date.now();
    const claims = [3, 1, 2].map((i) => holdingClaimOf('report', at + i, `pass-${i}`, BOTH));
    expect(await a.backend.claimer.claimMany(claims)).toEqual([
      'overlap',
      { granted: true, overlapToken: 1 },
      'overlap',
    ]);
    const lease = await a.backend.leases.read('shop', [overlapLeaseName('report')]);
    expect(lease.get(overlapLeaseName('report'))?.owner).toBe('pass-1');
  });

  it('takes leases as any other does: kept and given back by owner and token', async () => {
    const at = Date.now();
    const [grant] = await a.backend.claimer.claimMany([holdingClaimOf('report', at, 'pass-1', { overlapTtlMs: TTL })]);
    const held = {
      namespace: 'shop',
      name: overlapLeaseName('report'),
      owner: 'pass-1',
      token: (grant as ClaimGrant).overlapToken,
    };
    const later = holdingClaimOf('report', at + 1, 'pass-2', { overlapTtlMs: TTL });
    expect(await b.backend.leases.renew(held, { ttlMs: TTL })).toBe(true);
    expect(await b.backend.claimer.claimMany([later])).toEqual(['overlap']);
    expect(await b.backend.leases.release(held, {})).toBe(true);
    // The claim is there; its pass asks again, and now has the lease.
    expect(await b.backend.claimer.claimMany([later])).toEqual([{ granted: true, overlapToken: 2 }]);
  });

  it('with a life that is no number grants the others', async () => {
    const at = Date.now();
    const answers = await a.backend.claimer.claimMany([
      holdingClaimOf('a', at, 'pass', { overlapTtlMs: Number.NaN }),
      holdingClaimOf('b', at, 'pass', BOTH),
    ]);
    expect(answers).toEqual([
      expect.objectContaining({ code: 'COORDINATION_FAILED' }),
      { granted: true, overlapToken: 1 },
    ]);
  });

  it('of a thousand claims is one statement, won or lost', async () => {
    const at = Date.now();
    const claims = (id: string) => Array.from({ length: 1_000 }, (_, i) => holdingClaimOf(`entry-${i}`, at, id, BOTH));
    const answers = await a.backend.claimer.claimMany(claims('pass-1'));
    expect(new Set(answers.map((answer) => (answer as ClaimGrant).overlapToken))).toEqual(new Set([1]));
    expect(new Set(await a.backend.claimer.claimMany(claims('pass-2')))).toEqual(new Set([false]));
  });

  it('compares no claim of a thousand with all the others, whatever the planner expects', async () => {
    const at = Date.now();
    const thousand = (write: (i: number) => string | number) =>
      `{${Array.from({ length: 1_000 }, (_, i) => write(i)).join(',')}}`;
    const values = (instantMs: number) => [
      ...[thousand(() => 'shop'), thousand((i) => `entry-${i}`), thousand(() => instantMs)],
      ...[thousand(() => 'pass'), thousand(() => 'replica-1'), thousand(() => 'every-minute'), '10000', '3600000'],
      ...[thousand((i) => `overlap:entry-${i}`), thousand(() => TTL), thousand(() => TTL)],
    ];
    for (const [i, statistics] of ['of empty tables', 'of tables with the last turn'].entries()) {
      const plan = await planOf(a.pool, statementsFor(tablesFor()).claimHolding, values(at + i));
      expect({ statistics, inVain: rowsComparedInVain(nodesOf(plan)) < 10_000 }).toEqual({ statistics, inVain: true });
      await a.pool.query('ANALYZE');
    }
  });
});

describe('a claim that finds the lease made in between', () => {
  it('is sent again, keeps its claim, and cannot be taken over', async () => {
    const at = Date.now();
    await a.backend.claimer.claimMany([claimOf('report', at - 1, 'before')]);
    const other = await b.pool.connect();
    await other.query('BEGIN');
    await other.query('SELECT FROM cron_entry FOR UPDATE');
    // Its snapshot shows no lease.
    const asked = a.backend.claimer.claimMany([holdingClaimOf('report', at, 'late', BOTH)]);
    await whenWaiting(a.pool, 1);
    await b.backend.leases.acquire({
      namespace: 'shop',
      name: overlapLeaseName('report'),
      owner: 'another',
      ttlMs: TTL,
    });
    await other.query('COMMIT');
    other.release();
    expect(await asked).toEqual(['overlap']);
    const { rows } = await a.pool.query('SELECT claim_id, expires_ms FROM cron_claim WHERE instant_ms = $1', [at]);
    expect(rows).toEqual([{ claim_id: 'late', expires_ms: null }]);
  });

  it.each([
    { begins: 'held', ends: 'free', answer: { granted: true, overlapToken: 2 }, recoverable: true },
    { begins: 'free', ends: 'held', answer: 'overlap', recoverable: false },
  ])('obeys the newest version of a lease that was $begins and is $ends', async ({ begins, answer, recoverable }) => {
    const at = Date.now();
    const lease = { namespace: 'shop', name: overlapLeaseName('report'), owner: 'another', ttlMs: TTL };
    await a.backend.claimer.claimMany([claimOf('report', at - 1, 'before')]);
    const grant = await b.backend.leases.acquire(lease);
    const release = () => b.backend.leases.release({ ...lease, token: grant?.token ?? 0 }, {});
    if (begins === 'free') await release();
    const other = await b.pool.connect();
    await other.query('BEGIN');
    await other.query('SELECT FROM cron_entry FOR UPDATE');
    const asked = a.backend.claimer.claimMany([holdingClaimOf('report', at, 'late', BOTH)]);
    await whenWaiting(a.pool, 1);
    if (begins === 'free') await b.backend.leases.acquire(lease);
    else await release();
    await other.query('COMMIT');
    other.release();
    expect(await asked).toEqual([answer]);
    const { rows } = await a.pool.query('SELECT expires_ms FROM cron_claim WHERE instant_ms = $1', [at]);
    expect(rows[0].expires_ms !== null).toBe(recoverable);
  });
});

describe('a paused entry', () => {
  it('is asked without writing: the rows are the very same afterwards', async () => {
    const at = Date.now();
    await a.backend.claimer.claimMany([claimOf('report', at - 1, 'before')]);
    await a.backend.claimer.pause('shop', 'report');
    const rows = async () => {
      const all = ['entry', 'claim', 'lease'].map((table) =>
        a.pool.query(`SELECT t.ctid, t.xmin, t.xmax, t.* FROM cron_${table} t`),
      );
      return (await Promise.all(all)).flatMap((result) => result.rows);
    };
    const before = await rows();
    expect(before).toHaveLength(2);
    expect(await b.backend.claimer.claimMany([claimOf('report', at, 'pass-1')])).toEqual(['paused']);
    expect(await b.backend.claimer.claimMany([holdingClaimOf('report', at, 'pass-2', BOTH)])).toEqual(['paused']);
    expect(await rows()).toEqual(before);
  });

  it.each([
    ['plain', (at: number) => claimOf('report', at, 'late')],
    ['holding', (at: number) => holdingClaimOf('report', at, 'late', BOTH)],
  ])('refuses a %s claim whose snapshot shows it running, and leaves its head as it was', async (_, claim) => {
    const at = Date.now();
    await a.backend.claimer.claimMany([claimOf('report', at - 1, 'before')]);
    const other = await b.pool.connect();
    await other.query('BEGIN');
    await other.query(statementsFor(tablesFor()).pause, ['shop', 'report']);
    const asked = a.backend.claimer.claimMany([claim(at)]);
    await whenWaiting(a.pool, 1);
    await other.query('COMMIT');
    other.release();
    expect(await asked).toEqual(['paused']);
    const { rows } = await a.pool.query('SELECT watermark_ms, claims FROM cron_entry');
    expect(rows).toEqual([{ watermark_ms: String(at - 1), claims: 1 }]);
  });

  it('that was never claimed has no last fire, and its first claim makes one', async () => {
    const at = Date.now();
    await a.backend.claimer.pause('shop', 'new');
    expect(await a.backend.claimer.lastFire('shop', ['new'])).toEqual(new Map());
    expect(await a.backend.claimer.resume('shop', 'new', { keepWatermark: false })).toBeInstanceOf(Date);
    expect(await a.backend.claimer.lastFire('shop', ['new'])).toEqual(new Map());
    expect(await a.backend.claimer.claimMany([claimOf('new', at, 'pass-1')])).toEqual([true]);
    expect((await a.backend.claimer.lastFire('shop', ['new'])).get('new')).toEqual({
      scheduledAt: new Date(at),
      schedule: 'every-minute',
    });
  });
});

describe('an unfinished claim', () => {
  const rowsOf = async (where: string) =>
    (await a.pool.query(`SELECT instant_ms FROM cron_claim WHERE ${where} ORDER BY 1`)).rows.map(({ instant_ms }) =>
      Number(instant_ms),
    );

  it('outlives every sweep, and goes with the next after it is finished; the floor passes it', async () => {
    const first = Date.now() - 2_000_000;
    const kept = holdingClaimOf('busy', first + 1, 'kept', { recoveryTtlMs: TTL });
    expect(await a.backend.claimer.claimMany([claimOf('busy', first, 'pass-1'), kept])).toEqual([true, true]);
    const more = (from: number) =>
      Array.from({ length: CLAIMS_KEPT_PER_ENTRY * 2 }, (_, i) => claimOf('busy', first + from + i, 'pass-1'));
    expect(new Set(await a.backend.claimer.claimMany(more(2)))).toEqual(new Set([true]));
    await a.backend.claimer.idle();
    expect(await rowsOf(`instant_ms < ${first + 200}`)).toEqual([first + 1]);
    const another = claimOf('busy', first + 1, 'pass-2');
    expect(await a.backend.claimer.claimMany([another, claimOf('busy', first, 'pass-2')])).toEqual([
      false,
      'superseded',
    ]);
    expect(await a.backend.claimer.claimMany([kept])).toEqual([true]);

    expect(await a.backend.recovery.finish(heldClaim(kept))).toBe(true);
    await a.backend.claimer.claimMany(more(2 + CLAIMS_KEPT_PER_ENTRY * 2));
    await a.backend.claimer.idle();
    expect(await rowsOf(`instant_ms < ${first + 200}`)).toEqual([]);
    expect(await a.backend.claimer.claimMany([another])).toEqual(['superseded']);
  });

  it('is found by the index of unfinished claims among a hundred thousand that are kept', async () => {
    const at = Date.now();
    await a.pool.query(
      `INSERT INTO cron_claim SELECT 'shop', 'entry-' || i % 1000, $1::bigint - i / 1000, 'pass', 'replica-1', $1::bigint, NULL, NULL
       FROM generate_series(1, 100000) i`,
      [at],
    );
    await a.pool.query(
      `INSERT INTO cron_claim SELECT 'shop', 'gone-' || i % 100, $1::bigint - i, 'pass', 'replica-1', $1::bigint, 1, $1::bigint - 100000 - i FROM generate_series(1, 5000) i`,
      [at],
    );
    const names = Array.from({ length: 1_000 }, (_, i) => `entry-${i}`);
    const lapsed = ['entry-1', 'entry-2'].map((key) => holdingClaimOf(key, at + 1, 'new', { recoveryTtlMs: 0 }));
    expect(await a.backend.claimer.claimMany(lapsed)).toEqual([true, true]);
    const values = [
      'shop',
      `{${names.join(',')}}`,
      `{${names.map(() => 3).join(',')}}`,
      'scan',
      'the scan',
      '30000',
      '100',
    ];
    for (const statistics of ['of an empty table', 'of today']) {
      if (statistics === 'of today') await a.pool.query('ANALYZE cron_claim');
      const plan = await planOf(a.pool, statementsFor(tablesFor()).takeLapsed, values);
      const nodes = nodesOf(plan);
      expect(nodes.map((node) => node['Index Name'])).toContain('cron_claim_lapse');
      // The rows kept lie on some 1,500 pages.
      expect((plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0)).toBeLessThan(500);
      expect(rowsComparedInVain(nodes)).toBeLessThan(10_000);
      expect(plan['Actual Rows']).toBe(2);
      await a.pool.query(`UPDATE cron_claim SET expires_ms = 0, instance_id = 'dead' WHERE attempt = 2`);
    }
  });
});

interface PlanNode {
  readonly Plans?: readonly PlanNode[];
  readonly 'Index Name'?: string;
  readonly 'Actual Rows': number;
  readonly 'Rows Removed by Join Filter'?: number;
  readonly 'Shared Hit Blocks'?: number;
  readonly 'Shared Read Blocks'?: number;
}

async function planOf(pool: Pool, text: string, values: string[]): Promise<PlanNode> {
  const { rows } = await pool.query(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`, values);
  return rows[0]['QUERY PLAN'][0].Plan;
}

function nodesOf(plan: PlanNode): PlanNode[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];
}

/** A thousand rows that are joined with a thousand by comparing each with each make this a million. */
function rowsComparedInVain(nodes: readonly PlanNode[]): number {
  return Math.max(...nodes.map((node) => node['Rows Removed by Join Filter'] ?? 0));
}

describe('forgetting an entry', () => {
  it('waits for a claim on its way, and takes that along', async () => {
    const at = Date.now();
    await a.backend.claimer.claimMany([claimOf('report', at - 1, 'before'), claimOf('other', at, 'before')]);
    const other = await b.pool.connect();
    await other.query('BEGIN');
    const backend = new PostgresBackend({ pool: { query: (text, values) => other.query(text, values) } });
    await backend.open(SETTINGS);
    expect(await backend.claimer.claimMany([holdingClaimOf('report', at, 'pass-1', BOTH)])).toHaveLength(1);
    const forgotten = a.backend.claimer.forget('shop', 'report');
    await whenWaiting(a.pool, 1);
    await other.query('COMMIT');
    other.release();
    await forgotten;
    for (const table of ['entry', 'claim']) {
      const { rows } = await a.pool.query(`SELECT entry_key FROM cron_${table}`);
      expect(rows).toEqual([{ entry_key: 'other' }]);
    }
    expect(await takeLapsed(a, 'scan', ['report'])).toEqual([]);
    expect((await a.backend.leases.read('shop', [overlapLeaseName('report')])).size).toBe(1);
    expect(await a.backend.claimer.claimMany([claimOf('report', at - 1, 'pass-2')])).toEqual([true]);
  });
});
