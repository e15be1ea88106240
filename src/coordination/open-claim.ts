import type { Clock } from '../ambient/clock.js';
import type { ClaimOutcome, ClaimRequest } from './claim-request.js';

/** Timers call back up to a millisecond early; what is left then is no time to ask in. */
const LEAST_MS = 1;

/** A claim between its request and its outcome. */
export interface OpenClaim {
  readonly request: ClaimRequest;
  readonly settle: (outcome: ClaimOutcome) => void;
  /** It has its outcome; an answer that comes later changes nothing. */
  settled: boolean;
  /** Monotonic. */
  patienceEndsMs: number;
  /** Asks for it alone that failed. */
  failures: number;
  /** It failed by itself while others were answered: it may be what the store chokes on, so it spoils no batch again. */
  alone: boolean;
  /** Probes on the wire that ask for it. */
  probes: number;
}

/** Milliseconds until nobody waits for the claim: by the wall clock to `untilMs`, by the monotonic clock to the end of the patience. */
export function remainingMs({ request, patienceEndsMs }: OpenClaim, clock: Clock): number {
  return Math.min(request.untilMs - clock.now(), patienceEndsMs - clock.monotonic());
}

export function hasEnded(open: OpenClaim, clock: Clock): boolean {
  return remainingMs(open, clock) < LEAST_MS;
}
