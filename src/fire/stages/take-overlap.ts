import { CoordinationError } from '../../coordination/coordination-error.js';
import type { GuardedLeases } from '../../coordination/guarded-leases.js';
import { overlapLeaseName, queueLeaseName } from '../../coordination/overlap-lease.js';
import { DrainDeadlineError } from '../../domain/errors.js';
import { guardsFleet, holdsOfPass } from '../fire-holds.js';
import type { FireServices } from '../fire-services.js';
import { LeaseHold, sentNow } from '../lease-hold.js';
import type { Outcome, Pass } from '../pass.js';

/** While another run holds the guard, it is asked for this often: nobody tells. */
const ASK_AGAIN_MS = 500;

/**
 * The guard against overlap over the fleet, for those that did not get it together with their claim: manual and recovered fires, which ask for no claim; the fires of a replay; one that waits in the
 * queue. Whoever has it goes on, if it holds it still.
 */
export function takeOverlap(pass: Pass, services: FireServices): Outcome | undefined | Promise<Outcome | undefined> {
  const loss = pass.holds?.loss();
  if (loss !== undefined) return loss;
  if (!guardsFleet(pass.entry.policies) || pass.holds?.guardsOverlap === true) return undefined;
  const { leases } = pass.asked ?? pass.entry.claims ?? {};
  // Options that need leases are refused at start where there are none; an application may still have replaced its backend.
  if (leases === undefined)
    return claimError(new CoordinationError('COORDINATION_FAILED', NO_LEASES, 'it has no leases.'));
  return take(pass, services, leases).catch(claimError);
}

const NO_LEASES = { store: 'backend', operation: 'acquire' } as const;

const claimError = (error: unknown): Outcome => ({ kind: 'skipped', reason: 'claim-error', error });
const OVERLAP: Outcome = Object.freeze({ kind: 'rejected', reason: 'overlap' });

async function take(pass: Pass, services: FireServices, leases: GuardedLeases): Promise<Outcome | undefined> {
  const { origin } = pass.fire;
  // Nobody else is left to run either. What a dead winner held lapses within its life; what is held after that is another run's, which ends.
  if (origin === 'catch-up' || origin === 'recovery') return wait(pass, services, leases);
  // Read late, as after the process was stopped, a grant may be over.
  if (await acquired(pass, services, leases)) return pass.holds?.loss();
  return pass.entry.policies.overlap === 'queue' ? queue(pass, services, leases) : OVERLAP;
}

/** One fire of the entry waits over the fleet: it holds a lease of its own meanwhile. */
async function queue(pass: Pass, services: FireServices, leases: GuardedLeases): Promise<Outcome | undefined> {
  const { namespace, leaseTtlMs: ttlMs } = services;
  const sentAt = sentNow(services.clock);
  const place = { namespace, name: queueLeaseName(pass.entry.key), owner: holdsOfPass(pass, services).owner };
  const grant = await leases.acquire({ ...place, ttlMs });
  if (grant === null) return OVERLAP;
  const lease = { ...place, token: grant.token };
  const kept = { renew: () => leases.renew(lease, { ttlMs }), giveBack: () => leases.release(lease) };
  const hold = new LeaseHold(kept, sentAt, { ...services, ttlMs }, () => undefined);
  try {
    return await wait(pass, services, leases);
  } finally {
    await hold.release();
  }
}

/** Asks until the guard is granted. Those that wait have their claim, so a store that is away for a moment costs no fire: it is asked on for as long as a claim would be. */
async function wait(pass: Pass, services: FireServices, leases: GuardedLeases): Promise<Outcome | undefined> {
  const { clock, claimPatienceMs } = services;
  let answeredAtMs = clock.monotonic();
  for (;;) {
    try {
      if (await acquired(pass, services, leases)) return pass.holds?.loss();
      answeredAtMs = clock.monotonic();
    } catch (error) {
      if (clock.monotonic() >= answeredAtMs + claimPatienceMs) throw error;
    }
    // Another replica has the fire meanwhile: it waits for the guard too.
    const loss = pass.holds?.loss();
    if (loss !== undefined) return loss;
    await new Promise<void>((resume) => void services.alarms.set(ASK_AGAIN_MS, resume));
    // A claimed fire runs, also while a drain is on, for as long as there is time.
    if (services.outOfTime())
      return { kind: 'failed', error: new DrainDeadlineError(services.drainDeadlineMs), durationMs: 0 };
  }
}

async function acquired(pass: Pass, services: FireServices, leases: GuardedLeases): Promise<boolean> {
  const { namespace, leaseTtlMs: ttlMs } = services;
  const holds = holdsOfPass(pass, services);
  const sentAt = sentNow(services.clock);
  const name = overlapLeaseName(pass.entry.key);
  const grant = await leases.acquire({ namespace, name, owner: holds.owner, ttlMs });
  if (grant === null) return false;
  holds.keepOverlap(grant.token, sentAt);
  return true;
}
