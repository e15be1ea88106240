/**
 * A fire key names one occurrence of one entry: `<entryKey>@<UTC instant, RFC 3339, no trailing zeros in the fraction>`.
 * A manual fire's key ends in `#manual-<uuid>`, so it can never collide with a scheduled one.
 */
export function fireKey(entryKey: string, scheduledAtMs: number): string {
  return `${entryKey}@${formatInstant(scheduledAtMs)}`;
}

export function manualFireKey(entryKey: string, scheduledAtMs: number, uuid: string): string {
  return `${fireKey(entryKey, scheduledAtMs)}#manual-${uuid}`;
}

/** RFC 3339 in UTC; milliseconds are the finest, and trailing zeros of the fraction are dropped. */
export function formatInstant(instantMs: number): string {
  const iso = new Date(instantMs).toISOString();
  if (iso.endsWith('.000Z')) return `${iso.slice(0, -5)}Z`;
  return `${iso.slice(0, -1).replace(/0+$/, '')}Z`;
}
