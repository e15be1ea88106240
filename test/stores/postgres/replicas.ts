import { Pool, type PoolConfig } from 'pg';
import { type ClaimProtocolSettings, DEFAULT_CLAIM_PROTOCOL } from '../../../src/coordination/claim-protocol.js';
import type { Claim, ClaimHolds } from '../../../src/coordination/claimer.js';
import { PostgresBackend } from '../../../src/coordination/postgres/postgres-backend.js';
import type { PostgresNames } from '../../../src/coordination/postgres/postgres-schema.js';
import { fireKey } from '../../../src/domain/fire-key.js';

const { signal } = new AbortController();

export function claimOf(entryKey: string, atMs: number, claimId: string, instanceId = 'replica-1'): Claim {
  return {
    fireKey: fireKey(entryKey, atMs),
    context: {
      namespace: 'shop',
      entryKey,
      scheduledAt: new Date(atMs),
      claimId,
      instanceId,
      schedule: 'every-minute',
      signal,
    },
  };
}

export function holdingClaimOf(
  entryKey: string,
  atMs: number,
  claimId: string,
  holds: ClaimHolds,
  instanceId?: string,
): Claim {
  const { fireKey, context } = claimOf(entryKey, atMs, claimId, instanceId);
  return { fireKey, context: { ...context, holds } };
}

/** Resolves when this many statements of the server wait for a lock. */
export async function whenWaiting(pool: Pool, count: number): Promise<void> {
  for (;;) {
    const { rows } = await pool.query(
      `SELECT count(*)::int AS waiting FROM pg_stat_activity WHERE wait_event_type = 'Lock'`,
    );
    if (rows[0].waiting >= count) return;
  }
}

export interface Replica {
  readonly backend: PostgresBackend;
  readonly pool: Pool;
  close(): Promise<void>;
}

/** A backend on a pool of its own, open, with the tables created. */
export async function openReplica(
  config: PoolConfig,
  names: PostgresNames = {},
  settings: ClaimProtocolSettings = DEFAULT_CLAIM_PROTOCOL,
): Promise<Replica> {
  const pool = new Pool(config);
  // A session that the server ends while nobody uses it is replaced; without a listener it would end the process.
  pool.on('error', () => undefined);
  const backend = new PostgresBackend({ pool, createSchema: true, ...names });
  await backend.open(settings);
  return {
    backend,
    pool,
    close: async () => {
      await backend.close();
      await pool.end();
    },
  };
}

/** What sessions of one fleet can be set to without anybody meaning it. */
export const SESSION_SETTINGS = [
  '-c TimeZone=UTC',
  '-c TimeZone=Asia/Tokyo -c DateStyle=German',
  '-c TimeZone=America/New_York -c DateStyle=SQL,DMY',
  '-c TimeZone=Pacific/Chatham -c IntervalStyle=sql_standard',
  '-c TimeZone=Europe/Berlin -c extra_float_digits=-15',
] as const;
