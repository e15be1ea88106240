import { immediately, type SqliteDatabase } from './sqlite-client.js';

export const DEFAULT_TABLE_PREFIX = 'cron_';

const PREFIX = /^[A-Za-z_][A-Za-z0-9_]{0,47}$/;

export interface SqliteTables {
  /** One row per entry: floor, watermark, and what bounds its claims. */
  readonly entry: string;
  /** One row per claim that is kept. */
  readonly claim: string;
  /** One row per lease that was ever granted; it stays after release and expiry, for its token and value. */
  readonly lease: string;
  /** One row per member that is alive, or died since the last heartbeat of its namespace. */
  readonly member: string;
}

/** Says what a prefix must be, or `undefined` if it can be used: it becomes part of statements as it is. */
export function tablePrefixFault(prefix: unknown): string | undefined {
  if (typeof prefix === 'string' && PREFIX.test(prefix) && !/^sqlite_/i.test(prefix)) return undefined;
  return 'letters, digits and underscores, at most 48, no digit first, not starting with "sqlite_"';
}

export function tablesFor(prefix: string): SqliteTables {
  return { entry: `${prefix}entry`, claim: `${prefix}claim`, lease: `${prefix}lease`, member: `${prefix}member` };
}

/**
 * All times are whole milliseconds since the epoch. Texts are compared byte by byte (SQLite's default), so `Job` and `job` are two.
 * `oldest_made_ms` is a lower bound and `claims` a count of the rows in the claim table: with them a claim knows in one look-up whether anything is to be
 * removed, and no index on the time of claims must be kept. A lease's `owner` is null once it was released; its `value` is JSON.
 */
export function schemaSql({ entry, claim, lease, member }: SqliteTables): string {
  return `
CREATE TABLE IF NOT EXISTS ${entry} (
  namespace TEXT NOT NULL,
  entry_key TEXT NOT NULL,
  floor_ms INTEGER,
  watermark_ms INTEGER NOT NULL,
  schedule TEXT NOT NULL,
  claims INTEGER NOT NULL,
  oldest_made_ms INTEGER,
  PRIMARY KEY (namespace, entry_key)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS ${claim} (
  namespace TEXT NOT NULL,
  entry_key TEXT NOT NULL,
  instant_ms INTEGER NOT NULL,
  claim_id TEXT NOT NULL,
  instance_id TEXT NOT NULL,
  made_ms INTEGER NOT NULL,
  PRIMARY KEY (namespace, entry_key, instant_ms)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS ${lease} (
  namespace TEXT NOT NULL,
  name TEXT NOT NULL,
  owner TEXT,
  token INTEGER NOT NULL,
  value TEXT NOT NULL,
  expires_ms INTEGER NOT NULL,
  PRIMARY KEY (namespace, name)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS ${member} (
  namespace TEXT NOT NULL,
  instance_id TEXT NOT NULL,
  member_name TEXT NOT NULL,
  expires_ms INTEGER NOT NULL,
  PRIMARY KEY (namespace, instance_id)
) WITHOUT ROWID;`;
}

/** Idempotent, and safe when many processes call it at once: those that come late find the tables without asking for the lock. */
export function createSchema(database: SqliteDatabase, tables: SqliteTables): void {
  const found = database
    .prepare(`SELECT count(*) AS tables FROM sqlite_master WHERE type = 'table' AND name IN (?, ?, ?, ?)`)
    .all(tables.entry, tables.claim, tables.lease, tables.member)[0] as { tables: number | bigint };
  if (Number(found.tables) === Object.keys(tables).length) return;
  immediately(database, () => database.exec(schemaSql(tables)));
}
