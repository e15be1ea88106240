/** The newest claims of an entry that a store keeps; older ones are removed and raise the floor (DESIGN 6). */
export const CLAIMS_KEPT_PER_ENTRY = 256;

/** What the application set for the claim protocol. All replicas of a fleet should agree. */
export interface ClaimProtocolSettings {
  /** A fire further than this in the store's future is refused as a clock error. `forRoot({ maxClockSkew })`, default 10 s. */
  readonly maxClockSkewMs: number;
  /** Claims made longer ago than this are removed, which raises the entry's floor. `forRoot({ retention })`, default 1 h. */
  readonly retentionMs: number;
}
