/** Short, but longer than a machine with more to do than it has cores keeps a process waiting. */
export const LEASE_TTL_MS = 3_000;
export const COORDINATION_TIMEOUT_MS = 1_000;

/** Lapsed fires are looked for at a third of the lease. */
export const SCAN_MS = LEASE_TTL_MS / 3;

/** Of a method that outlasts its lease three times. */
export const SLOW_MS = 3 * LEASE_TTL_MS + 500;

/** Of the method that may not run twice at a time: longer than the interval of its entry. */
export const GUARDED_MS = 1_600;

/** A replica with a method that does not end: so long after SIGTERM its signal is aborted. */
export const DRAIN_DEADLINE_MS = 1_000;

/** The lease of a replica whose fire is to be taken before it lapses: a claim that lapsed would be taken later than anything waited for here. */
export const LONG_LEASE_TTL_MS = 60_000;

/** What a busy machine may add to a limit. */
export const SLACK_MS = 5_000;
