import { CoordinationError } from '../coordination-error.js';

export const POSTGRES_STORE = 'postgres';

/** Each parameter is a text, whatever it means: no client has to know how PostgreSQL writes an array or a large number. */
export type PostgresQueryResult = { readonly rows: readonly unknown[] } | readonly unknown[];

/**
 * The part of a client that is used: one statement with its values on a session of the client's choice, each in a transaction of its own. A `Pool` of
 * `pg` is one. Answers an object with `rows`, or the rows themselves.
 */
export interface PostgresPool {
  query(text: string, values: string[]): PromiseLike<PostgresQueryResult>;
}

/**
 * Says what a pool must be, or `undefined` if this can be one. A session is refused where it can be told from a pool: it may be inside a transaction
 * of the application, which can roll back, and our claims with it.
 */
export function poolFault(pool: unknown): string | undefined {
  const given = pool as { query?: unknown; release?: unknown; processID?: unknown } | null | undefined;
  if (typeof given?.query !== 'function') return 'a pool, or an object with query(text, values)';
  // A session of a pool is given back; a pool is not. The name is that of pg, postgres.js and TypeORM's QueryRunner.
  if (typeof given.release === 'function') return 'a pool, and not one session of it';
  // pg's Client has the process it talks to, `null` before it is connected.
  if (given.processID !== undefined) return 'a pool, and not a single client';
  return undefined;
}

/** Sends one statement and gives its rows. */
export async function rowsOf<Row>(pool: PostgresPool, text: string, values: readonly string[]): Promise<Row[]> {
  const result = (await pool.query(text, [...values])) as { rows?: unknown } | readonly unknown[] | null | undefined;
  const rows = Array.isArray(result) ? result : (result as { rows?: unknown } | null | undefined)?.rows;
  if (Array.isArray(rows)) return rows as Row[];
  throw new TypeError('query(text, values) answered neither rows nor an object with rows.');
}

/** A text array as PostgreSQL reads it from one text; `null` is its NULL. */
export function textArray(values: readonly (string | null)[]): string {
  return `{${values.map((value) => (value === null ? 'NULL' : `"${value.replace(/["\\]/g, '\\$&')}"`)).join(',')}}`;
}

/** A bigint array as PostgreSQL reads it from one text; `null` is its NULL. */
export function integerArray(values: readonly (number | null)[]): string {
  return `{${values.map((value) => value ?? 'NULL').join(',')}}`;
}

/** Says what a text must be for a text column to keep it whole, or `undefined` if it is. A lone surrogate would become another character, and two keys one. */
export function textFault(text: string): string | undefined {
  if (text.includes('\0')) return 'no NUL';
  return text.isWellFormed() ? undefined : 'well-formed Unicode (no lone surrogates)';
}

/** Refuses a text that would not be kept whole, before anything is sent. */
export function requireText(text: string, what: string, operation: string): void {
  const expected = textFault(text);
  if (expected === undefined) return;
  throw new CoordinationError(
    'COORDINATION_FAILED',
    { store: POSTGRES_STORE, operation },
    `the ${what} ${JSON.stringify(text.slice(0, 40))} cannot be kept: expected ${expected}.`,
  );
}

/** Milliseconds as a bigint reads them. */
export function wholeMs(ms: number, what: string, operation: string): string {
  if (Number.isFinite(ms)) return String(Math.round(ms));
  const subject = { store: POSTGRES_STORE, operation };
  throw new CoordinationError('COORDINATION_FAILED', subject, `${what} is ${ms}, expected milliseconds.`);
}

/** Serialization failure, deadlock, a lock that was not to be had in time: the transaction did nothing, and asking again is the answer. */
const BUSY = new Set(['40001', '40P01', '55P03']);

/** What asks to be asked again as `STORE_BUSY`; anything else as it is. */
export function asStoreBusy(cause: unknown, operation: string): unknown {
  const state = sqlStateOf(cause);
  if (state === undefined || !BUSY.has(state)) return cause;
  return new CoordinationError(
    'STORE_BUSY',
    { store: POSTGRES_STORE, operation },
    `another transaction was in the way (SQLSTATE ${state}).`,
    { cause },
  );
}

/** The SQLSTATE, wherever the client that passed the error on has put it. */
export function sqlStateOf(error: unknown, depth = 0): string | undefined {
  if (typeof error !== 'object' || error === null || depth > 5) return undefined;
  const { code, meta, cause, driverError, driverAdapterError, originalCode } = error as Record<string, unknown>;
  for (const state of [originalCode, code])
    if (typeof state === 'string' && /^[0-9A-Z]{5}$/.test(state) && !isPrismaCode(state)) return state;
  // Prisma's own word for a write conflict or deadlock.
  if (code === 'P2034') return '40001';
  for (const inner of [meta, driverError, driverAdapterError, cause]) {
    const state = sqlStateOf(inner, depth + 1);
    if (state !== undefined) return state;
  }
  return undefined;
}

/** `P2010` looks like a SQLSTATE of PL/pgSQL, whose class is `P0`. */
function isPrismaCode(code: string): boolean {
  return /^P[1-9]/.test(code);
}
