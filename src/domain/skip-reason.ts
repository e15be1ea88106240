/** Why coordination suppressed a fire on this replica. The set is closed; the values are what logs and metrics show. */
export const SkipReason = {
  /** The elector answered `false`: another replica leads. */
  NotLeader: 'not-leader',
  /** The elector failed, did not answer in time, or answered something that is neither `true` nor `false`. */
  ElectionError: 'election-error',
  /** The claimer answered `false`: another pass has this fire. */
  AlreadyClaimed: 'already-claimed',
  /** The claimer failed, did not answer in time, or answered something that is neither `true` nor `false`. */
  ClaimError: 'claim-error',
} as const;

export type SkipReason = (typeof SkipReason)[keyof typeof SkipReason];

/** Why an entry's own rules suppressed a fire on this replica. */
export type RejectReason = 'overlap' | 'concurrency-limit' | 'paused' | 'guard';

const labels: ReadonlySet<unknown> = new Set(Object.values(SkipReason));

/** The label of a skip reason for logs and metrics, or `'unknown'`, which is never published. */
export function skipReasonLabel(value: unknown): SkipReason | 'unknown' {
  return labels.has(value) ? (value as SkipReason) : 'unknown';
}
