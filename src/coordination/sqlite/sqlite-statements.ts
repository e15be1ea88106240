import type { SqliteDatabase, SqliteStatement } from './sqlite-client.js';
import { prepareRecoveryStatements, type RecoveryStatements } from './sqlite-recovery-statements.js';
import type { SqliteTables } from './sqlite-schema.js';

/**
 * The statements of claims, pauses, leases and membership. Nearly each of the first takes a whole batch as one JSON text, so a batch costs as many calls as a single claim. Lists of asks are
 * `[[namespace, entryKey, instantMs], …]`, lists of entries `[[namespace, entryKey], …]`.
 */
export interface SqliteStatements extends RecoveryStatements {
  /** (asks) → per ask its place, its entry's head and the claim id of its fire; null where there is none. */
  readonly look: SqliteStatement;
  /** (cutoff, cutoff, cutoff, entries): counts anew what was not made before the cutoff or may be taken over, and raises the floor over the rest. */
  readonly raiseFloorByAge: SqliteStatement;
  /** (cutoff, entries): removes what was made before the cutoff, unless it may be taken over. */
  readonly removeByAge: SqliteStatement;
  /** (`[[namespace, entryKey, instantMs, claimId, instanceId, madeMs, attempt, expiresMs], …]`) */
  readonly addClaims: SqliteStatement;
  /** (expiry, namespace, entryKey, instant, claim id): its pass has the lease that it was refused before. */
  readonly reviveClaim: SqliteStatement;
  /**
   * (namespace, entryKey, namespace, entryKey, count) → the instants that were removed: the lowest, as many as that, but those that may be taken over. One entry a call: a list makes SQLite walk all
   * its claims.
   */
  readonly removeLowest: SqliteStatement;
  /** (`[[namespace, entryKey, floorMs, watermarkMs, schedule, claims, oldestMadeMs], …]`) */
  readonly writeHeads: SqliteStatement;
  /** (namespace, `[entryKey, …]`) → watermarks. */
  readonly lastFires: SqliteStatement;
  /** (namespace, entryKey, now): paused since now, unless it is paused already. */
  readonly pauseEntry: SqliteStatement;
  /** (namespace, entryKey) → since when it is paused, if it is. */
  readonly pausedSince: SqliteStatement;
  /** (lowest watermark it has from now on, namespace, entryKey): ends the pause; a watermark that is not there stays away. */
  readonly resumeEntry: SqliteStatement;
  /** (namespace, entryKey) */
  readonly forgetClaims: SqliteStatement;
  /** (namespace, entryKey) */
  readonly forgetHead: SqliteStatement;
  /** (namespace, name, owner, value or null, expiry, value or null, now) → token and value, if it was granted. */
  readonly acquireLease: SqliteStatement;
  /** (expiry, value or null, namespace, name, owner, token, now) → a row, if the hold is still the owner's. */
  readonly renewLease: SqliteStatement;
  /** (value or null, namespace, name, owner, token, now) → a row, if the hold was still the owner's. */
  readonly releaseLease: SqliteStatement;
  /** (`[name, …]`, namespace) → the leases. */
  readonly readLeases: SqliteStatement;
  /** (namespace, now): takes out who expired. */
  readonly removeDead: SqliteStatement;
  /** (namespace, instance id, member name, expiry) */
  readonly keepMember: SqliteStatement;
  /** (namespace, instance id) */
  readonly removeMember: SqliteStatement;
  /** (namespace, now) → the live members. */
  readonly liveMembers: SqliteStatement;
}

const field = (place: number, of = 'value') => `json_extract(${of}, '$[${place}]')`;

