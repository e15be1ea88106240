import { types } from 'node:util';
import { DistributedCronError } from '../domain/errors.js';

/**
 * - `COORDINATION_TIMEOUT`: no answer in time.
 * - `COORDINATION_FAILED`: the store or the user's object threw or rejected; see `cause`.
 * - `COORDINATION_ANSWER`: it answered something the port does not know, such as neither `true` nor `false` to a claim.
 * - `CLOCK_AHEAD`: the instant lies further in the store's future than `maxClockSkew`: this replica's clock is ahead.
 * - `STORE_BUSY`: the store is up and asks to be asked again (a lock, a serialization failure).
 * - `COORDINATION_STOPPED`: the scheduler drained, or the backend was closed, before an answer came.
 */
export type CoordinationErrorCode =
  | 'COORDINATION_TIMEOUT'
  | 'COORDINATION_FAILED'
  | 'COORDINATION_ANSWER'
  | 'CLOCK_AHEAD'
  | 'STORE_BUSY'
  | 'COORDINATION_STOPPED';

/** No usable answer from a claimer, an elector or a store. The fire it was asked for does not run: failure is closed. */
export class CoordinationError extends DistributedCronError {
  readonly code: CoordinationErrorCode;
  /** The store's name (`sqlite`, `redis`, …), or `custom` for an object of the application's own. */
  readonly store: string;
  /** What was asked: `claim`, `lastFire`, `acquire`, `renew`, `release`, `heartbeat`, `leave`, `isLeader`, `now`, `open`, `close`, … */
  readonly operation: string;
  /** With `CLOCK_AHEAD`: how far the instant lay ahead of the store's clock, in milliseconds. */
  readonly aheadMs?: number;

  constructor(
    code: CoordinationErrorCode,
    subject: { readonly store: string; readonly operation: string; readonly aheadMs?: number },
    message: string,
    options?: { cause?: unknown },
  ) {
    super(`${subject.store} ${subject.operation}: ${message}`, options);
    this.code = code;
    this.store = subject.store;
    this.operation = subject.operation;
    if (subject.aheadMs !== undefined) this.aheadMs = subject.aheadMs;
  }
}

/**
 * Whatever was thrown, as the one error that coordination answers with. A CoordinationError stays what it is; so does one that another copy
 * of this package made (an application can load it once as ES module and once as CommonJS), which `instanceof` would not recognize.
 */
export function toCoordinationError(
  cause: unknown,
  subject: { readonly store: string; readonly operation: string },
): CoordinationError {
  let message: string;
  try {
    if (cause instanceof CoordinationError) return cause;
    if (isError(cause) && cause.name === 'CoordinationError' && 'code' in cause) return cause as CoordinationError;
    message = isError(cause) ? cause.message : String(cause);
  } catch {
    // What was thrown may be anything, a proxy that throws when it is looked at included.
    message = 'it threw something that cannot be described';
  }
  return new CoordinationError('COORDINATION_FAILED', subject, `failed: ${message}`, { cause });
}

/** Also for errors of another realm, such as those of Node's own modules in a test runner that gives each file its globals. */
export function isError(value: unknown): value is Error {
  return types.isNativeError(value) || value instanceof Error;
}
