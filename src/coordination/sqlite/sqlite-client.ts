import { CoordinationError, isError } from '../coordination-error.js';

export const SQLITE_STORE = 'sqlite';

export type SqliteValue = string | number | null;

/** The part of a prepared statement that is used; better-sqlite3, libsql and node:sqlite all have it. */
export interface SqliteStatement {
  // biome-ignore-start lint/suspicious/noExplicitAny: TypeScript 5 lets no narrower list stand for the drivers' own; what is handed in are `SqliteValue`s.
  all(...parameters: any[]): unknown[];
  run(...parameters: any[]): unknown;
  // biome-ignore-end lint/suspicious/noExplicitAny: as above
}

/** The part of a database handle that is used. Every call is synchronous. */
export interface SqliteDatabase {
  exec(sql: string): unknown;
  prepare(sql: string): SqliteStatement;
  close(): unknown;
  /** Whether a transaction is open: the name of better-sqlite3 and libsql. */
  readonly inTransaction?: boolean;
  /** Whether a transaction is open: the name of node:sqlite. */
  readonly isTransaction?: boolean;
}

/** The constructor that the driver exports: `Database` of better-sqlite3 and libsql, `DatabaseSync` of node:sqlite. */
export type SqliteDriver = new (path: string, options?: { timeout?: number }) => SqliteDatabase;

/** `undefined` where the handle does not tell (node:sqlite before 22.16). */
export function insideTransaction(database: SqliteDatabase): boolean | undefined {
  return database.inTransaction ?? database.isTransaction;
}

/** The value of a pragma that answers with one value. */
export function readPragma(database: SqliteDatabase, name: string): unknown {
  const row = database.prepare(`PRAGMA ${name}`).all()[0];
  return row === undefined ? undefined : Object.values(row as object)[0];
}

/** One immediate transaction: all of it or nothing, and no other writer in between. Rejects as busy where another writes, at begin or at commit. */
export function immediately<T>(database: SqliteDatabase, work: () => T): T {
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = work();
    database.exec('COMMIT');
    return result;
  } catch (cause) {
    try {
      database.exec('ROLLBACK');
    } catch {
      // SQLite rolled back by itself, as it does on some errors; the first error is the one to tell.
    }
    throw cause;
  }
}

/** SQLITE_BUSY and SQLITE_LOCKED with their extended codes, whatever the driver calls them, as `STORE_BUSY`; anything else as it is. */
export function asStoreBusy(cause: unknown, operation: string): unknown {
  if (!isBusy(cause)) return cause;
  return new CoordinationError(
    'STORE_BUSY',
    { store: SQLITE_STORE, operation },
    `another connection holds the lock (${cause.message}).`,
    { cause },
  );
}

/** The answer while the handle is the application's at the moment: a claim in a transaction that rolls back would be no claim. */
export function insideApplicationsTransaction(operation: string): CoordinationError {
  return new CoordinationError(
    'STORE_BUSY',
    { store: SQLITE_STORE, operation },
    'the given handle is inside a transaction of the application. Give a path and a driver for a connection of its own.',
  );
}

function isBusy(cause: unknown): cause is Error {
  if (!isError(cause)) return false;
  const { code, errcode } = cause as { code?: unknown; errcode?: unknown };
  // better-sqlite3 and libsql name the code.
  if (typeof code === 'string' && /^SQLITE_(?:BUSY|LOCKED)/.test(code)) return true;
  // node:sqlite gives the number, extended codes in the higher bits.
  if (typeof errcode === 'number' && ((errcode & 0xff) === 5 || (errcode & 0xff) === 6)) return true;
  // Only a handle that does not tell whether it is inside a transaction gets here.
  return cause.message.includes('cannot start a transaction within a transaction');
}
