import { ConfigurationError, type ConfigurationFault } from '../../domain/errors.js';
import type { ClaimProtocolSettings } from '../claim-protocol.js';
import type { CoordinationBackend } from '../coordination-backend.js';
import { CoordinationError } from '../coordination-error.js';
import { PostgresClaimer } from './postgres-claimer.js';
import { asStoreBusy, POSTGRES_STORE, type PostgresPool, poolFault } from './postgres-client.js';
import { PostgresLeases } from './postgres-leases.js';
import { PostgresMembership } from './postgres-membership.js';
import { PostgresRecovery } from './postgres-recovery.js';
import {
  createSchema,
  type PostgresNames,
  readSchemaState,
  type SchemaState,
  schemaFault,
  tablePrefixFault,
  tablesFor,
} from './postgres-schema.js';
import { ask, type PostgresSession } from './postgres-session.js';
import { statementsFor } from './postgres-statements.js';

export interface PostgresBackendOptions extends PostgresNames {
  /**
   * A `Pool` of `pg`, or anything with `query(text, values)` that takes a session of its own for each statement. Never one session: inside a transaction of
   * the application a claim would be undone with it, and the fire run again. Stays the application's: the backend never closes it.
   */
  readonly pool: PostgresPool;
  /** Create schema and tables where they are missing when the backend opens. Needs the right to. Default false: a migration creates them, or `createSchema()`. */
  readonly createSchema?: boolean;
}

/**
 * Coordinates any number of replicas through PostgreSQL 12 or later. Behind a pooler in transaction mode too: each step is one statement in a transaction of its own,
 * with no session state, no prepared name and no session lock.
 *
 * @throws ConfigurationError if the pool is none, or a name cannot be part of a statement
 */
export class PostgresBackend implements CoordinationBackend {
  readonly store = POSTGRES_STORE;
  readonly claimer: PostgresClaimer;
  readonly leases: PostgresLeases;
  readonly membership: PostgresMembership;
  readonly recovery: PostgresRecovery;
  readonly #options: PostgresBackendOptions;
  #session: PostgresSession | undefined;

  constructor(options: PostgresBackendOptions) {
    const faults = optionFaults(options);
    if (faults.length > 0) throw new ConfigurationError(faults);
    this.#options = options;
    const session = (operation: string) => this.#openSession(operation);
    this.claimer = new PostgresClaimer(session);
    this.leases = new PostgresLeases(session);
    this.membership = new PostgresMembership(session);
    this.recovery = new PostgresRecovery(session);
  }

  /**
   * Creates what is missing, and changes nothing that is there; safe when many replicas call it at once. Before the first start, by hand or
   * from a migration; `docs/stores/postgres.sql` and `schemaSql()` hold the same statements.
   */
  async createSchema(): Promise<void> {
    try {
      await createSchema(this.#options.pool, this.#options);
    } catch (cause) {
      throw asStoreBusy(cause, 'createSchema');
    }
  }

  /** Looks whether the tables are there and may be used. Creates nothing, unless `createSchema: true`. */
  async open(settings: ClaimProtocolSettings): Promise<void> {
    if (this.#session !== undefined) return;
    const { pool } = this.#options;
    let state = await this.#schemaState();
    if (state.missing.length > 0 && this.#options.createSchema === true && !state.readOnly) {
      await this.createSchema();
      state = await this.#schemaState();
    }
    const hindrance = hindranceOf(state);
    if (hindrance !== undefined) {
      throw new CoordinationError('COORDINATION_FAILED', { store: POSTGRES_STORE, operation: 'open' }, hindrance);
    }
    this.#session = { pool, statements: statementsFor(tablesFor(this.#options)), settings };
  }

  async now(): Promise<number> {
    const [row] = await ask<{ now_ms: number | string | bigint }>(this.#openSession('now'), 'now', [], 'now');
    return Number(row?.now_ms);
  }

  /** Waits for a sweep that is on its way; then the pool is the application's to end. */
  async close(): Promise<void> {
    this.#session = undefined;
    await this.claimer.idle();
  }

  async #schemaState(): Promise<SchemaState> {
    try {
      return await readSchemaState(this.#options.pool, this.#options);
    } catch (cause) {
      throw asStoreBusy(cause, 'open');
    }
  }

  #openSession(operation: string): PostgresSession {
    if (this.#session !== undefined) return this.#session;
    throw new CoordinationError(
      'COORDINATION_FAILED',
      { store: POSTGRES_STORE, operation },
      'the backend is not open.',
    );
  }
}

/** Why no claim could be taken, with the remedy, or `undefined`. */
function hindranceOf({ missing, denied, readOnly }: SchemaState): string | undefined {
  if (readOnly) return 'the pool is connected to a standby, which takes no claims. Connect it to the primary.';
  if (missing.length > 0) {
    return `${missing.join(', ')} not found. Create the tables in a migration (the statements are in docs/stores/postgres.sql, or schemaSql() for other names), call createSchema() once with a role that may create them, or set createSchema: true.`;
  }
  if (denied.length > 0) {
    return `the pool's role lacks ${denied.join('; ')}. GRANT USAGE on the schema, and SELECT, INSERT, UPDATE, DELETE on the tables.`;
  }
  return undefined;
}

function optionFaults(options: PostgresBackendOptions): ConfigurationFault[] {
  const given = (options ?? {}) as Partial<PostgresBackendOptions>;
  const faults: ConfigurationFault[] = [];
  const fault = (subject: string, expected: string | undefined, got: unknown, hint: string) => {
    if (expected === undefined) return;
    faults.push({ code: 'OPTION_INVALID', subject: `PostgresBackend.${subject}`, expected, got: String(got), hint });
  };
  fault(
    'pool',
    poolFault(given.pool),
    typeof given.pool,
    'Pass the Pool of pg, or see docs/stores/postgres-clients.md for other clients.',
  );
  if (given.schema !== undefined) fault('schema', schemaFault(given.schema), given.schema, 'For example "public".');
  if (given.tablePrefix !== undefined) {
    fault('tablePrefix', tablePrefixFault(given.tablePrefix), given.tablePrefix, 'For example "cron_".');
  }
  if (given.createSchema !== undefined && typeof given.createSchema !== 'boolean') {
    fault('createSchema', 'true or false', given.createSchema, 'Leave it out where a migration creates the tables.');
  }
  return faults;
}