export function prepareStatements(database: SqliteDatabase, tables: SqliteTables): SqliteStatements {
  const { entry, claim, lease, member } = tables;
  return {
    look: database.prepare(`
      SELECT ask.key AS place, e.floor_ms, e.watermark_ms, e.schedule, e.claims, e.oldest_made_ms, e.paused_ms, c.claim_id
      FROM json_each(?) AS ask
      LEFT JOIN ${entry} AS e ON e.namespace = ${field(0, 'ask.value')} AND e.entry_key = ${field(1, 'ask.value')}
      LEFT JOIN ${claim} AS c ON c.namespace = ${field(0, 'ask.value')} AND c.entry_key = ${field(1, 'ask.value')}
        AND c.instant_ms = ${field(2, 'ask.value')}`),
    raiseFloorByAge: database.prepare(`
      UPDATE ${entry} AS e SET
        floor_ms = CASE WHEN old.latest IS NULL OR e.floor_ms >= old.latest THEN e.floor_ms ELSE old.latest END,
        claims = old.kept,
        oldest_made_ms = old.oldest_left
      FROM (
        SELECT ${field(0, 'ask.value')} AS namespace, ${field(1, 'ask.value')} AS entry_key,
          max(CASE WHEN c.made_ms < ? AND c.expires_ms IS NULL THEN c.instant_ms END) AS latest,
          count(CASE WHEN c.made_ms >= ? OR c.expires_ms IS NOT NULL THEN 1 END) AS kept,
          min(CASE WHEN c.made_ms >= ? AND c.expires_ms IS NULL THEN c.made_ms END) AS oldest_left
        FROM json_each(?) AS ask LEFT JOIN ${claim} AS c
          ON c.namespace = ${field(0, 'ask.value')} AND c.entry_key = ${field(1, 'ask.value')}
        GROUP BY 1, 2
      ) AS old
      WHERE e.namespace = old.namespace AND e.entry_key = old.entry_key`),
    removeByAge: database.prepare(`
      DELETE FROM ${claim} WHERE made_ms < ? AND expires_ms IS NULL AND (namespace, entry_key) IN
        (SELECT ${field(0)}, ${field(1)} FROM json_each(?))`),
    addClaims: database.prepare(`
      INSERT INTO ${claim} (namespace, entry_key, instant_ms, claim_id, instance_id, made_ms, attempt, expires_ms)
      SELECT ${[0, 1, 2, 3, 4, 5, 6, 7].map((place) => field(place)).join(', ')} FROM json_each(?)`),
    reviveClaim: database.prepare(`
      UPDATE ${claim} SET attempt = 1, expires_ms = ?
      WHERE namespace = ? AND entry_key = ? AND instant_ms = ? AND claim_id = ? AND attempt = 0`),
    removeLowest: database.prepare(`
      DELETE FROM ${claim} WHERE namespace = ? AND entry_key = ? AND expires_ms IS NULL AND instant_ms IN
        (SELECT instant_ms FROM ${claim} WHERE namespace = ? AND entry_key = ? ORDER BY instant_ms LIMIT ?)
      RETURNING instant_ms`),
    writeHeads: database.prepare(`
      INSERT INTO ${entry} (namespace, entry_key, floor_ms, watermark_ms, schedule, claims, oldest_made_ms)
      SELECT ${[0, 1, 2, 3, 4, 5, 6].map((place) => field(place)).join(', ')} FROM json_each(?) WHERE true
      ON CONFLICT (namespace, entry_key) DO UPDATE SET floor_ms = excluded.floor_ms, watermark_ms = excluded.watermark_ms,
        schedule = excluded.schedule, claims = excluded.claims, oldest_made_ms = excluded.oldest_made_ms`),
    lastFires: database.prepare(`
      SELECT e.entry_key, e.watermark_ms, e.schedule FROM json_each(?) AS ask
      JOIN ${entry} AS e ON e.namespace = ? AND e.entry_key = ask.value AND e.watermark_ms IS NOT NULL`),
    pauseEntry: database.prepare(`
      INSERT INTO ${entry} (namespace, entry_key, schedule, claims, paused_ms) VALUES (?, ?, '', 0, ?)
      ON CONFLICT (namespace, entry_key) DO UPDATE SET paused_ms = excluded.paused_ms WHERE ${entry}.paused_ms IS NULL`),
    pausedSince: database.prepare(`
      SELECT paused_ms FROM ${entry} WHERE namespace = ? AND entry_key = ? AND paused_ms IS NOT NULL`),
    resumeEntry: database.prepare(`
      UPDATE ${entry} SET paused_ms = NULL, watermark_ms = max(watermark_ms, ?) WHERE namespace = ? AND entry_key = ?`),
    forgetClaims: database.prepare(`DELETE FROM ${claim} WHERE namespace = ? AND entry_key = ?`),
    forgetHead: database.prepare(`DELETE FROM ${entry} WHERE namespace = ? AND entry_key = ?`),
    acquireLease: database.prepare(`
      INSERT INTO ${lease} (namespace, name, owner, token, value, expires_ms) VALUES (?, ?, ?, 1, coalesce(?, 'null'), ?)
      ON CONFLICT (namespace, name) DO UPDATE SET owner = excluded.owner, token = ${lease}.token + 1,
        value = coalesce(?, ${lease}.value), expires_ms = excluded.expires_ms
      WHERE ${lease}.owner IS NULL OR ${lease}.owner = excluded.owner OR ${lease}.expires_ms <= ?
      RETURNING token, value`),
    renewLease: database.prepare(`
      UPDATE ${lease} SET expires_ms = ?, value = coalesce(?, value)
      WHERE namespace = ? AND name = ? AND owner = ? AND token = ? AND expires_ms > ? RETURNING token`),
    releaseLease: database.prepare(`
      UPDATE ${lease} SET owner = NULL, value = coalesce(?, value)
      WHERE namespace = ? AND name = ? AND owner = ? AND token = ? AND expires_ms > ? RETURNING token`),
    readLeases: database.prepare(`
      SELECT l.name, l.owner, l.token, l.value, l.expires_ms FROM json_each(?) AS ask
      JOIN ${lease} AS l ON l.namespace = ? AND l.name = ask.value`),
    removeDead: database.prepare(`DELETE FROM ${member} WHERE namespace = ? AND expires_ms <= ?`),
    keepMember: database.prepare(`
      INSERT INTO ${member} (namespace, instance_id, member_name, expires_ms) VALUES (?, ?, ?, ?)
      ON CONFLICT (namespace, instance_id) DO UPDATE SET member_name = excluded.member_name, expires_ms = excluded.expires_ms`),
    removeMember: database.prepare(`DELETE FROM ${member} WHERE namespace = ? AND instance_id = ?`),
    liveMembers: database.prepare(`
      SELECT instance_id, member_name FROM ${member} WHERE namespace = ? AND expires_ms > ?`),
    ...prepareRecoveryStatements(database, tables),
  };
}
