/**
 * What happens at a change of the zone's offset. An expression whose minute or hour field starts with `*` follows elapsed
 * time under every policy. Otherwise: `vixie` runs a time inside a gap (shorter than three hours) once, at the first instant after the gap, and a
 * repeated time in its first pass only; `skip` is `vixie` without the make-up fire; `literal` runs every instant whose wall
 * clock matches.
 */
export const DST_POLICIES = ['vixie', 'literal', 'skip'] as const;
export type DstPolicy = (typeof DST_POLICIES)[number];

/** How day-of-month and day-of-week combine where neither is exactly `*` or `?`: either is enough, or both must match. */
export const DAY_MATCHES = ['or', 'and'] as const;
export type DayMatch = (typeof DAY_MATCHES)[number];

/** What happens to the instants that were missed: the latest runs once, none runs, or all run, oldest first. */
export const MISSED_POLICIES = ['run-once', 'skip', 'run-all'] as const;
export type MissedPolicy = (typeof MISSED_POLICIES)[number];

/** Which replica asks first: whichever comes first, or the fire's home on the ring of live members, which balances the fleet. */
export const PLACEMENTS = ['any', 'spread'] as const;
export type Placement = (typeof PLACEMENTS)[number];

/**
 * What happens when a fire is reached while an earlier one of its entry still runs: both run, the later one is rejected, or one waits for the earlier one's end and those after it
 * are rejected.
 */
export const OVERLAP_POLICIES = ['allow', 'skip', 'queue'] as const;
export type OverlapPolicy = (typeof OVERLAP_POLICIES)[number];

/** Where an earlier fire of the entry counts: on this replica, or on any of the fleet, by a lease that its run holds. */
export const OVERLAP_SCOPES = ['replica', 'fleet'] as const;
export type OverlapScope = (typeof OVERLAP_SCOPES)[number];

/** What becomes of a fire whose replica died while it ran: it is lost, or another replica runs it again, at least once then. */
export const RECOVERY_POLICIES = ['off', 'rerun'] as const;
export type RecoveryPolicy = (typeof RECOVERY_POLICIES)[number];

/**
 * How often and after what pauses a method that threw is called again within its fire, which keeps its slot and leases meanwhile. Not called again: one that ran into its `timeout` or was otherwise aborted,
 * since it may still run; a fire that a guard turned away; and none after a drain began or the entry was changed, which also end a pause at once. The fire then fails with the last error.
 */
export interface RetryPolicy {
  /** Calls in all, the first included. */
  readonly attempts: number;
  /** Pause before the second call; each later one is `factor` times longer, up to `maxMs`. */
  readonly minMs: number;
  readonly maxMs: number;
  readonly factor: number;
  /** Part of the pause, 0 to 1, that chance may take off it, so that replicas which failed together do not come back together. */
  readonly jitter: number;
}

/** When an entry last ran, where the application knows it and no store does: an instant, or a function that tells it. */
export type LastRun = Date | ((entryKey: string) => Date | null | undefined | Promise<Date | null | undefined>);
