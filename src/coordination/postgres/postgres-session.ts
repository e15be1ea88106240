import type { ClaimProtocolSettings } from '../claim-protocol.js';
import { asStoreBusy, type PostgresPool, rowsOf } from './postgres-client.js';
import type { PostgresStatements } from './postgres-statements.js';

/** What is there while the backend is open. */
export interface PostgresSession {
  readonly pool: PostgresPool;
  readonly statements: PostgresStatements;
  readonly settings: ClaimProtocolSettings;
}

/** Throws while the backend is not open. */
export type OpenSession = (operation: string) => PostgresSession;

/** One statement and its rows; what asks to be asked again rejects as `STORE_BUSY`. */
export async function ask<Row>(
  { pool, statements }: PostgresSession,
  statement: keyof PostgresStatements,
  values: readonly string[],
  operation: string,
): Promise<Row[]> {
  try {
    return await rowsOf<Row>(pool, statements[statement], values);
  } catch (cause) {
    throw asStoreBusy(cause, operation);
  }
}
