import type { FireServices } from '../fire-services.js';
import type { Outcome, Pass } from '../pass.js';

/**
 * The entry's own rules come first, so that a busy replica leaves the fire to an idle one instead of claiming and dropping it. A pass that
 * is not refused holds a slot from here to its end: two fires cannot both find the last one free.
 */
export function refuseLocally(pass: Pass, services: FireServices): Outcome | undefined {
  if (pass.entry.paused && pass.fire.origin !== 'manual') return { kind: 'rejected', reason: 'paused' };
  const reason = services.slots.take(pass);
  return reason === undefined ? undefined : { kind: 'rejected', reason };
}
