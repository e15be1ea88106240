import type { OpenClaim } from './open-claim.js';

/** Claims in one call of `claimMany`. */
const LARGEST_BATCH = 1_000;

/**
 * At most 1,000 claims each, an instant of an entry at most once, and those that spoiled a batch each for itself. Batches are asked side by side, so the claims of an entry that follow each other, as those of a
 * replay do, stay in one: else later instants could be decided before earlier ones, and raise the floor above them.
 */
export function claimBatches(claims: readonly OpenClaim[]): OpenClaim[][] {
  const done: OpenClaim[][] = [];
  let left = claims;
  while (left.length > 0) {
    const batch: OpenClaim[] = [];
    const fireKeys = new Set<string>();
    const later: OpenClaim[] = [];
    let full = false;
    for (const open of left) {
      if (open.alone) done.push([open]);
      else if (full || fireKeys.has(open.request.fireKey)) later.push(open);
      else if (batch.length === LARGEST_BATCH) {
        full = true;
        later.push(...batch.splice(startOfEntry(batch, open)), open);
      } else {
        fireKeys.add(open.request.fireKey);
        batch.push(open);
      }
    }
    if (batch.length > 0) done.push(batch);
    left = later;
  }
  return done;
}

/** Where in a full batch the claims begin that `next` has to stay with; its end where there are none, or nothing else. */
function startOfEntry(batch: readonly OpenClaim[], next: OpenClaim): number {
  let start = batch.length;
  while (start > 0 && batch[start - 1]!.request.entryKey === next.request.entryKey) start -= 1;
  return start === 0 ? batch.length : start;
}
