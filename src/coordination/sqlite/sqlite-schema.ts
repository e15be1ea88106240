import { immediately, type SqliteDatabase } from './sqlite-client.js';

export const DEFAULT_TABLE_PREFIX = 'cron_';

const PREFIX = /^[A-Za-z_][A-Za-z0-9_]{0,47}$/;

export interface SqliteTables {
  /** One row per entry: floor, watermark, pause, and what bounds its claims. */
  readonly entry: string;
  /** One row per claim that is kept. */
  readonly claim: string;
  /** Index of the claims that can be taken over, by when they lapse. */
  readonly unfinished: string;
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
  return {
    entry: `${prefix}entry`,
    claim: `${prefix}claim`,
    unfinished: `${prefix}claim_unfinished`,
    lease: `${prefix}lease`,
    member: `${prefix}member`,
  };
}

/**
 * All times are whole milliseconds since the epoch. Texts are compared byte by byte (SQLite's default), so `Job` and `job` are two.
 * `oldest_made_ms` is a lower bound of the claims that may be removed and `claims` a count of the rows in the claim table: with them a claim knows in one look-up whether anything is to be
 * removed, and no index on the time of claims must be kept. `watermark_ms` is null for an entry that was paused and never claimed. A claim's `expires_ms` is null once it is done, and where it was never
 * to be taken over; the index holds the others alone. A lease's `owner` is null once it was released; its `value` is JSON.
 */
export function schemaSql({ entry, claim, unfinished, lease, member }: SqliteTables): string {
  return `
CREATE TABLE IF NOT EXISTS ${entry} (
  namespace TEXT NOT NULL,
  entry_key TEXT NOT NULL,
  floor_ms INTEGER,
  watermark_ms INTEGER,
  schedule TEXT NOT NULL,
  claims INTEGER NOT NULL,
  oldest_made_ms INTEGER,
  paused_ms INTEGER,
  PRIMARY KEY (namespace, entry_key)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS ${claim} (
  namespace TEXT NOT NULL,
  entry_key TEXT NOT NULL,
  instant_ms INTEGER NOT NULL,
  claim_id TEXT NOT NULL,
  instance_id TEXT NOT NULL,
  made_ms INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  expires_ms INTEGER,
  PRIMARY KEY (namespace, entry_key, instant_ms)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS ${unfinished} ON ${claim} (namespace, expires_ms) WHERE expires_ms IS NOT NULL;
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

/** Idempotent, and safe when many processes call it at once: those that come late find all of it without asking for the lock. */
export function createSchema(database: SqliteDatabase, tables: SqliteTables): void {
  const found = database
    .prepare('SELECT count(*) AS parts FROM sqlite_master WHERE name IN (SELECT value FROM json_each(?))')
    .all(JSON.stringify(Object.values(tables)))[0] as { parts: number | bigint };
  if (Number(found.parts) === Object.keys(tables).length) return;
  immediately(database, () => database.exec(schemaSql(tables)));
}
