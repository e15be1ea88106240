import type { OpenClaim } from './open-claim.js';

/** Claims in one call of `claimMany`. */
const LARGEST_BATCH = 1_000;

/** At most 1,000 claims each, an instant of an entry at most once, and those that spoiled a batch each for itself. */
export function claimBatches(claims: readonly OpenClaim[]): OpenClaim[][] {
  const done: OpenClaim[][] = [];
  let left = claims;
  while (left.length > 0) {
    const batch: OpenClaim[] = [];
    const fireKeys = new Set<string>();
    const later: OpenClaim[] = [];
    for (const open of left) {
      if (open.alone) done.push([open]);
      else if (fireKeys.has(open.request.fireKey) || batch.length === LARGEST_BATCH) later.push(open);
      else {
        fireKeys.add(open.request.fireKey);
        batch.push(open);
      }
    }
    if (batch.length > 0) done.push(batch);
    left = later;
  }
  return done;
}
