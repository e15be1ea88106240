import { CLAIMS_KEPT_PER_ENTRY } from '../claim-protocol.js';
import { claimText, holdingClaimText } from './postgres-claim-text.js';
import { NOW } from './postgres-now.js';
import type { PostgresTables } from './postgres-schema.js';

/**
 * Every statement, its parameters in order. Each is one SELECT, around writes where it writes: it is one transaction by itself, and a client that answers
 * writes in a shape of its own still answers rows. Each parameter is a text with its type written beside it. Nothing is prepared by name and nothing is
 * set on the session, which the next statement may not get.
 */
export interface PostgresStatements {
  /** (namespaces, entry keys, instants, claim ids, instance ids, schedules, max clock skew, retention) → an answer per claim, see `ClaimRow`. */
  readonly claim: string;
  /**
   * The same for a batch in which claims take something with them: (…, lease names, overlap lives, recovery lives), NULL where nothing is taken; of one entry, one claim at most asks for the lease.
   * Fails with `LEASE_TAKEN_MEANWHILE`, having written nothing, where it has to be sent again.
   */
  readonly claimHolding: string;
  /** (namespaces, entry keys, retention), each entry once → nothing of use. */
  readonly sweep: string;
  /** (namespace, entry keys) → `entry_key`, `watermark_ms`, `schedule`. */
  readonly lastFires: string;
  /** (namespace, entry key) → nothing of use. */
  readonly pause: string;
  /** (namespace, entry key, 1 if the watermark stays) → `paused_ms` if it was paused. */
  readonly resume: string;
  /** (namespace, entry key) → `changed`: 1 if the entry was written meanwhile, and is still there. */
  readonly forget: string;
  /** (namespace, entry key, instant, claim id, life) → a row if it is held on. */
  readonly renewClaim: string;
  /** (namespace, entry key, instant, claim id) → a row if it was its owner's. */
  readonly finishClaim: string;
  /** (namespace, entry key, instant, claim id) → a row if it was its owner's. */
  readonly releaseClaim: string;
  /** (namespace, entry keys, most attempts, claim id, instance id, life, limit), each entry once → `LapsedRow`s, those that lapsed first first. */
  readonly takeLapsed: string;
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

/** A lapsed claim as `takeLapsed` answers it. */
export interface LapsedRow {
  readonly entry_key: string;
  readonly instant_ms: number | string | bigint;
  readonly attempt: number | string | bigint;
  /** 1: it had its most attempts, and is done. */
  readonly abandoned: number | string | bigint;
}

/** Rows of members long gone that one heartbeat removes. */
const MEMBERS_REMOVED = 100;

export function statementsFor(tables: PostgresTables): PostgresStatements {
  const { entry, claim, lease, member } = tables;
  /** A claim that is still its owner's, also where it has lapsed. */
  const mine =
    'c.namespace = $1::text AND c.entry_key = $2::text AND c.instant_ms = $3::text::bigint AND c.claim_id = $4::text AND c.expires_ms IS NOT NULL';
  const held = 'l.namespace = $1::text AND l.name = $2::text AND l.owner = $3::text AND l.token = $4::text::bigint';
  return {
    claim: claimText(tables),

    claimHolding: holdingClaimText(tables),

    // Locks the entries first, in the order of the claim statement. What is removed is what the snapshot shows; claims made since it was taken wait for the next sweep, and are
    // added to the count by the difference that the entry's newest version makes. A claim that may still be taken over stays, and those above and below it go all the same: the floor
    // may pass it, as its own row answers for it.
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
  SELECT h.namespace, h.entry_key, c.instant_ms, c.made_ms, c.old AND c.expires_ms IS NULL AS goes, c.old AND c.expires_ms IS NOT NULL AS spared
  FROM head AS h CROSS JOIN clock CROSS JOIN LATERAL (
    SELECT c.instant_ms, c.made_ms, c.expires_ms,
      row_number() OVER (ORDER BY c.instant_ms DESC) > ${CLAIMS_KEPT_PER_ENTRY} OR c.made_ms < clock.now_ms - $3::text::bigint AS old
    FROM ${claim} AS c WHERE c.namespace = h.namespace AND c.entry_key = h.entry_key
  ) AS c
),
gone AS (
  DELETE FROM ${claim} AS c USING ranked AS r
  WHERE r.goes AND c.expires_ms IS NULL AND c.namespace = r.namespace AND c.entry_key = r.entry_key AND c.instant_ms = r.instant_ms
  RETURNING c.namespace, c.entry_key, c.instant_ms
),
latest AS (SELECT namespace, entry_key, max(instant_ms) AS instant_ms FROM gone GROUP BY namespace, entry_key),
kept AS (
  SELECT namespace, entry_key, count(*) FILTER (WHERE NOT goes) AS claims, min(made_ms) FILTER (WHERE NOT goes) AS oldest_made_ms,
    max(instant_ms) FILTER (WHERE spared) AS spared_ms
  FROM ranked GROUP BY namespace, entry_key
),
swept AS (
  UPDATE ${entry} AS e SET
    floor_ms = greatest(e.floor_ms, l.instant_ms),
    claims = k.claims + greatest(0, e.claims - n.claims),
    oldest_made_ms = coalesce(k.oldest_made_ms, clock.now_ms),
    swept_ms = clock.now_ms,
    spared_ms = k.spared_ms
  FROM kept AS k JOIN counted AS n ON n.namespace = k.namespace AND n.entry_key = k.entry_key
    LEFT JOIN latest AS l ON l.namespace = k.namespace AND l.entry_key = k.entry_key
    CROSS JOIN clock
  WHERE e.namespace = k.namespace AND e.entry_key = k.entry_key
  RETURNING 1
)
SELECT count(*) AS entries FROM swept`,

    lastFires: `
SELECT e.entry_key, e.watermark_ms, e.schedule FROM ${entry} AS e
WHERE e.namespace = $1::text AND e.entry_key = ANY ($2::text::text[]) AND e.watermark_ms IS NOT NULL`,

    // Written to the row that every claim writes first: once this is committed, no claim that was not made before is granted.
    pause: `
WITH clock AS (SELECT ${NOW} AS now_ms),
paused AS (
  INSERT INTO ${entry} AS e (namespace, entry_key, claims, oldest_made_ms, paused_ms)
  SELECT $1::text, $2::text, 0, clock.now_ms, clock.now_ms FROM clock
  ON CONFLICT (namespace, entry_key) DO UPDATE SET paused_ms = excluded.paused_ms WHERE e.paused_ms IS NULL
  RETURNING 1
)
SELECT count(*) AS entries FROM paused`,

    // Locked first: what an UPDATE returns is the new row, and the answer is in the old one. Raised is the watermark alone, with the schedule it has; greatest() passes over a NULL, so it is asked for.
    resume: `
WITH clock AS (SELECT ${NOW} AS now_ms),
before AS (
  SELECT e.paused_ms FROM ${entry} AS e
  WHERE e.namespace = $1::text AND e.entry_key = $2::text AND e.paused_ms IS NOT NULL FOR NO KEY UPDATE
),
resumed AS (
  UPDATE ${entry} AS e SET paused_ms = NULL, watermark_ms = CASE
    WHEN $3::text = '1' OR e.watermark_ms IS NULL THEN e.watermark_ms
    ELSE greatest(e.watermark_ms, clock.now_ms)
  END
  FROM before CROSS JOIN clock WHERE e.namespace = $1::text AND e.entry_key = $2::text
  RETURNING before.paused_ms
)
SELECT paused_ms FROM resumed`,

    // The head goes only in the version that the snapshot shows, since the claims that go with it are those of the snapshot: one made since would stay without a head.
    forget: `
WITH seen AS (
  SELECT e.namespace, e.entry_key, e.xmin AS version FROM ${entry} AS e WHERE e.namespace = $1::text AND e.entry_key = $2::text
),
head AS (
  DELETE FROM ${entry} AS e USING seen AS s
  WHERE e.namespace = s.namespace AND e.entry_key = s.entry_key AND e.xmin = s.version
  RETURNING e.namespace, e.entry_key
),
gone AS (
  DELETE FROM ${claim} AS c USING head AS h WHERE c.namespace = h.namespace AND c.entry_key = h.entry_key RETURNING 1
)
SELECT CASE WHEN EXISTS (SELECT FROM seen) AND NOT EXISTS (SELECT FROM head) THEN 1 ELSE 0 END AS changed, (SELECT count(*) FROM gone) AS claims`,

    renewClaim: `
WITH clock AS (SELECT ${NOW} AS now_ms),
renewed AS (
  UPDATE ${claim} AS c SET expires_ms = clock.now_ms + $5::text::bigint FROM clock WHERE ${mine} RETURNING c.attempt
)
SELECT attempt FROM renewed`,

    // One that a sweep had to spare lets the next claim sweep again. The entry first, as everywhere: the count, which is asked for once and is never negative, sees to that.
    finishClaim: `
WITH due AS (
  UPDATE ${entry} AS e SET swept_ms = NULL
  WHERE e.namespace = $1::text AND e.entry_key = $2::text AND e.spared_ms >= $3::text::bigint AND e.swept_ms IS NOT NULL RETURNING 1
),
finished AS (
  UPDATE ${claim} AS c SET expires_ms = NULL WHERE (SELECT count(*) FROM due) >= 0 AND ${mine} RETURNING c.attempt
)
SELECT attempt FROM finished`,

    releaseClaim: `
WITH clock AS (SELECT ${NOW} AS now_ms),
released AS (
  UPDATE ${claim} AS c SET expires_ms = clock.now_ms FROM clock WHERE ${mine} RETURNING c.attempt
)
SELECT attempt FROM released`,

    // Walks the index of unfinished claims from the one that lapsed first, up to the limit. A row that another scan, or a renewal, has locked is passed over; one that was
    // written since the snapshot is looked at again in its newest version. So no claim is taken twice, and no scan waits.
    // IS TRUE keeps the entries a hash that each row is looked up in; as a join they may be walked once for each lapsed claim of an entry that is not asked for.
    takeLapsed: `
WITH clock AS (SELECT ${NOW} AS now_ms),
asked AS (
  SELECT entry_key COLLATE "C" AS entry_key, most FROM unnest($2::text::text[], $3::text::bigint[]) AS u(entry_key, most)
),
runnable AS MATERIALIZED (
  SELECT a.entry_key, a.most FROM asked AS a
  WHERE NOT EXISTS (SELECT FROM ${entry} AS e WHERE e.namespace = $1::text AND e.entry_key = a.entry_key AND e.paused_ms IS NOT NULL)
),
lapsed AS (
  SELECT c.entry_key, c.instant_ms, c.expires_ms FROM ${claim} AS c
  WHERE c.namespace = $1::text AND c.expires_ms <= (SELECT now_ms FROM clock)
    AND c.instance_id <> $5::text AND (c.entry_key IN (SELECT entry_key FROM runnable)) IS TRUE
  ORDER BY c.expires_ms LIMIT $7::text::bigint FOR NO KEY UPDATE SKIP LOCKED
),
taken AS (
  UPDATE ${claim} AS c SET
    claim_id = $4::text,
    instance_id = CASE WHEN c.attempt < r.most THEN $5::text ELSE c.instance_id END,
    attempt = CASE WHEN c.attempt < r.most THEN c.attempt + 1 ELSE c.attempt END,
    expires_ms = CASE WHEN c.attempt < r.most THEN clock.now_ms + $6::text::bigint END
  FROM lapsed AS l JOIN runnable AS r ON r.entry_key = l.entry_key CROSS JOIN clock
  WHERE c.namespace = $1::text AND c.entry_key = l.entry_key AND c.instant_ms = l.instant_ms
  RETURNING c.entry_key, c.instant_ms, c.attempt, c.expires_ms AS until_ms, l.expires_ms
)
SELECT t.entry_key, t.instant_ms, t.attempt, CASE WHEN t.until_ms IS NULL THEN 1 ELSE 0 END AS abandoned
FROM taken AS t ORDER BY t.expires_ms, t.instant_ms`,

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
