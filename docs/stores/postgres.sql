-- The tables of nestjs-distributed-cron on PostgreSQL 12 or later, in the schema "public" with the prefix "cron_". For other names: schemaSql({ schema, tablePrefix }).
-- Repeatable: what is there stays as it is. What the columns hold is told in postgres.md.

CREATE TABLE IF NOT EXISTS "public"."cron_entry" (
  namespace text COLLATE "C" NOT NULL,
  entry_key text COLLATE "C" NOT NULL,
  floor_ms bigint,
  watermark_ms bigint,
  schedule text,
  instance_id text,
  claims integer NOT NULL,
  oldest_made_ms bigint NOT NULL,
  swept_ms bigint,
  spared_ms bigint,
  paused_ms bigint,
  PRIMARY KEY (namespace, entry_key)
) WITH (fillfactor = 50);

CREATE TABLE IF NOT EXISTS "public"."cron_claim" (
  namespace text COLLATE "C" NOT NULL,
  entry_key text COLLATE "C" NOT NULL,
  instant_ms bigint NOT NULL,
  claim_id text NOT NULL,
  instance_id text NOT NULL,
  made_ms bigint NOT NULL,
  attempt integer,
  expires_ms bigint,
  PRIMARY KEY (namespace, entry_key, instant_ms)
);

CREATE TABLE IF NOT EXISTS "public"."cron_lease" (
  namespace text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  owner text COLLATE "C",
  token bigint NOT NULL,
  value text NOT NULL,
  expires_ms bigint NOT NULL,
  PRIMARY KEY (namespace, name)
) WITH (fillfactor = 50);

CREATE TABLE IF NOT EXISTS "public"."cron_member" (
  namespace text COLLATE "C" NOT NULL,
  instance_id text COLLATE "C" NOT NULL,
  member_name text NOT NULL,
  expires_ms bigint NOT NULL,
  PRIMARY KEY (namespace, instance_id)
) WITH (fillfactor = 50);

CREATE INDEX IF NOT EXISTS "cron_claim_lapse"
  ON "public"."cron_claim" (namespace, expires_ms) WHERE expires_ms IS NOT NULL;
