import type { FireServices } from '../fire-services.js';
import type { Outcome, Pass } from '../pass.js';

/**
 * The entry's own rules come first, so that a busy replica leaves the fire to an idle one instead of claiming and dropping it. A pass that
 * is not refused holds a slot from here to its end: two fires cannot both find the last one free.
 */
export function refuseLocally(pass: Pass, services: FireServices): Outcome | undefined | Promise<Outcome | undefined> {
  if (isPaused(pass)) return { kind: 'rejected', reason: 'paused' };
  const reason = services.slots.take(pass);
  if (reason === undefined) return undefined;
  if (reason === 'overlap' && pass.entry.policies.overlap === 'queue') return waitForEarlier(pass, services);
  return { kind: 'rejected', reason };
}

function isPaused({ entry, fire }: Pass): boolean {
  return entry.paused && fire.origin !== 'manual';
}

/**
 * Waits for the end of the entry's earlier fire, without a slot. Nothing is claimed meanwhile, so an idle replica may have run this fire by then. When its turn has come
 * the other rules count as for one that comes just then: a pause, or a replica that is full with other entries, refuses it.
 */
function waitForEarlier(pass: Pass, services: FireServices): Outcome | Promise<Outcome | undefined> {
  const { entry } = pass;
  const { slots } = services;
  if (slots.isWaitedFor(entry)) return { kind: 'rejected', reason: 'overlap' };
  // A wait that begins after it would have been cut has nobody left to cut it.
  const unwanted = pass.staleness() ?? (services.draining() ? 'draining' : undefined);
  if (unwanted !== undefined) return { kind: 'canceled', reason: unwanted };
  return new Promise((resolve) => {
    const end = (outcome: Outcome | undefined) => {
      slots.leave(entry);
      pass.cutWait = undefined;
      resolve(outcome);
    };
    slots.wait(entry, () => {
      if (isPaused(pass)) {
        end({ kind: 'rejected', reason: 'paused' });
        return;
      }
      const reason = slots.take(pass);
      // Another one of the entry still runs, or a caught-up one, which has its claim already, went first.
      if (reason === 'overlap') return;
      end(reason === undefined ? undefined : { kind: 'rejected', reason });
    });
    pass.cutWait = () => end({ kind: 'canceled', reason: pass.staleness() ?? 'draining' });
  });
}
