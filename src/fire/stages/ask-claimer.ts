import type { ClaimOutcome } from '../../coordination/guarded-backend.js';
import type { FireServices } from '../fire-services.js';
import type { FireEntry, Outcome, Pass } from '../pass.js';

/**
 * The last point at which a pass can be dropped without a trace in the store: after a drain started, and for an entry that changed since, no
 * claim is asked. Once asked, a granted fire runs. Without a claimer every replica goes on.
 */
export function askClaimer(pass: Pass, services: FireServices): Outcome | undefined | Promise<Outcome | undefined> {
  const { claims } = pass.entry;
  if (claims === undefined) return refusal(pass, services);
  // Asked when the turn is over: then the entry's next instant is armed, which bounds how long this fire may wait for its store.
  return Promise.resolve().then(() => refusal(pass, services) ?? claim(pass, services, claims));
}

function refusal(pass: Pass, services: FireServices): Outcome | undefined {
  const reason = pass.staleness() ?? (services.draining() ? 'draining' : undefined);
  return reason === undefined ? undefined : { kind: 'canceled', reason };
}

async function claim(
  pass: Pass,
  services: FireServices,
  claims: NonNullable<FireEntry['claims']>,
): Promise<Outcome | undefined> {
  const { fire, entry } = pass;
  const patientUntilMs = services.clock.now() + services.claimPatienceMs;
  const overtakenAtMs = entry.nextAtMs ?? Number.POSITIVE_INFINITY;
  const outcome = await claims.claim({
    entryKey: fire.entryKey,
    fireKey: fire.fireKey,
    scheduledAt: fire.scheduledAt,
    claimId: services.random.uuid(),
    schedule: entry.scheduleFingerprint,
    untilMs: Math.min(patientUntilMs, overtakenAtMs),
  });
  return readOutcome(outcome);
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
