import type { FireServices } from '../fire-services.js';
import type { Outcome, Pass } from '../pass.js';

/**
 * Delays the pass by a random part of the entry's jitter, before it coordinates: jitter spreads the fleet's calls on the store. It
 * only delays; the fire key holds the scheduled instant. Caught-up fires do not wait.
 */
export function waitJitter(pass: Pass, services: FireServices): undefined | Promise<Outcome | undefined> {
  const { jitterMs } = pass.entry.policies;
  if (jitterMs === 0 || pass.fire.origin !== 'schedule') return undefined;
  // A wait that begins after it would have been cut has nobody left to cut it: the claim stage refuses the pass at once.
  if (pass.staleness() !== undefined || services.draining()) return undefined;
  return new Promise((resolve) => {
    const end = (outcome: Outcome | undefined) => {
      pass.cutWait = undefined;
      resolve(outcome);
    };
    const alarm = services.alarms.set(services.random.fraction() * jitterMs, () => end(undefined));
    pass.cutWait = () => {
      services.alarms.cancel(alarm);
      end({ kind: 'canceled', reason: pass.staleness() ?? 'draining' });
    };
  });
}
