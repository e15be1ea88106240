import type { FireServices } from '../fire-services.js';
import type { Outcome, Pass } from '../pass.js';

/** A caught-up fire of a paused entry is refused before it takes a claim; its entry's other rules only make it wait, once it has one. */
export function refusePaused({ entry }: Pass): Outcome | undefined {
  return entry.paused ? { kind: 'rejected', reason: 'paused' } : undefined;
}

/**
 * Lets the winner of a caught-up fire wait for its place. Its claim is made, so nobody else will run it: a drain does not cut this wait, and the fire runs if there is time.
 */
export function awaitCatchUpTurn(pass: Pass, services: FireServices): undefined | Promise<undefined> {
  return services.outOfTime() ? undefined : services.catchUpTurns.take(pass);
}
