import type { FireServices } from '../fire-services.js';
import type { Outcome, Pass } from '../pass.js';

/**
 * Delays the pass before it coordinates: by a random part of the entry's jitter, which spreads the fleet's calls on the store; and with `placement: 'spread'` until
 * the fire's home has had its turn. It only delays: the fire key holds the scheduled instant. Caught-up fires do not wait.
 */
export function waitTurn(pass: Pass, services: FireServices): undefined | Promise<Outcome | undefined> {
  const delayMs = delayOf(pass, services);
  if (delayMs <= 0) return undefined;
  // A wait that begins after it would have been cut has nobody left to cut it: the claim stage refuses the pass at once.
  if (pass.staleness() !== undefined || services.draining()) return undefined;
  return new Promise((resolve) => {
    const end = (outcome: Outcome | undefined) => {
      pass.cutWait = undefined;
      resolve(outcome);
    };
    const alarm = services.alarms.set(delayMs, () => end(undefined));
    pass.cutWait = () => {
      services.alarms.cancel(alarm);
      end({ kind: 'canceled', reason: pass.staleness() ?? 'draining' });
    };
  });
}

function delayOf({ fire, entry }: Pass, services: FireServices): number {
  if (fire.origin !== 'schedule') return 0;
  const { jitterMs, placement, takeoverAfterMs } = entry.policies;
  if (placement === 'spread' && services.homes?.isHere(fire.fireKey) !== true) {
    // The home asks at the latest when its jitter is over. A home that is gone never asks: then the others do, and the claim decides between them.
    return fire.scheduledAt.getTime() + jitterMs + takeoverAfterMs - services.clock.now();
  }
  return jitterMs === 0 ? 0 : services.random.fraction() * jitterMs;
}
