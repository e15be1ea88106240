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

/** What happens when a fire is reached while an earlier one of its entry still runs on this replica. */
export const OVERLAP_POLICIES = ['allow', 'skip'] as const;
export type OverlapPolicy = (typeof OVERLAP_POLICIES)[number];
