import { type Clock, systemClock } from '../../ambient/clock.js';
import { ConfigurationError, type ConfigurationFault } from '../../domain/errors.js';
import type { ClaimProtocolSettings } from '../claim-protocol.js';
import type { CoordinationBackend } from '../coordination-backend.js';
import { CoordinationError } from '../coordination-error.js';
import { SqliteClaimer } from './sqlite-claimer.js';
import {
  asStoreBusy,
  insideApplicationsTransaction,
  insideTransaction,
  readPragma,
  SQLITE_STORE,
  type SqliteDatabase,
  type SqliteDriver,
} from './sqlite-client.js';
import { SqliteLeases } from './sqlite-leases.js';
import { SqliteMembership } from './sqlite-membership.js';
import { SqliteRecovery } from './sqlite-recovery.js';
import { createSchema, DEFAULT_TABLE_PREFIX, type SqliteTables, tablePrefixFault, tablesFor } from './sqlite-schema.js';
import type { SqliteSession } from './sqlite-session.js';
import { prepareStatements } from './sqlite-statements.js';

interface SqliteCommonOptions {
  /** Put before the table names; letters, digits and underscores. Default `cron_`: `cron_entry`, `cron_claim`, `cron_lease`, `cron_member`. */
  readonly tablePrefix?: string;
  /** The store's clock. Default the host's: processes on one host share it. */
  readonly clock?: Clock;
}

/** A connection of the backend's own, opened with the driver's constructor: WAL, `synchronous=FULL`, busy timeout 0. The usual way. */
export interface SqlitePathOptions extends SqliteCommonOptions {
  /** A file on a disk of this host. Not a network drive, not `:memory:`. */
  readonly path: string;
  /** `Database` of better-sqlite3 or libsql, `DatabaseSync` of node:sqlite. */
  readonly driver: SqliteDriver;
}

/** A handle that the application opened and closes. No pragma of it is changed; its busy timeout must be 0. */
export interface SqliteHandleOptions extends SqliteCommonOptions {
  readonly database: SqliteDatabase;
}

export type SqliteBackendOptions = SqlitePathOptions | SqliteHandleOptions;

/**
 * Coordinates any number of processes on one host through a SQLite file.
 *
 * @throws ConfigurationError if neither a handle nor a path with a driver is given, or the prefix cannot be part of a table name
 */
export class SqliteBackend implements CoordinationBackend {
  readonly store = SQLITE_STORE;
  readonly claimer: SqliteClaimer;
  readonly leases: SqliteLeases;
  readonly membership: SqliteMembership;
  readonly recovery: SqliteRecovery;
  /** The application's handle, or `undefined` if the connection is the backend's own. */
  readonly #given: SqliteDatabase | undefined;
  readonly #options: SqliteBackendOptions;
  readonly #clock: Clock;
  readonly #tables: SqliteTables;
  #session: SqliteSession | undefined;

