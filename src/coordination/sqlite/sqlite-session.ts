import type { ClaimProtocolSettings } from '../claim-protocol.js';
import {
  asStoreBusy,
  immediately,
  insideApplicationsTransaction,
  insideTransaction,
  type SqliteDatabase,
} from './sqlite-client.js';
import type { SqliteStatements } from './sqlite-statements.js';

/** What is there while the backend is open. */
export interface SqliteSession {
  readonly database: SqliteDatabase;
  readonly statements: SqliteStatements;
  readonly settings: ClaimProtocolSettings;
}

/** The session; throws, naming the operation, while the backend is not open. */
export type OpenSession = (operation: string) => SqliteSession;

/** One immediate transaction of our own: an application's may roll back, and what we wrote with it. */
export function write<T>(session: SqliteSession, operation: string, work: (statements: SqliteStatements) => T): T {
  if (insideTransaction(session.database) === true) throw insideApplicationsTransaction(operation);
  try {
    return immediately(session.database, () => work(session.statements));
  } catch (cause) {
    throw asStoreBusy(cause, operation);
  }
}

/** A read without a lock; not inside an application's transaction either, which may see a state long gone, or one that is rolled back. */
export function read<T>(session: SqliteSession, operation: string, work: (statements: SqliteStatements) => T): T {
  const inside = insideTransaction(session.database);
  // A handle that does not tell is asked to begin: that tells.
  if (inside === undefined) return write(session, operation, work);
  if (inside) throw insideApplicationsTransaction(operation);
  try {
    return work(session.statements);
  } catch (cause) {
    throw asStoreBusy(cause, operation);
  }
}
