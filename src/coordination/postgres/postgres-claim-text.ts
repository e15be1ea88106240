import { CLAIMS_KEPT_PER_ENTRY } from '../claim-protocol.js';
import { NOW } from './postgres-now.js';
import type { PostgresTables } from './postgres-schema.js';

/** What a claim statement answers for one claim. */
export interface ClaimRow {
  /** Its place in the arrays, from 1. */
  readonly place: number | string | bigint;
  readonly answer: 'early' | 'granted' | 'refused' | 'superseded' | 'paused' | 'overlap';
  /** Of the overlap lease that was taken with it; absent from the plain statement. */
  readonly overlap_token?: number | string | bigint | null;
  readonly now_ms: number | string | bigint;
  /** 1: its entry has claims to remove. */
  readonly sweep: number | string | bigint;
}

/** Rows of an entry at which it is swept whatever else: twice what is kept, so that a sweep walks about two rows for each it removes. */
const CLAIMS_AT_MOST = 2 * CLAIMS_KEPT_PER_ENTRY;
/** Below that an entry is swept once in this part of the retention. */
const SWEEPS_PER_RETENTION = 8;

/** SQLSTATE of a claim statement that undid itself, to be sent again: the one of a text that is no number, which is how a statement can fail at will. */
export const LEASE_TAKEN_MEANWHILE = '22P02';

// The entry's row is written before the floor is read, and what it returns is its newest version: the snapshot that `seen` reads may be older than a sweep this statement
// had to wait for, and in it a claim that was made and removed meanwhile never was. Only what cannot become wrong, or what was true when it was asked, is answered from the
// snapshot: an early instant, a claim that is there, a floor that was reached, a pause. So a late loser writes nothing. A pause that began since keeps the entry's row
// as it is, and from being returned.
// `found` is materialized, or each look-up would be made as often as the CASE below names it.
// All rows are met in one order, by namespace, entry and instant: two batches that cross wait for each other once, and not in a ring.
function steps({ entry, claim }: PostgresTables, columns: string, parameters: string): string {
  return `
WITH clock AS (SELECT ${NOW} AS now_ms),
asked AS (
  SELECT place, namespace COLLATE "C" AS namespace, entry_key COLLATE "C" AS entry_key, instant_ms, claim_id, instance_id, schedule${columns}
  FROM unnest($1::text::text[], $2::text::text[], $3::text::bigint[], $4::text::text[], $5::text::text[], $6::text::text[]${parameters})
    WITH ORDINALITY AS u(namespace, entry_key, instant_ms, claim_id, instance_id, schedule${columns}, place)
),
found AS MATERIALIZED (
  SELECT a.*,
    (SELECT c.claim_id FROM ${claim} AS c
      WHERE c.namespace = a.namespace AND c.entry_key = a.entry_key AND c.instant_ms = a.instant_ms) AS holder,
    (SELECT CASE WHEN a.instant_ms <= e.floor_ms THEN 'superseded' WHEN e.paused_ms IS NOT NULL THEN 'paused' END FROM ${entry} AS e
      WHERE e.namespace = a.namespace AND e.entry_key = a.entry_key) AS hindrance
  FROM asked AS a
),
seen AS (
  SELECT f.*, clock.now_ms, CASE
    WHEN f.instant_ms - clock.now_ms > $7::text::bigint THEN 'early'
    WHEN f.holder = f.claim_id THEN 'granted'
    WHEN f.holder IS NOT NULL THEN 'refused'
    ELSE f.hindrance
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
    schedule = CASE WHEN e.watermark_ms >= excluded.watermark_ms THEN e.schedule ELSE excluded.schedule END,
    instance_id = CASE WHEN e.watermark_ms >= excluded.watermark_ms THEN e.instance_id ELSE excluded.instance_id END,
    claims = e.claims + excluded.claims,
    oldest_made_ms = least(e.oldest_made_ms, excluded.oldest_made_ms)
  WHERE e.paused_ms IS NULL
  RETURNING e.namespace, e.entry_key, e.floor_ms, e.claims, e.oldest_made_ms, e.swept_ms
)`;
}

/** What may be made: no answer from the snapshot, and nothing against it in the newest version of its entry. */
const MAY_BE_MADE = 's.answer IS NULL AND (h.floor_ms IS NULL OR s.instant_ms > h.floor_ms)';

/** Of a claim id that is there already, whatever the snapshot showed, nothing changes. */
const UNLESS_THERE =
  'ON CONFLICT (namespace, entry_key, instant_ms) DO UPDATE SET claim_id = excluded.claim_id WHERE c.claim_id = excluded.claim_id';

/** Joins a claim that was asked with its entry, as it was written, and with itself, as it was made. */
const OUTCOME = `FROM seen AS s
LEFT JOIN head AS h ON h.namespace = s.namespace AND h.entry_key = s.entry_key
LEFT JOIN won AS w ON w.namespace = s.namespace AND w.entry_key = s.entry_key AND w.instant_ms = s.instant_ms`;

const ANSWER = `coalesce(s.answer, CASE
    WHEN w.instant_ms IS NOT NULL THEN 'granted'
    WHEN h.entry_key IS NULL THEN 'paused'
    WHEN s.instant_ms <= h.floor_ms THEN 'superseded'
    ELSE 'refused'
  END)`;

const SWEEP = `CASE WHEN w.instant_ms IS NOT NULL AND (
    h.claims > ${CLAIMS_AT_MOST}
    OR (h.claims > ${CLAIMS_KEPT_PER_ENTRY} OR h.oldest_made_ms < s.now_ms - $8::text::bigint)
      AND (h.swept_ms IS NULL OR abs(s.now_ms - h.swept_ms) > $8::text::bigint / ${SWEEPS_PER_RETENTION})
  ) THEN 1 ELSE 0 END AS sweep`;