  constructor(options: SqliteBackendOptions) {
    const faults = optionFaults(options);
    if (faults.length > 0) throw new ConfigurationError(faults);
    this.#options = options;
    this.#given = (options as Partial<SqliteHandleOptions>).database;
    this.#clock = options.clock ?? systemClock;
    this.#tables = tablesFor(options.tablePrefix ?? DEFAULT_TABLE_PREFIX);
    const session = (operation: string) => this.#openSession(operation);
    this.claimer = new SqliteClaimer(session, this.#clock);
    this.leases = new SqliteLeases(session, this.#clock);
    this.membership = new SqliteMembership(session, this.#clock);
    this.recovery = new SqliteRecovery(session, this.#clock);
  }

  /** Creates the tables where they are missing. Rejects with `STORE_BUSY` while another connection holds the lock. */
  async open(settings: ClaimProtocolSettings): Promise<void> {
    if (this.#session !== undefined) return;
    let own: SqliteDatabase | undefined;
    try {
      if (this.#given === undefined) own = openConnection(this.#options as SqlitePathOptions);
      else checkHandle(this.#given);
      const database = own ?? (this.#given as SqliteDatabase);
      createSchema(database, this.#tables);
      this.#session = { database, statements: prepareStatements(database, this.#tables), settings };
    } catch (cause) {
      own?.close();
      throw asStoreBusy(cause, 'open');
    }
  }

  async now(): Promise<number> {
    return this.#clock.now();
  }

  /** Closes the connection that the backend opened; a handle that was given stays open. */
  async close(): Promise<void> {
    const session = this.#session;
    this.#session = undefined;
    if (this.#given === undefined) session?.database.close();
  }

  #openSession(operation: string): SqliteSession {
    if (this.#session !== undefined) return this.#session;
    throw new CoordinationError('COORDINATION_FAILED', { store: SQLITE_STORE, operation }, 'the backend is not open.');
  }
}

function openConnection({ path, driver: Driver }: SqlitePathOptions): SqliteDatabase {
  const database = new Driver(path, { timeout: 0 });
  try {
    // A driver that does not know the option has a default of its own; waiting inside a call would stop the event loop.
    database.exec('PRAGMA busy_timeout = 0');
    if (readPragma(database, 'journal_mode') !== 'wal') {
      const mode = readPragma(database, 'journal_mode = WAL');
      if (mode !== 'wal') throw notShared(path, String(mode));
    }
    // An acknowledged claim survives a power cut; with less, a fire could run again after one.
    database.exec('PRAGMA synchronous = FULL');
    return database;
  } catch (cause) {
    database.close();
    throw cause;
  }
}

function checkHandle(database: SqliteDatabase): void {
  if (insideTransaction(database) === true) throw insideApplicationsTransaction('open');
  const busyTimeoutMs = Number(readPragma(database, 'busy_timeout'));
  if (busyTimeoutMs === 0) return;
  throw new CoordinationError(
    'COORDINATION_FAILED',
    { store: SQLITE_STORE, operation: 'open' },
    `the given handle has a busy timeout of ${busyTimeoutMs} ms, for which it would stop the event loop whenever another process writes. Open it with { timeout: 0 }, or give a path and a driver for a connection of its own.`,
  );
}

function notShared(path: string, mode: string): CoordinationError {
  return new CoordinationError(
    'COORDINATION_FAILED',
    { store: SQLITE_STORE, operation: 'open' },
    `"${path}" cannot be put into WAL mode (it stays "${mode}"). Use a file on a disk of this host; for a single process without a file, use MemoryBackend.`,
  );
}

function optionFaults(options: SqliteBackendOptions): ConfigurationFault[] {
  const given = (options ?? {}) as Partial<SqlitePathOptions & SqliteHandleOptions>;
  const faults: ConfigurationFault[] = [];
  const fault = (subject: string, expected: string, got: unknown, hint: string) =>
    faults.push({ code: 'OPTION_INVALID', subject: `SqliteBackend.${subject}`, expected, got: String(got), hint });

  if (given.database !== undefined) {
    if (typeof given.database?.prepare !== 'function' || typeof given.database.exec !== 'function') {
      fault('database', 'a database handle', typeof given.database, 'Pass the object that the driver returned.');
    }
    if (given.path !== undefined) {
      fault('path', 'none beside database', given.path, 'Pass either a handle, or a path and a driver.');
    }
  } else {
    if (typeof given.path !== 'string' || given.path === '') {
      fault('path', 'the path of a file', given.path, 'Or pass a handle as database.');
    }
    if (typeof given.driver !== 'function') {
      const hint = 'Pass Database of better-sqlite3 or libsql, or DatabaseSync of node:sqlite.';
      fault('driver', "the driver's constructor", typeof given.driver, hint);
    }
  }
  const prefixFault = given.tablePrefix === undefined ? undefined : tablePrefixFault(given.tablePrefix);
  if (prefixFault !== undefined) fault('tablePrefix', prefixFault, given.tablePrefix, 'For example "cron_".');
  return faults;
}
