import { CLAIMS_KEPT_PER_ENTRY } from '../claim-protocol.js';

/** A claim as the memory store keeps it. */
export interface StoredClaim {
  /** The owner: that of the claim, or of the scan that took it over. */
  claimId: string;
  instanceId: string;
  readonly madeMs: number;
  /** 1 for the claim itself, one more for each time it was taken over; 0 for one that is to be recoverable from its own pass's next ask on, since that was told `'overlap'`. */
  attempt: number;
  /** When it lapses; `undefined`: nobody takes it over, since it is done or was never recoverable. */
  expiresAtMs: number | undefined;
}

/** An entry's head and its claims. */
export interface StoredEntry {
  claims: Map<number, StoredClaim>;
  /** Those of `claims` that can lapse: a scan looks at these alone. */
  readonly unfinished: Map<number, StoredClaim>;
  /** Whether `claims` lists its instants in ascending order: they nearly always come so, and the lowest is then found at once. */
  ascending: boolean;
  floorMs: number;
  watermarkMs: number;
  /** Fingerprint under which the watermark was claimed. */
  schedule: string;
  /** Since when it is paused over the fleet. */
  pausedMs: number | undefined;
  /** No claim that may be removed is older than this: spares the walk through the claims while nothing can be too old. */
  oldestMadeMs: number;
}

export function newEntry(): StoredEntry {
  return {
    claims: new Map(),
    unfinished: new Map(),
    ascending: true,
    floorMs: Number.NEGATIVE_INFINITY,
    watermarkMs: Number.NEGATIVE_INFINITY,
    schedule: '',
    pausedMs: undefined,
    oldestMadeMs: Number.POSITIVE_INFINITY,
  };
}

export function addClaim(entry: StoredEntry, instantMs: number, claim: StoredClaim, schedule: string): void {
  entry.claims.set(instantMs, claim);
  if (claim.expiresAtMs === undefined) entry.oldestMadeMs = Math.min(entry.oldestMadeMs, claim.madeMs);
  else entry.unfinished.set(instantMs, claim);
  if (instantMs > entry.watermarkMs) {
    entry.watermarkMs = instantMs;
    entry.schedule = schedule;
  } else {
    entry.ascending = false;
  }
  if (entry.claims.size > CLAIMS_KEPT_PER_ENTRY) removeBeyondNewest(entry);
}

/** From here on nobody takes it over, and it is removed as any other. */
export function markDone(entry: StoredEntry, instantMs: number, claim: StoredClaim): void {
  claim.expiresAtMs = undefined;
  entry.unfinished.delete(instantMs);
  entry.oldestMadeMs = Math.min(entry.oldestMadeMs, claim.madeMs);
}

/** Its pass asked again, and has the lease now that it was refused. */
export function markUnfinished(entry: StoredEntry, instantMs: number, claim: StoredClaim, expiresAtMs: number): void {
  claim.attempt = 1;
  claim.expiresAtMs = expiresAtMs;
  entry.unfinished.set(instantMs, claim);
}

/** The floor rises in the same step, so what is forgotten here is never granted again. What may still be taken over stays. */
export function removeByAge(entry: StoredEntry, beforeMs: number): void {
  entry.oldestMadeMs = Number.POSITIVE_INFINITY;
  for (const [instantMs, { madeMs, expiresAtMs }] of entry.claims) {
    if (expiresAtMs !== undefined) continue;
    if (madeMs < beforeMs) remove(entry, instantMs);
    else entry.oldestMadeMs = Math.min(entry.oldestMadeMs, madeMs);
  }
}

/** Of those beyond the newest, lowest first, what may still be taken over stays. */
function removeBeyondNewest(entry: StoredEntry): void {
  if (!entry.ascending) {
    entry.claims = new Map([...entry.claims].sort(([a], [b]) => a - b));
    entry.ascending = true;
  }
  let beyond = entry.claims.size - CLAIMS_KEPT_PER_ENTRY;
  for (const [instantMs, { expiresAtMs }] of entry.claims) {
    if (beyond === 0) return;
    beyond -= 1;
    if (expiresAtMs === undefined) remove(entry, instantMs);
  }
}

function remove(entry: StoredEntry, instantMs: number): void {
  entry.claims.delete(instantMs);
  entry.floorMs = Math.max(entry.floorMs, instantMs);
}