/** Claims that take nothing with them. */
export function claimText(tables: PostgresTables): string {
  return `${steps(tables, '', '')},
won AS (
  INSERT INTO ${tables.claim} AS c (namespace, entry_key, instant_ms, claim_id, instance_id, made_ms)
  SELECT s.namespace, s.entry_key, s.instant_ms, s.claim_id, s.instance_id, s.now_ms
  FROM seen AS s JOIN head AS h ON h.namespace = s.namespace AND h.entry_key = s.entry_key
  WHERE ${MAY_BE_MADE}
  ORDER BY s.namespace, s.entry_key, s.instant_ms
  ${UNLESS_THERE}
  RETURNING c.namespace, c.entry_key, c.instant_ms
)
SELECT s.place, s.now_ms, ${ANSWER} AS answer,
  ${SWEEP}
${OUTCOME}`;
}

/**
 * Claims of which some take the overlap lease or can be taken over. Entries, then leases, then claims, each in their order.
 *
 * The lease is taken after the claim is made, by those alone that were made or were there. But whether a claim can be taken over is written with it, and depends on the lease where it asks for both:
 * `held` therefore locks such leases first and reads their newest version. A lease's very first row cannot be locked before it is there. Where another claim makes it
 * in between, the statement fails on purpose, and its next turn sees that row.
 */
export function holdingClaimText(tables: PostgresTables): string {
  const { claim, lease } = tables;
  const columns = ', lease, overlap_ttl_ms, recovery_ttl_ms';
  // Asked of a hash of `held`; joined with it, a thousand claims would each walk a thousand leases.
  const recoverable = `s.recovery_ttl_ms IS NOT NULL AND NOT (s.overlap_ttl_ms IS NOT NULL
      AND (s.namespace, s.lease COLLATE "C") IN (SELECT namespace, name FROM held WHERE by_another))`;
  return `${steps(tables, columns, ', $9::text::text[], $10::text::bigint[], $11::text::bigint[]')},
held AS (
  SELECT l.namespace, l.name, l.owner <> s.claim_id COLLATE "C" AND l.expires_ms > s.now_ms AS by_another
  FROM seen AS s JOIN head AS h ON h.namespace = s.namespace AND h.entry_key = s.entry_key
    JOIN ${lease} AS l ON l.namespace = s.namespace AND l.name = s.lease COLLATE "C"
  WHERE s.answer IS NULL AND s.overlap_ttl_ms IS NOT NULL AND s.recovery_ttl_ms IS NOT NULL
  ORDER BY l.namespace, l.name FOR NO KEY UPDATE OF l
),
won AS (
  INSERT INTO ${claim} AS c (namespace, entry_key, instant_ms, claim_id, instance_id, made_ms, attempt, expires_ms)
  SELECT s.namespace, s.entry_key, s.instant_ms, s.claim_id, s.instance_id, s.now_ms,
    CASE WHEN ${recoverable} THEN 1 WHEN s.recovery_ttl_ms IS NOT NULL THEN 0 END, CASE WHEN ${recoverable} THEN s.now_ms + s.recovery_ttl_ms END
  FROM seen AS s JOIN head AS h ON h.namespace = s.namespace AND h.entry_key = s.entry_key
  WHERE ${MAY_BE_MADE}
  ORDER BY s.namespace, s.entry_key, s.instant_ms
  ${UNLESS_THERE}
  RETURNING c.namespace, c.entry_key, c.instant_ms, c.expires_ms
),
outcome AS (
  SELECT s.*, ${ANSWER} AS told, w.expires_ms,
  ${SWEEP}
  ${OUTCOME}
),
taken AS (
  INSERT INTO ${lease} AS l (namespace, name, owner, token, value, expires_ms)
  SELECT r.namespace, r.lease, r.claim_id, 1, 'null', r.now_ms + r.overlap_ttl_ms
  FROM outcome AS r WHERE r.told = 'granted' AND r.overlap_ttl_ms IS NOT NULL ORDER BY r.namespace, r.entry_key
  ON CONFLICT (namespace, name) DO UPDATE SET owner = excluded.owner, token = l.token + 1, expires_ms = excluded.expires_ms
  WHERE l.owner IS NULL OR l.owner = excluded.owner OR l.expires_ms <= (SELECT now_ms FROM clock)
  RETURNING l.namespace, l.name, l.owner, l.token
),
-- Attempt 0: its pass was told that the lease is held. Asking again it was given it, and from then on its claim can be taken over as it had asked.
revived AS (
  UPDATE ${claim} AS c SET attempt = 1, expires_ms = r.now_ms + r.recovery_ttl_ms
  FROM outcome AS r JOIN taken AS t ON t.namespace = r.namespace AND t.name = r.lease COLLATE "C" AND t.owner = r.claim_id COLLATE "C"
  WHERE r.recovery_ttl_ms IS NOT NULL AND c.namespace = r.namespace AND c.entry_key = r.entry_key AND c.instant_ms = r.instant_ms
    AND c.claim_id = r.claim_id AND c.attempt = 0
)
SELECT r.place, r.now_ms, r.sweep, t.token AS overlap_token, CASE
    WHEN r.told <> 'granted' OR r.overlap_ttl_ms IS NULL OR t.token IS NOT NULL THEN r.told
    WHEN r.expires_ms IS NULL THEN 'overlap'
    ELSE concat('the claim is sent again, as another made the lease ', r.lease)::bigint::text
  END AS answer
FROM outcome AS r
LEFT JOIN taken AS t ON t.namespace = r.namespace AND t.name = r.lease COLLATE "C" AND t.owner = r.claim_id COLLATE "C"`;
}
