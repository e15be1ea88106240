/** What the library is set to, and how long faults last. */
export interface Profile {
  readonly retentionMs: number;
  /** Below the retention, as the option rules ask. */
  readonly claimPatienceMs: number;
  readonly coordinationTimeoutMs: number;
  readonly drainDeadlineMs: number;
  /** A stop that outlasts the retention. */
  readonly longStopMs: readonly [least: number, most: number];
  readonly storePauseMs: number;
}

const STORE_PAUSE_MS = 10_000;
const SHORT_S = 60;

export function profileFor(seconds: number): Profile {
  const common = { coordinationTimeoutMs: 2_000, drainDeadlineMs: 3_000 };
  // A fire waits for a paused store in the long form; in the short one some are given up, with a claim-error.
  return seconds < SHORT_S
    ? {
        ...common,
        retentionMs: 14_000,
        claimPatienceMs: 8_000,
        longStopMs: [14_500, 16_000],
        storePauseMs: Math.min(STORE_PAUSE_MS, (seconds * 1_000) / 3),
      }
    : {
        ...common,
        retentionMs: 25_000,
        claimPatienceMs: 15_000,
        longStopMs: [26_000, 32_000],
        storePauseMs: STORE_PAUSE_MS,
      };
}

/** The longest that a replica which is awake may take to a run or a word: a first ask, its patience, an ask again, and a machine that is busy. */
export function accountWithinMs({ claimPatienceMs, coordinationTimeoutMs }: Profile): number {
  return claimPatienceMs + 2 * coordinationTimeoutMs + 5_000;
}
