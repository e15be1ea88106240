import type { Clock } from '../ambient/clock.js';
import type { CoordinationError } from './coordination-error.js';
import { hasEnded, type OpenClaim, remainingMs } from './open-claim.js';

/** A claim that waits to be asked. It holds no socket and no timer of its own. */
export interface WaitingClaim {
  readonly open: OpenClaim;
  /** Monotonic. */
  readonly dueMs: number;
  /** It is not asked before its time, even if others are: it waits for the store's clock, or has itself spoiled what it was asked with. */
  readonly ownTime: boolean;
  /** Why it waits. */
  readonly error: CoordinationError;
}

/** Timers call back up to a millisecond early. */
const EARLY_MS = 1;

/** The claims that wait, in the order in which they came to wait. */
export class WaitingClaims {
  #claims: WaitingClaim[] = [];

  constructor(private readonly clock: Clock) {}

  get size(): number {
    return this.#claims.length;
  }

  add(waiting: WaitingClaim): void {
    this.#claims.push(waiting);
  }

  /** Those that nobody waits for any more. */
  takeEnded(): WaitingClaim[] {
    return this.#take(({ open }) => hasEnded(open, this.clock));
  }

  /** Those that are due, and all that may be asked before their time. */
  takeReady(): WaitingClaim[] {
    const nowMs = this.clock.monotonic();
    return this.#take(({ ownTime, dueMs }) => !ownTime || dueMs <= nowMs + EARLY_MS);
  }

  /** Those that no probe asks for. */
  takeUnasked(): WaitingClaim[] {
    return this.#take(({ open }) => open.probes === 0);
  }

  /** Takes this one out; `false` if it does not wait any more. */
  remove(open: OpenClaim): boolean {
    return this.#take((waiting) => waiting.open === open).length > 0;
  }

  /** The claim to probe with: one that no other probe asks for, that has failed least often, and that has the longest to wait. */
  forProbe(): OpenClaim | undefined {
    let best: OpenClaim | undefined;
    let bestRemainingMs = 0;
    for (const { open } of this.#claims) {
      const ms = remainingMs(open, this.clock);
      const order = best === undefined ? -1 : open.probes - best.probes || open.failures - best.failures;
      if (order > 0 || (order === 0 && ms <= bestRemainingMs)) continue;
      best = open;
      bestRemainingMs = ms;
    }
    return best;
  }

  /** Monotonic: the first time at which one is due. */
  nextDueMs(): number {
    return this.#claims.reduce((earliest, { dueMs }) => Math.min(earliest, dueMs), Number.POSITIVE_INFINITY);
  }

  /** Monotonic: the first time at which nobody waits for one of them any more. */
  nextEndMs(): number {
    const shortestMs = this.#claims.reduce(
      (shortest, { open }) => Math.min(shortest, remainingMs(open, this.clock)),
      Number.POSITIVE_INFINITY,
    );
    return this.clock.monotonic() + shortestMs;
  }

  #take(isTaken: (waiting: WaitingClaim) => boolean): WaitingClaim[] {
    const taken: WaitingClaim[] = [];
    const left: WaitingClaim[] = [];
    for (const waiting of this.#claims) (isTaken(waiting) ? taken : left).push(waiting);
    this.#claims = left;
    return taken;
  }
}
