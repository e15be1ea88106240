import type { Random } from '../ambient/random.js';
import type { CoordinationError } from './coordination-error.js';

/** A lock is held for moments; longer waits would only add to the fire's delay. Random, so that waiting replicas do not meet again. */
const BUSY_WAIT_MS = { least: 1, most: 20 } as const;
const FIRST_FAILURE_WAIT_MS = 50;
/** A store that is back is found within about this time. */
const LONGEST_FAILURE_WAIT_MS = 1_000;

/** Wait before a busy store is asked again: a whole number of milliseconds from 1 to 20. */
export function busyWaitMs(random: Random): number {
  return BUSY_WAIT_MS.least + Math.floor(random.fraction() * BUSY_WAIT_MS.most);
}

/** Wait after the `failures`-th failure or time-out in a row: half fixed, half random, doubling up to a second. */
export function failureWaitMs(failures: number, random: Random): number {
  const longestMs = Math.min(LONGEST_FAILURE_WAIT_MS, FIRST_FAILURE_WAIT_MS * 2 ** Math.min(failures - 1, 10));
  return Math.ceil((longestMs / 2) * (1 + random.fraction()));
}

/** The longest such wait: half a second to a second. */
export function longestFailureWaitMs(random: Random): number {
  return failureWaitMs(Number.MAX_SAFE_INTEGER, random);
}

/** Whether no answer came at all: the store may be down. */
export function storeMayBeDown(error: CoordinationError): boolean {
  return error.code === 'COORDINATION_TIMEOUT' || error.code === 'COORDINATION_FAILED';
}

/** Whether another ask can bring another answer. A wrong answer is a fault of the code that gave it: it would come again. */
export function worthAskingAgain(error: CoordinationError): boolean {
  return error.code === 'STORE_BUSY' || storeMayBeDown(error);
}
