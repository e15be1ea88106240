import { CLAIMS_KEPT_PER_ENTRY } from '../claim-protocol.js';
import type { PostgresTables } from './postgres-schema.js';

/**
 * Every statement, its parameters in order. Each is one SELECT, around writes where it writes: it is one transaction by itself, and a client that answers
 * writes in a shape of its own still answers rows. Each parameter is a text with its type written beside it. Nothing is prepared by name and nothing is
 * set on the session, which the next statement may not get.
 */
export interface PostgresStatements {
  /** (namespaces, entry keys, instants, claim ids, instance ids, schedules, max clock skew, retention) → an answer per claim, see `ClaimRow`. */
  readonly claim: string;
  /** (namespaces, entry keys, retention), each entry once → nothing of use. */
  readonly sweep: string;
  /** (namespace, entry keys) → `entry_key`, `watermark_ms`, `schedule`. */
  readonly lastFires: string;
  /** () → `now_ms`. */
  readonly now: string;
  /** (namespace, name, owner, ttl, value or '') → `token`, `value`; no row: somebody else holds it. */
  readonly acquire: string;
  /** (namespace, name, owner, token, ttl, value or '') → a row if it is held on. */
  readonly renew: string;
  /** (namespace, name, owner, token, value or '') → a row if it was given back. */
  readonly release: string;
  /** (namespace, names) → `name`, `owner`, `token`, `value`, `expires_in_ms`. */
  readonly readLeases: string;
  /** (namespace, instance id, member name, expiry) → the live members. */
  readonly heartbeat: string;
  /** (namespace, instance id) */
  readonly leave: string;
  /** (namespace) → the live members. */
  readonly members: string;
}

/** What the claim statement answers for one claim. */
export interface ClaimRow {
  /** Its place in the arrays, from 1. */
  readonly place: number | string | bigint;
  readonly answer: 'early' | 'granted' | 'refused' | 'superseded';
  readonly now_ms: number | string | bigint;
  /** 1: its entry has claims to remove. */
  readonly sweep: number | string | bigint;
}

/** Rows of an entry at which it is swept whatever else: twice what is kept, so that a sweep walks about two rows for each it removes. */
const CLAIMS_AT_MOST = 2 * CLAIMS_KEPT_PER_ENTRY;
/** Below that an entry is swept once in this part of the retention. */
const SWEEPS_PER_RETENTION = 8;
/** Rows of members long gone that one heartbeat removes. */
const MEMBERS_REMOVED = 100;

/**
 * The store's clock: that of the statement, not of the transaction, which may be old. Whole milliseconds, as instants have. Not qualified, as everything
 * of pg_catalog is first in line on any session that did not ask for something else.
 */
const NOW = 'floor(extract(epoch FROM statement_timestamp()) * 1000)::bigint';

