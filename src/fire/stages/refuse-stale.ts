import type { FireServices } from '../fire-services.js';
import type { Outcome, Pass } from '../pass.js';

/** After a drain started, and for an entry that changed since, a pass that has asked for nothing yet is dropped without a trace in the store. */
export function refuseStale(pass: Pass, services: FireServices): Outcome | undefined {
  const reason = pass.staleness() ?? (services.draining() ? 'draining' : undefined);
  return reason === undefined ? undefined : { kind: 'canceled', reason };
}
