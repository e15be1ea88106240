/** Of the singleton and the parallel task. */
export const PERIOD_MS = 200;
export const RUN_MS = 50;

/** Short, but longer than a machine with more to do than it has cores keeps a process waiting: past four fifths of the lease a run counts as stalled. */
export const LEASE_TTL_MS = 3_000;
export const MEMBER_EXPIRY_MS = 3_000;
export const COORDINATION_TIMEOUT_MS = 1_000;

/** A third of the expiry: so late at most another replica sees who has left. */
export const REFRESH_MS = MEMBER_EXPIRY_MS / 3;

/** What the home asks for before it closes: others see that it left well before, and would be early if they went by their own clock. */
export const HANDOVER_MS = 3 * REFRESH_MS;

/** What a busy machine may add to a limit. */
export const SLACK_MS = 5_000;
