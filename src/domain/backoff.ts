/** How long something that failed waits before it is tried again. */
export interface Backoff {
  /** Wait after the first failure. */
  readonly minMs: number;
  readonly maxMs: number;
  /** Each failure in a row waits this many times as long as the one before. */
  readonly factor: number;
  /** The largest part, 0 to 1, by which a wait is shortened at random, so that replicas that failed together do not come back together. */
  readonly jitter: number;
}

/** The wait after the `failures`-th failure in a row, counted from 1. `fraction` is drawn anew for each. */
export function backoffMs(backoff: Backoff, failures: number, fraction: number): number {
  const { minMs, maxMs, factor, jitter } = backoff;
  // Beyond some hundred failures the power is infinite, which the maximum takes care of.
  const fullMs = Math.min(maxMs, minMs * factor ** (failures - 1));
  return fullMs * (1 - jitter * fraction);
}
