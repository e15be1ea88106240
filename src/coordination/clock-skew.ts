import type { Clock } from '../ambient/clock.js';

/** A clock that is off is refused at every fire; whoever is told needs to hear it once in a while. */
const QUIET_MS = 60_000;

/** Tells how far a replica's clock is off when a store refuses its fires as early, at most once a minute. */
export class ClockSkew {
  #quietUntilMs = Number.NEGATIVE_INFINITY;

  constructor(
    private readonly clock: Clock,
    private readonly skewed: (offsetMs: number) => void,
  ) {}

  /** The store found this instant to lie `aheadMs` in its future, and said so just now. */
  foundEarly(scheduledAtMs: number, aheadMs: number): void {
    const nowMs = this.clock.monotonic();
    if (nowMs < this.#quietUntilMs || !Number.isFinite(aheadMs)) return;
    this.#quietUntilMs = nowMs + QUIET_MS;
    // What the store's clock showed, less what ours shows; wrong by the time the answer was under way.
    this.skewed(scheduledAtMs - aheadMs - this.clock.now());
  }
}
