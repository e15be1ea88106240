import { CoordinationError } from './coordination-error.js';

/** The newest claims of an entry that a store keeps; older ones are removed and raise the floor (DESIGN 6). */
export const CLAIMS_KEPT_PER_ENTRY = 256;

/** What the application set for the claim protocol. All replicas of a fleet should agree. */
export interface ClaimProtocolSettings {
  /** A fire further than this in the store's future is refused as a clock error. `forRoot({ maxClockSkew })`, default 10 s. */
  readonly maxClockSkewMs: number;
  /** Claims made longer ago than this are removed, which raises the entry's floor. `forRoot({ retention })`, default 1 h. */
  readonly retentionMs: number;
}

export const DEFAULT_CLAIM_PROTOCOL: ClaimProtocolSettings = Object.freeze({
  maxClockSkewMs: 10_000,
  retentionMs: 3_600_000,
});

/** The answer for an instant that lies too far in the store's future, or `undefined` if it does not. */
export function clockAheadError(
  store: string,
  scheduledAtMs: number,
  storeNowMs: number,
  settings: ClaimProtocolSettings,
): CoordinationError | undefined {
  const aheadMs = scheduledAtMs - storeNowMs;
  if (aheadMs <= settings.maxClockSkewMs) return undefined;
  return new CoordinationError(
    'CLOCK_AHEAD',
    { store, operation: 'claim', aheadMs },
    `the fire lies ${aheadMs} ms in the store's future, more than maxClockSkew (${settings.maxClockSkewMs} ms). The clock of this replica is ahead: synchronize it.`,
  );
}
