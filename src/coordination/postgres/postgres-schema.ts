import { type PostgresPool, rowsOf } from './postgres-client.js';

export const DEFAULT_SCHEMA = 'public';
export const DEFAULT_TABLE_PREFIX = 'cron_';

/** Where the tables lie. */
export interface PostgresNames {
  /** The schema of the tables; lower-case letters, digits and underscores. Default `public`. Always written out: a session's `search_path` decides nothing. */
  readonly schema?: string;
  /** Put before the table names; lower-case letters, digits and underscores. Default `cron_`: `cron_entry`, `cron_claim`, `cron_lease`, `cron_member`. */
  readonly tablePrefix?: string;
}

/** The tables' names, qualified and ready for a statement. */
export interface PostgresTables {
  readonly schema: string;
  /** One row per entry: floor, watermark, pause, and what bounds its claims. */
  readonly entry: string;
  /** One row per claim that is kept. */
  readonly claim: string;
  /** The index of claims that can be taken over when they lapse. */
  readonly claimLapse: string;
  /** One row per lease, held or not. */
  readonly lease: string;
  /** One row per live member. */
  readonly member: string;
}

const TABLES = ['entry', 'claim', 'lease', 'member'] as const;

/** PostgreSQL cuts a name at 63 bytes without an error; two prefixes would then be one. */
const LONGEST_NAME = 63;
const LONGEST_PREFIX = LONGEST_NAME - 'member_pkey'.length;
const IDENTIFIER = /^[a-z_][a-z0-9_]*$/;

/** Says what a schema's name must be, or `undefined` if it can be used: it becomes part of statements. */
export function schemaFault(schema: unknown): string | undefined {
  if (
    typeof schema === 'string' &&
    IDENTIFIER.test(schema) &&
    schema.length <= LONGEST_NAME &&
    !schema.startsWith('pg_')
  ) {
    return undefined;
  }
  return `lower-case letters, digits and underscores, at most ${LONGEST_NAME}, no digit first, not starting with "pg_"`;
}

/** Says what a prefix must be, or `undefined` if it can be used: it becomes part of statements. */
export function tablePrefixFault(prefix: unknown): string | undefined {
  if (typeof prefix === 'string' && IDENTIFIER.test(prefix) && prefix.length <= LONGEST_PREFIX) return undefined;
  return `lower-case letters, digits and underscores, at most ${LONGEST_PREFIX}, no digit first`;
}

/** @throws RangeError if a name is no plain identifier */
export function tablesFor({
  schema = DEFAULT_SCHEMA,
  tablePrefix = DEFAULT_TABLE_PREFIX,
}: PostgresNames = {}): PostgresTables {
  const fault = schemaFault(schema) ?? tablePrefixFault(tablePrefix);
  if (fault !== undefined) {
    throw new RangeError(
      `schema ${JSON.stringify(schema)}, tablePrefix ${JSON.stringify(tablePrefix)}: expected ${fault}.`,
    );
  }
  // Quoted although they are plain: `user` and `order` are plain too.
  const name = (table: string) => `"${schema}"."${tablePrefix}${table}"`;
  return {
    schema,
    entry: name('entry'),
    claim: name('claim'),
    claimLapse: name('claim_lapse'),
    lease: name('lease'),
    member: name('member'),
  };
}

/**
 * The statements that create the tables, each repeatable: for a migration tool. `docs/stores/postgres.sql` is this text for the default names. The
 * schema itself is not created.
 *
 * All times are whole milliseconds since the epoch, so that no session's time zone or date style has a say. Texts are compared byte by byte, so `Job` and
 * `job` are two, and all sessions lock rows in one order. `claims` is an upper bound of the entry's rows in the claim table, `oldest_made_ms` a lower bound of their age:
 * with them a claim knows whether anything is to be removed. `spared_ms` is the latest instant that the last sweep left only because it may be taken over. `watermark_ms`, `schedule` and `instance_id` are NULL for an entry that was paused before its first claim; `attempt` is NULL for a claim
 * that cannot be taken over, `expires_ms` also for one that is done. The room left in the pages keeps updates of a row on its page.
 *
 * @throws RangeError if a name is no plain identifier
 */
export function schemaSql(names: PostgresNames = {}): string {
  return `${tablesSql(names)}
${indexSql(names)}`;
}

/** An index has the schema of its table, and its name is written without one. */
function indexSql(names: PostgresNames): string {
  const { claim, claimLapse } = tablesFor(names);
  return `CREATE INDEX IF NOT EXISTS ${claimLapse.slice(claimLapse.indexOf('.') + 1)}
  ON ${claim} (namespace, expires_ms) WHERE expires_ms IS NOT NULL;
`;
}

