const PREFIX = 'overlap:';

/** The lease that a run holds where an entry's overlap is guarded over the fleet. */
export const overlapLeaseName = (entryKey: string) => `${PREFIX}${entryKey}`;

/** The lease of the one fire that waits for that lease. */
export const queueLeaseName = (entryKey: string) => `queue:${entryKey}`;

/** The entry of an overlap lease, or `undefined` for any other: a store that spreads its keys must find both in one place, since a claim takes the lease in its own step. */
export function entryOfOverlapLease(name: string): string | undefined {
  return name.startsWith(PREFIX) ? name.slice(PREFIX.length) : undefined;
}
