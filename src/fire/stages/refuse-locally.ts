import type { Outcome, Pass } from '../pass.js';

/**
 * The entry's own rules come first, so that a busy replica leaves the fire to an idle one instead of claiming and dropping it. A pass that
 * is not refused holds a slot from here to its end: two fires cannot both find the last one free.
 */
export function refuseLocally(pass: Pass): Outcome | undefined {
  const { entry } = pass;
  if (entry.paused && pass.fire.origin !== 'manual') return { kind: 'rejected', reason: 'paused' };
  if (entry.slots > 0) {
    if (entry.policies.overlap === 'skip') return { kind: 'rejected', reason: 'overlap' };
    if (entry.policies.maxConcurrent !== null && entry.slots >= entry.policies.maxConcurrent) {
      return { kind: 'rejected', reason: 'concurrency-limit' };
    }
  }
  entry.slots += 1;
  pass.holdsSlot = true;
  return undefined;
}