function tablesSql(names: PostgresNames): string {
  const { entry, claim, lease, member } = tablesFor(names);
  return `CREATE TABLE IF NOT EXISTS ${entry} (
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

CREATE TABLE IF NOT EXISTS ${claim} (
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

CREATE TABLE IF NOT EXISTS ${lease} (
  namespace text COLLATE "C" NOT NULL,
  name text COLLATE "C" NOT NULL,
  owner text COLLATE "C",
  token bigint NOT NULL,
  value text NOT NULL,
  expires_ms bigint NOT NULL,
  PRIMARY KEY (namespace, name)
) WITH (fillfactor = 50);

CREATE TABLE IF NOT EXISTS ${member} (
  namespace text COLLATE "C" NOT NULL,
  instance_id text COLLATE "C" NOT NULL,
  member_name text NOT NULL,
  expires_ms bigint NOT NULL,
  PRIMARY KEY (namespace, instance_id)
) WITH (fillfactor = 50);
`;
}

/** Any number, the same for all: it keeps two that create the same tables one after the other. Held to the end of the transaction, never longer. */
const CREATION_LOCK = 7_236_830_164_719_253;

/**
 * Creates what is missing: the schema, then the tables. Changes nothing that is there. Safe when many replicas call it at once: `IF NOT EXISTS` alone is not,
 * since two transactions can both find nothing and the second to commit fails.
 *
 * Needs the right to create tables in the schema, and to create the schema if it is missing.
 *
 * @throws RangeError if a name is no plain identifier
 */
export async function createSchema(pool: PostgresPool, names: PostgresNames = {}): Promise<void> {
  const { schema, claimLapse } = tablesFor(names);
  // One statement, so one transaction on whatever session, behind a pooler too. CREATE SCHEMA IF NOT EXISTS would ask for its right even where the schema exists, and CREATE INDEX IF NOT EXISTS
  // for the table's owner, and would hold up all claims for a moment.
  const text = `DO $create$ BEGIN
PERFORM pg_advisory_xact_lock(${CREATION_LOCK});
IF to_regnamespace('${schema}') IS NULL THEN CREATE SCHEMA "${schema}"; END IF;
${tablesSql(names)}IF to_regclass('${claimLapse}') IS NULL THEN ${indexSql(names)}END IF;
END $create$`;
  await pool.query(text, []);
}

export interface SchemaState {
  /** Qualified names of the tables that are absent, or that this role cannot see. */
  readonly missing: readonly string[];
  /** `schema` or a table, and the right that this role lacks on it. */
  readonly denied: readonly string[];
  /** A standby takes no claims. */
  readonly readOnly: boolean;
}

/** What this role finds, asked of the catalog: nothing is locked, and no right is needed to ask. */
export async function readSchemaState(pool: PostgresPool, names: PostgresNames): Promise<SchemaState> {
  const { schema = DEFAULT_SCHEMA, tablePrefix = DEFAULT_TABLE_PREFIX } = names;
  const rows = await rowsOf<{ name: string; found: number | string; denied: string; read_only: number | string }>(
    pool,
    `SELECT wanted.name,
      CASE WHEN c.oid IS NULL THEN 0 ELSE 1 END AS found,
      concat_ws(', ',
        CASE WHEN n.oid IS NOT NULL AND NOT has_schema_privilege(n.oid, 'USAGE') THEN 'USAGE on the schema' END,
        CASE WHEN c.oid IS NOT NULL AND NOT has_table_privilege(c.oid, 'SELECT') THEN 'SELECT' END,
        CASE WHEN c.oid IS NOT NULL AND NOT has_table_privilege(c.oid, 'INSERT') THEN 'INSERT' END,
        CASE WHEN c.oid IS NOT NULL AND NOT has_table_privilege(c.oid, 'UPDATE') THEN 'UPDATE' END,
        CASE WHEN c.oid IS NOT NULL AND NOT has_table_privilege(c.oid, 'DELETE') THEN 'DELETE' END) AS denied,
      CASE WHEN pg_is_in_recovery() THEN 1 ELSE 0 END AS read_only
    FROM unnest($2::text::text[]) AS wanted(name)
    LEFT JOIN pg_catalog.pg_namespace n ON n.nspname = $1::text
    LEFT JOIN pg_catalog.pg_class c ON c.relnamespace = n.oid AND c.relname = wanted.name AND c.relkind IN ('r', 'p')
    ORDER BY wanted.name`,
    [schema, `{${TABLES.map((table) => tablePrefix + table).join(',')}}`],
  );
  const qualified = (name: string) => `${schema}.${name}`;
  return {
    missing: rows.filter(({ found }) => Number(found) === 0).map(({ name }) => qualified(name)),
    denied: rows.filter(({ denied }) => denied !== '').map(({ name, denied }) => `${denied} (${qualified(name)})`),
    readOnly: rows.some(({ read_only }) => Number(read_only) === 1),
  };
}
