import type { ClaimHolds } from '../../coordination/claimer.js';
import type { ClaimOutcome } from '../../coordination/guarded-backend.js';
import { guardsFleet, holdsOfPass } from '../fire-holds.js';
import type { FireServices } from '../fire-services.js';
import { type SentAt, sentNow } from '../lease-hold.js';
import type { FireEntry, Outcome, Pass } from '../pass.js';
import { refuseStale } from './refuse-stale.js';

/**
 * The last point at which a pass can be dropped without a trace in the store: after a drain started, and for an entry that changed since, no
 * claim is asked. Once asked, a granted fire runs. Without a claimer every replica goes on.
 */
export function askClaimer(pass: Pass, services: FireServices): Outcome | undefined | Promise<Outcome | undefined> {
  const { claims } = pass.entry;
  if (claims === undefined) return refuseStale(pass, services);
  // Asked when the turn is over: then the entry's next instant is armed, which bounds how long this fire may wait for its store.
  return Promise.resolve().then(() => refuseStale(pass, services) ?? claim(pass, services, claims));
}

async function claim(
  pass: Pass,
  services: FireServices,
  claims: NonNullable<FireEntry['claims']>,
): Promise<Outcome | undefined> {
  const { fire, entry } = pass;
  const claimId = services.random.uuid();
  pass.claimId = claimId;
  pass.asked = claims;
  const request = {
    entryKey: fire.entryKey,
    fireKey: fire.fireKey,
    scheduledAt: fire.scheduledAt,
    claimId,
    schedule: entry.scheduleFingerprint,
    untilMs: pass.waitsUntilMs(services.clock.now(), services.claimPatienceMs),
  };
  const holds = holdsOf(pass, services.leaseTtlMs);
  const sentAt = holds && sentNow(services.clock);
  const outcome = await claims.claim(holds === undefined ? request : { ...request, holds });
  if (outcome.kind === 'paused') entry.pausedOverFleet = true;
  else if (outcome.kind === 'granted') entry.pausedOverFleet = false;
  if (outcome.kind === 'overlap' && entry.policies.overlap === 'queue') return undefined;
  if (outcome.kind === 'granted' && holds !== undefined && sentAt !== undefined)
    return keepHolds(pass, services, holds, outcome.overlapToken, sentAt);
  return readOutcome(outcome);
}

/** What the winner takes together with its claim, in one round trip. */
function holdsOf({ fire, entry: { policies } }: Pass, leaseTtlMs: number): ClaimHolds | undefined {
  const recovers = policies.recovery === 'rerun';
  // Who waits for the guard, and must be recoverable while it waits, asks for it when it has its claim; so do the fires of one replay, which run one after the other.
  const guards = guardsFleet(policies) && fire.origin !== 'catch-up' && !(recovers && policies.overlap === 'queue');
  if (!guards && !recovers) return undefined;
  return {
    ...(guards ? { overlapTtlMs: leaseTtlMs } : {}),
    ...(recovers ? { recoveryTtlMs: leaseTtlMs } : {}),
  };
}

function keepHolds(
  pass: Pass,
  services: FireServices,
  asked: ClaimHolds,
  overlapToken: number | undefined,
  sentAt: SentAt,
): Promise<Outcome | undefined> {
  const holds = holdsOfPass(pass, services);
  if (overlapToken !== undefined) holds.keepOverlap(overlapToken, sentAt);
  if (asked.recoveryTtlMs !== undefined) holds.keepRecovery(sentAt);
  return holds.confirm();
}

function readOutcome(outcome: ClaimOutcome): Outcome | undefined {
  switch (outcome.kind) {
    case 'granted':
      return undefined;
    case 'refused':
      return { kind: 'skipped', reason: 'already-claimed', superseded: outcome.superseded };
    case 'paused':
      return { kind: 'rejected', reason: 'paused' };
    case 'overlap':
      return { kind: 'rejected', reason: 'overlap' };
    case 'error':
      // Without an earlier error the claim was never on its way: a drain came first.
      if (outcome.error.code === 'COORDINATION_STOPPED' && outcome.error.cause === undefined) {
        return { kind: 'canceled', reason: 'draining' };
      }
      return { kind: 'skipped', reason: 'claim-error', error: outcome.error };
    default:
      return outcome satisfies never;
  }
}
