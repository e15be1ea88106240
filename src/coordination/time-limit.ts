import type { Clock } from '../ambient/clock.js';
import { CoordinationError } from './coordination-error.js';

/** How long is waited, and whom the error names when it was too long. */
export interface TimeLimit {
  readonly limitMs: number;
  /** `sqlite`, `redis`, …, or `custom` for an object of the application's own. */
  readonly store: string;
  /** What is asked: `claim`, `renew`, `isLeader`, `open`, … */
  readonly operation: string;
}

/** A timer that calls back later than this was held up by a blocked event loop, not by the clock. */
const HELD_UP_MS = 20;

/**
 * Asks, and waits for the answer until the limit; then the promise rejects with `COORDINATION_TIMEOUT` and the signal is aborted with that error.
 * Whatever `ask` throws or rejects with is passed on as it is. An answer or a rejection after the limit changes nothing and is never unhandled. No timer stays
 * behind; an answer that is no promise needs none.
 */
export function limitTime<T>(
  clock: Clock,
  limit: TimeLimit,
  ask: (signal: AbortSignal) => T | PromiseLike<T>,
): Promise<T> {
  return new Promise<T>((resolve, reject) => {
    const controller = new AbortController();
    const askedAtMs = clock.monotonic();
    // What `ask` throws here rejects the promise: this is the executor.
    const answer = ask(controller.signal);
    if (!isObject(answer)) {
      resolve(answer);
      return;
    }

    const expire = () => {
      const error = new CoordinationError('COORDINATION_TIMEOUT', limit, `no answer within ${limit.limitMs} ms.`);
      reject(error);
      controller.abort(error);
    };
    let timer = clock.setTimer(() => {
      // After a blocked event loop timers come before sockets: an answer that arrived in time may lie unread. It gets one turn more.
      const heldUp = clock.monotonic() - askedAtMs > limit.limitMs + HELD_UP_MS;
      if (heldUp) timer = clock.setTimer(expire, 1);
      else expire();
    }, limit.limitMs);
    Promise.resolve(answer).then(
      (value) => {
        clock.clearTimer(timer);
        resolve(value);
      },
      (cause) => {
        clock.clearTimer(timer);
        reject(cause);
      },
    );
  });
}

/** Only an object or a function can be a promise. Its `then` is not looked at here: a getter runs once. */
function isObject(value: unknown): boolean {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}
