import { overlapLeaseName } from '../coordination/overlap-lease.js';
import type { EntryPolicies } from '../domain/entry.js';
import { FireLeaseLostError } from '../domain/errors.js';
import type { FireServices } from './fire-services.js';
import { LeaseHold, type LeaseLoss, type SentAt } from './lease-hold.js';
import type { EntryClaims, Outcome, Pass } from './pass.js';

/** How the run that held them ended: it is done, or another replica may run the fire again. */
export type HoldsEnd = 'done' | 'given-up';

/** Pause between two tries to give back what the store did not take back. */
const GIVE_BACK_AGAIN_MS = 500;

/** Whether runs of the entry hold a lease that keeps others of the fleet away. */
export function guardsFleet({ overlap, overlapScope }: EntryPolicies): boolean {
  return overlapScope === 'fleet' && overlap !== 'allow';
}

/** The holds of a pass, made when it first has one. */
export function holdsOfPass(pass: Pass, services: FireServices): FireHolds {
  pass.claimId ??= services.random.uuid();
  pass.holds ??= new FireHolds(pass, pass.claimId, pass.asked ?? pass.entry.claims ?? NO_CLAIMS, services);
  return pass.holds;
}

const NO_CLAIMS: Pick<EntryClaims, 'leases' | 'recovery'> = {};

/**
 * The leases that one pass holds from its grant until its method has returned: the guard against overlap over the fleet, and the claim of a fire that another replica runs again if this one dies. Both
 * are renewed meanwhile. The loss of either is told once, and aborts the method.
 */
export class FireHolds {
  private overlap: LeaseHold | undefined;
  private recovery: LeaseHold<HoldsEnd> | undefined;

  constructor(
    private readonly pass: Pass,
    /** Of the leases: the claim id. */
    readonly owner: string,
    private readonly claims: Pick<EntryClaims, 'leases' | 'recovery'>,
    private readonly services: FireServices,
  ) {}

  get guardsOverlap(): boolean {
    return this.overlap !== undefined;
  }

  /** Keeps the guard against overlap, which a request sent at `sentAt` was granted. */
  keepOverlap(token: number, sentAt: SentAt): void {
    const { namespace, leaseTtlMs: ttlMs } = this.services;
    const lease = { namespace, name: overlapLeaseName(this.pass.fire.entryKey), owner: this.owner, token };
    const kept = {
      renew: async () => (await this.claims.leases?.renew(lease, { ttlMs })) === true,
      // Not given back, it lapses: nothing is to be gained after that.
      giveBack: () => this.untilAnswered(async () => (await this.claims.leases?.release(lease)) === true, ttlMs),
    };
    this.pass.fencingToken = token;
    this.overlap = new LeaseHold(kept, sentAt, { ...this.services, ttlMs }, (loss) => this.lost('overlap', loss));
  }

  /** Keeps the claim from being taken over, which a request sent at `sentAt` was granted. */
  keepRecovery(sentAt: SentAt): void {
    const { namespace, leaseTtlMs: ttlMs } = this.services;
    const { entryKey, scheduledAt } = this.pass.fire;
    const claim = { namespace, entryKey, scheduledAt, claimId: this.owner };
    const kept = {
      renew: async () => (await this.claims.recovery?.renew(claim, ttlMs)) === true,
      giveBack: (end: HoldsEnd) =>
        // However long it takes: a fire that has ended and is not marked done is run again.
        this.untilAnswered(async () => {
          const { recovery } = this.claims;
          return (await (end === 'done' ? recovery?.finish(claim) : recovery?.release(claim))) === true;
        }, Number.POSITIVE_INFINITY),
    };
    this.pass.fencingToken ??= this.pass.attempt;
    this.recovery = new LeaseHold<HoldsEnd>(kept, sentAt, { ...this.services, ttlMs, trustEnds: false }, (loss) =>
      this.lost('recovery', loss),
    );
  }

  /** Whether all is held still, for a grant whose request may have waited long for its store. */
  async confirm(): Promise<Outcome | undefined> {
    try {
      await Promise.all([this.overlap?.confirm(), this.recovery?.confirm()]);
    } catch (error) {
      return { kind: 'skipped', reason: 'claim-error', error };
    }
    return this.loss();
  }

  /** How the pass ends that lost a lease before its method was called, if it did: another replica has the fire, or another run may have begun. */
  loss(): Outcome | undefined {
    this.overlap?.check();
    if (this.recovery?.lost !== undefined) return { kind: 'skipped', reason: 'already-claimed', superseded: false };
    if (this.overlap?.lost !== undefined) return { kind: 'rejected', reason: 'overlap' };
    return undefined;
  }

  /** Gives back what is held; resolves when the store has answered, or there is no time left to ask it. Never rejects. */
  async end(end: HoldsEnd): Promise<void> {
    await Promise.all([this.overlap?.release(), this.recovery?.release(end)]);
  }

  /** Leaves all to lapse: the method still runs, and nobody waits for it any more. */
  abandon(): void {
    this.overlap?.abandon();
    this.recovery?.abandon();
  }

  /** The fire has ended, and is run by nobody again; its method still runs, and keeps others away until the guard lapses. Never rejects. */
  async endBehindMethod(): Promise<void> {
    this.overlap?.abandon();
    await this.recovery?.release('done');
  }

  private lost(lease: 'overlap' | 'recovery', reason: LeaseLoss): void {
    const { fire, running } = this.pass;
    if (running === undefined) return;
    const { clock, instanceId } = this.services;
    this.services.emit({ type: 'fire.lease-lost', atMs: clock.now(), instanceId, fire, lease, reason });
    running.context.abort(new FireLeaseLostError(fire.entryKey, fire.fireKey, lease, reason));
  }

  private async untilAnswered(ask: () => Promise<boolean>, limitMs: number): Promise<boolean> {
    const { clock, alarms, outOfTime } = this.services;
    const endsAtMs = clock.monotonic() + limitMs;
    for (;;) {
      try {
        return await ask();
      } catch (error) {
        if (outOfTime() || clock.monotonic() + GIVE_BACK_AGAIN_MS >= endsAtMs) throw error;
        await new Promise<void>((resume) => void alarms.set(GIVE_BACK_AGAIN_MS, resume));
      }
    }
  }
}
