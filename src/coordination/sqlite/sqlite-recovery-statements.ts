import type { SqliteDatabase, SqliteStatement } from './sqlite-client.js';
import type { SqliteTables } from './sqlite-schema.js';

/** The statements of recovery. One claim a call; only what has lapsed is looked for in lists. */
export interface RecoveryStatements {
  /** (expiry, namespace, entryKey, instant, claim id) → when the claim was made, if it is the owner's and not done. Serves renewal and release. */
  readonly holdClaim: SqliteStatement;
  /** (namespace, entryKey, instant, claim id) → when the claim was made, if it was the owner's and not done. */
  readonly finishClaim: SqliteStatement;
  /** (made, made, namespace, entryKey, made): the head knows of a claim made then that may now be removed. */
  readonly noteRemovable: SqliteStatement;
  /** (namespace, now, instance id, `[entryKey, …]`, limit) → what has lapsed, longest first, of entries that are not paused, and not that instance's. */
  readonly lapsedClaims: SqliteStatement;
  /** (claim id, instance id, expiry, namespace, entryKey, instant) */
  readonly takeClaim: SqliteStatement;
}

export function prepareRecoveryStatements(database: SqliteDatabase, tables: SqliteTables): RecoveryStatements {
  const { entry, claim, unfinished } = tables;
  const one = 'namespace = ? AND entry_key = ? AND instant_ms = ?';
  return {
    holdClaim: database.prepare(`
      UPDATE ${claim} SET expires_ms = ? WHERE ${one} AND claim_id = ? AND expires_ms IS NOT NULL RETURNING made_ms`),
    finishClaim: database.prepare(`
      UPDATE ${claim} SET expires_ms = NULL WHERE ${one} AND claim_id = ? AND expires_ms IS NOT NULL RETURNING made_ms`),
    noteRemovable: database.prepare(`
      UPDATE ${entry} SET oldest_made_ms = min(coalesce(oldest_made_ms, ?), ?)
      WHERE namespace = ? AND entry_key = ? AND (oldest_made_ms IS NULL OR oldest_made_ms > ?)`),
    // By its index alone, which holds nothing that is done: the primary key would lead through every claim of the entries.
    lapsedClaims: database.prepare(`
      SELECT c.entry_key, c.instant_ms, c.claim_id, c.attempt FROM ${claim} AS c INDEXED BY ${unfinished}
      WHERE c.namespace = ? AND c.expires_ms IS NOT NULL AND c.expires_ms <= ? AND c.instance_id <> ?
        AND c.entry_key IN (SELECT value FROM json_each(?))
        AND NOT EXISTS (SELECT 1 FROM ${entry} AS e
          WHERE e.namespace = c.namespace AND e.entry_key = c.entry_key AND e.paused_ms IS NOT NULL)
      ORDER BY c.expires_ms LIMIT ?`),
    takeClaim: database.prepare(`
      UPDATE ${claim} SET claim_id = ?, instance_id = ?, attempt = attempt + 1, expires_ms = ? WHERE ${one}`),
  };
}