export function statementsFor({ entry, claim, lease, member }: PostgresTables): PostgresStatements {
  const held = 'l.namespace = $1::text AND l.name = $2::text AND l.owner = $3::text AND l.token = $4::text::bigint';
  return {
    // The entry's row is written before the floor is read, and what it returns is its newest version: the snapshot that `seen` reads may be older than a sweep this statement
    // had to wait for, and in it a claim that was made and removed meanwhile never was. Only what cannot become wrong is answered from the snapshot: an early instant, a
    // claim that is there, a floor that was reached. So a late loser writes nothing.
    // `found` is materialized, or each look-up would be made as often as the CASE below names it.
    // All rows are met in one order, by namespace, entry and instant: two batches that cross wait for each other once, and not in a ring.
    claim: `
WITH clock AS (SELECT ${NOW} AS now_ms),
asked AS (
  SELECT place, namespace COLLATE "C" AS namespace, entry_key COLLATE "C" AS entry_key, instant_ms, claim_id, instance_id, schedule
  FROM unnest($1::text::text[], $2::text::text[], $3::text::bigint[], $4::text::text[], $5::text::text[], $6::text::text[])
    WITH ORDINALITY AS u(namespace, entry_key, instant_ms, claim_id, instance_id, schedule, place)
),
found AS MATERIALIZED (
  SELECT a.*,
    (SELECT c.claim_id FROM ${claim} AS c
      WHERE c.namespace = a.namespace AND c.entry_key = a.entry_key AND c.instant_ms = a.instant_ms) AS holder,
    (SELECT e.floor_ms FROM ${entry} AS e WHERE e.namespace = a.namespace AND e.entry_key = a.entry_key) AS floor_ms
  FROM asked AS a
),
seen AS (
  SELECT f.*, clock.now_ms, CASE
    WHEN f.instant_ms - clock.now_ms > $7::text::bigint THEN 'early'
    WHEN f.holder = f.claim_id THEN 'granted'
    WHEN f.holder IS NOT NULL THEN 'refused'
    WHEN f.instant_ms <= f.floor_ms THEN 'superseded'
  END AS answer
  FROM found AS f CROSS JOIN clock
),
head AS (
  INSERT INTO ${entry} AS e (namespace, entry_key, watermark_ms, schedule, instance_id, claims, oldest_made_ms)
  SELECT s.namespace, s.entry_key, max(s.instant_ms), (array_agg(s.schedule ORDER BY s.instant_ms DESC))[1],
    (array_agg(s.instance_id ORDER BY s.instant_ms DESC))[1], count(*), min(s.now_ms)
  FROM seen AS s WHERE s.answer IS NULL GROUP BY s.namespace, s.entry_key ORDER BY s.namespace, s.entry_key
  ON CONFLICT (namespace, entry_key) DO UPDATE SET
    watermark_ms = greatest(e.watermark_ms, excluded.watermark_ms),
    schedule = CASE WHEN excluded.watermark_ms > e.watermark_ms THEN excluded.schedule ELSE e.schedule END,
    instance_id = CASE WHEN excluded.watermark_ms > e.watermark_ms THEN excluded.instance_id ELSE e.instance_id END,
    claims = e.claims + excluded.claims,
    oldest_made_ms = least(e.oldest_made_ms, excluded.oldest_made_ms)
  RETURNING e.namespace, e.entry_key, e.floor_ms, e.claims, e.oldest_made_ms, e.swept_ms
),
won AS (
  INSERT INTO ${claim} AS c (namespace, entry_key, instant_ms, claim_id, instance_id, made_ms)
  SELECT s.namespace, s.entry_key, s.instant_ms, s.claim_id, s.instance_id, s.now_ms
  FROM seen AS s JOIN head AS h ON h.namespace = s.namespace AND h.entry_key = s.entry_key
  WHERE s.answer IS NULL AND (h.floor_ms IS NULL OR s.instant_ms > h.floor_ms)
  ORDER BY s.namespace, s.entry_key, s.instant_ms
  ON CONFLICT (namespace, entry_key, instant_ms) DO UPDATE SET claim_id = excluded.claim_id WHERE c.claim_id = excluded.claim_id
  RETURNING c.namespace, c.entry_key, c.instant_ms
)
SELECT s.place, s.now_ms, coalesce(s.answer, CASE
    WHEN w.instant_ms IS NOT NULL THEN 'granted'
    WHEN s.instant_ms <= h.floor_ms THEN 'superseded'
    ELSE 'refused'
  END) AS answer,
  CASE WHEN w.instant_ms IS NOT NULL AND (
    h.claims > ${CLAIMS_AT_MOST}
    OR (h.claims > ${CLAIMS_KEPT_PER_ENTRY} OR h.oldest_made_ms < s.now_ms - $8::text::bigint)
      AND (h.swept_ms IS NULL OR abs(s.now_ms - h.swept_ms) > $8::text::bigint / ${SWEEPS_PER_RETENTION})
  ) THEN 1 ELSE 0 END AS sweep
FROM seen AS s
LEFT JOIN head AS h ON h.namespace = s.namespace AND h.entry_key = s.entry_key
LEFT JOIN won AS w ON w.namespace = s.namespace AND w.entry_key = s.entry_key AND w.instant_ms = s.instant_ms`,

    // Locks the entries first, in the order of the claim statement. What is removed is what the snapshot shows; claims made since it was taken wait for the next sweep, and are
    // added to the count by the difference that the entry's newest version makes.
    sweep: `
WITH clock AS (SELECT ${NOW} AS now_ms),
asked AS (
  SELECT namespace COLLATE "C" AS namespace, entry_key COLLATE "C" AS entry_key
  FROM unnest($1::text::text[], $2::text::text[]) AS u(namespace, entry_key)
),
counted AS (
  SELECT a.namespace, a.entry_key, (SELECT e.claims FROM ${entry} AS e WHERE e.namespace = a.namespace AND e.entry_key = a.entry_key) AS claims
  FROM asked AS a
),
head AS (
  SELECT e.namespace, e.entry_key FROM ${entry} AS e JOIN asked AS a ON e.namespace = a.namespace AND e.entry_key = a.entry_key
  ORDER BY e.namespace, e.entry_key FOR NO KEY UPDATE OF e
),
ranked AS (
  SELECT h.namespace, h.entry_key, c.instant_ms, c.made_ms,
    c.place > ${CLAIMS_KEPT_PER_ENTRY} OR c.made_ms < clock.now_ms - $3::text::bigint AS goes
  FROM head AS h CROSS JOIN clock CROSS JOIN LATERAL (
    SELECT c.instant_ms, c.made_ms, row_number() OVER (ORDER BY c.instant_ms DESC) AS place
    FROM ${claim} AS c WHERE c.namespace = h.namespace AND c.entry_key = h.entry_key
  ) AS c
),
gone AS (
  DELETE FROM ${claim} AS c USING ranked AS r
  WHERE r.goes AND c.namespace = r.namespace AND c.entry_key = r.entry_key AND c.instant_ms = r.instant_ms
  RETURNING c.namespace, c.entry_key, c.instant_ms
),
latest AS (SELECT namespace, entry_key, max(instant_ms) AS instant_ms FROM gone GROUP BY namespace, entry_key),
kept AS (
  SELECT namespace, entry_key, count(*) FILTER (WHERE NOT goes) AS claims, min(made_ms) FILTER (WHERE NOT goes) AS oldest_made_ms
  FROM ranked GROUP BY namespace, entry_key
),
swept AS (
  UPDATE ${entry} AS e SET
    floor_ms = greatest(e.floor_ms, l.instant_ms),
    claims = k.claims + greatest(0, e.claims - n.claims),
    oldest_made_ms = coalesce(k.oldest_made_ms, clock.now_ms),
    swept_ms = clock.now_ms
  FROM kept AS k JOIN counted AS n ON n.namespace = k.namespace AND n.entry_key = k.entry_key
    LEFT JOIN latest AS l ON l.namespace = k.namespace AND l.entry_key = k.entry_key
    CROSS JOIN clock
  WHERE e.namespace = k.namespace AND e.entry_key = k.entry_key
  RETURNING 1
)
SELECT count(*) AS entries FROM swept`,

    lastFires: `
SELECT e.entry_key, e.watermark_ms, e.schedule FROM ${entry} AS e
WHERE e.namespace = $1::text AND e.entry_key = ANY ($2::text::text[])`,

    now: `SELECT ${NOW} AS now_ms`,

    acquire: `
WITH clock AS (SELECT ${NOW} AS now_ms),
taken AS (
  INSERT INTO ${lease} AS l (namespace, name, owner, token, value, expires_ms)
  SELECT $1::text, $2::text, $3::text, 1, coalesce(nullif($5::text, ''), 'null'), clock.now_ms + $4::text::bigint FROM clock
  ON CONFLICT (namespace, name) DO UPDATE SET
    owner = excluded.owner, token = l.token + 1, value = coalesce(nullif($5::text, ''), l.value), expires_ms = excluded.expires_ms
  WHERE l.owner IS NULL OR l.owner = excluded.owner OR l.expires_ms <= (SELECT now_ms FROM clock)
  RETURNING l.token, l.value
)
SELECT token, value FROM taken`,

    renew: `
WITH clock AS (SELECT ${NOW} AS now_ms),
renewed AS (
  UPDATE ${lease} AS l SET expires_ms = clock.now_ms + $5::text::bigint, value = coalesce(nullif($6::text, ''), l.value)
  FROM clock WHERE ${held} AND l.expires_ms > clock.now_ms
  RETURNING l.token
)
SELECT token FROM renewed`,

    release: `
WITH clock AS (SELECT ${NOW} AS now_ms),
released AS (
  UPDATE ${lease} AS l SET owner = NULL, expires_ms = clock.now_ms, value = coalesce(nullif($5::text, ''), l.value)
  FROM clock WHERE ${held} AND l.expires_ms > clock.now_ms
  RETURNING l.token
)
SELECT token FROM released`,

    readLeases: `
WITH clock AS (SELECT ${NOW} AS now_ms)
SELECT l.name, CASE WHEN l.expires_ms > clock.now_ms THEN l.owner END AS owner, l.token, l.value,
  CASE WHEN l.owner IS NULL THEN 0 ELSE greatest(0, l.expires_ms - clock.now_ms) END AS expires_in_ms
FROM ${lease} AS l CROSS JOIN clock
WHERE l.namespace = $1::text AND l.name = ANY ($2::text::text[])`,

    // The own row is written first, and rows of others are removed only where nobody holds them: a heartbeat waits for at most its own row, while it holds none.
    heartbeat: `
WITH clock AS (SELECT ${NOW} AS now_ms),
self AS (
  INSERT INTO ${member} AS m (namespace, instance_id, member_name, expires_ms)
  SELECT $1::text, $2::text, $3::text, clock.now_ms + $4::text::bigint FROM clock
  ON CONFLICT (namespace, instance_id) DO UPDATE SET member_name = excluded.member_name, expires_ms = excluded.expires_ms
  RETURNING m.instance_id, m.member_name
),
lapsed AS (
  SELECT m.namespace, m.instance_id FROM ${member} AS m CROSS JOIN clock
  WHERE m.namespace = $1::text AND m.instance_id <> (SELECT instance_id FROM self) AND m.expires_ms <= clock.now_ms
  LIMIT ${MEMBERS_REMOVED} FOR UPDATE OF m SKIP LOCKED
),
removed AS (
  DELETE FROM ${member} AS m USING lapsed AS p WHERE m.namespace = p.namespace AND m.instance_id = p.instance_id RETURNING 1
)
SELECT instance_id, member_name FROM self
UNION ALL
SELECT m.instance_id, m.member_name FROM ${member} AS m CROSS JOIN clock
WHERE m.namespace = $1::text AND m.instance_id <> $2::text AND m.expires_ms > clock.now_ms`,

    leave: `
WITH gone AS (DELETE FROM ${member} AS m WHERE m.namespace = $1::text AND m.instance_id = $2::text RETURNING 1)
SELECT count(*) AS members FROM gone`,

    members: `
WITH clock AS (SELECT ${NOW} AS now_ms)
SELECT m.instance_id, m.member_name FROM ${member} AS m CROSS JOIN clock
WHERE m.namespace = $1::text AND m.expires_ms > clock.now_ms`,
  };
}
