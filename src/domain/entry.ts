import type {
  LastRun,
  MissedPolicy,
  OverlapPolicy,
  OverlapScope,
  Placement,
  RecoveryPolicy,
  RetryPolicy,
} from './policies.js';

/** An entry's own rules, resolved: every default is filled in, every duration is in milliseconds. */
export interface EntryPolicies {
  /** Each replica waits a random time below this before it coordinates, which spreads the fleet's calls on the store. 0 is none. */
  readonly jitterMs: number;
  readonly placement: Placement;
  /** With `spread`: replicas that are not the fire's home ask this long after the home's latest possible ask. */
  readonly takeoverAfterMs: number;
  readonly missed: MissedPolicy;
  /** The newest due instant still counts as on time when it is reached at most this late. */
  readonly missedToleranceMs: number;
  /** Missed instants older than this are reported, never run. */
  readonly catchUpWithinMs: number;
  /** Where the store remembers nothing of the entry: its last run, after which missed instants are looked for at start. */
  readonly lastRun: LastRun | null;
  readonly overlap: OverlapPolicy;
  readonly overlapScope: OverlapScope;
  /** Runs of this entry at a time on this replica; `null` is no limit. */
  readonly maxConcurrent: number | null;
  /** The method's signal is aborted after this, and its fire fails; with `retry`, each attempt has this long, and one that runs into it is the last. `null` is no limit. */
  readonly timeoutMs: number | null;
  /** `null`: a method that throws is called once. */
  readonly retry: RetryPolicy | null;
  readonly recovery: RecoveryPolicy;
  /** With `rerun`: a fire is run by at most this many replicas one after the other, the first included; then it is abandoned. */
  readonly recoveryAttempts: number;
}

/** What counts for an entry of which nothing is said (DESIGN 7). */
export const DEFAULT_ENTRY_POLICIES: EntryPolicies = Object.freeze({
  jitterMs: 0,
  placement: 'any',
  takeoverAfterMs: 2_000,
  missed: 'run-once',
  missedToleranceMs: 60_000,
  catchUpWithinMs: 86_400_000,
  lastRun: null,
  overlap: 'allow',
  overlapScope: 'replica',
  maxConcurrent: null,
  timeoutMs: null,
  retry: null,
  recovery: 'off',
  recoveryAttempts: 5,
});
