import type { Clock } from '../ambient/clock.js';
import type { Alarms } from './fire-services.js';

/** `lapsed`: no renewal was confirmed in time. `taken`: the store says the lease is no longer ours. */
export type LeaseLoss = 'lapsed' | 'taken';

/** A lease as its holder asks the store about it. Both reject if the store does not answer. */
export interface KeptLease<End> {
  /** `false`: it is no longer ours. */
  renew(): Promise<boolean>;
  /** `false`: it was no longer ours. */
  giveBack(end: End): Promise<boolean>;
}

export interface LeaseHoldParts {
  readonly clock: Clock;
  readonly alarms: Alarms;
  readonly ttlMs: number;
  /** Default: belief in the lease ends a fifth before the store's expiry can come. `false`: only the store's word ends it, since a lease that has lapsed can still be renewed while nobody took it. */
  readonly trustEnds?: boolean;
}

/** The part of the lease during which its holder believes in it: it stops a fifth before the store's expiry can come. */
const TRUSTED_PART = 0.8;
/** Pause after a renewal that brought no answer. */
const RETRY_MS = 500;

/** When a request was sent: what it grants is believed from here on, not from the answer. */
export interface SentAt {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

export function sentNow(clock: Clock): SentAt {
  return { monotonicMs: clock.monotonic(), wallMs: clock.now() };
}

/**
 * A lease that is held while something runs: renewed at a third of its life, believed for four fifths of it from the moment the request was sent, by the monotonic or
 * the wall clock, whichever ran further. A renewal that fails extends nothing. Loss is told once.
 */
export class LeaseHold<End = void> {
  private alarm: object | undefined;
  private renewAtMs: number;
  private renewing = false;
  private over = false;
  private loss: LeaseLoss | undefined;

  constructor(
    private readonly lease: KeptLease<End>,
    private sentAt: SentAt,
    private readonly parts: LeaseHoldParts,
    private readonly onLost: (loss: LeaseLoss) => void,
  ) {
    this.renewAtMs = sentAt.monotonicMs + parts.ttlMs / 3;
    this.arm();
  }

  /** Why the lease is no longer held, if it was lost. */
  get lost(): LeaseLoss | undefined {
    return this.loss;
  }

  /** Renews at once if a renewal is due, as after a grant that took long to come. Rejects if the store does not answer. */
  async confirm(): Promise<void> {
    if (this.over || this.parts.clock.monotonic() < this.renewAtMs) return;
    // No alarm meanwhile: belief may have ended by the clock, and this answer is to begin it anew.
    this.disarm();
    await this.askToRenew();
    this.arm();
  }

  /** Looks at the clocks, and tells if the time of trust has passed. */
  check(): void {
    if (!this.over && !this.trusted()) this.lose('lapsed');
  }

  /** Gives the lease back. `false`: it was lost before, or the store did not answer; then it lapses by itself. */
  async release(end: End): Promise<boolean> {
    this.check();
    if (this.over) return false;
    this.end();
    try {
      return await this.lease.giveBack(end);
    } catch {
      return false;
    }
  }

  /** Leaves it to lapse: what it stood for has not ended, but nobody is left to renew it. */
  abandon(): void {
    this.end();
  }

  private trusted(): boolean {
    const { clock, ttlMs, trustEnds } = this.parts;
    if (trustEnds === false) return true;
    const trustedMs = ttlMs * TRUSTED_PART;
    return clock.monotonic() < this.sentAt.monotonicMs + trustedMs && clock.now() < this.sentAt.wallMs + trustedMs;
  }

  private wake(): void {
    this.alarm = undefined;
    this.check();
    if (this.over) return;
    if (!this.renewing && this.parts.clock.monotonic() >= this.renewAtMs) void this.renew();
    this.arm();
  }

  private async renew(): Promise<void> {
    this.renewing = true;
    try {
      await this.askToRenew();
    } catch {
      this.renewAtMs = this.parts.clock.monotonic() + RETRY_MS;
    } finally {
      this.renewing = false;
    }
    this.check();
    this.arm();
  }

  private async askToRenew(): Promise<void> {
    const sentAt = sentNow(this.parts.clock);
    const held = await this.lease.renew();
    if (this.over) return;
    if (!held) {
      this.lose('taken');
      return;
    }
    this.sentAt = sentAt;
    this.renewAtMs = sentAt.monotonicMs + this.parts.ttlMs / 3;
  }

  private arm(): void {
    this.disarm();
    if (this.over) return;
    const { clock, alarms, ttlMs, trustEnds } = this.parts;
    const trustEndsAtMs =
      trustEnds === false ? Number.POSITIVE_INFINITY : this.sentAt.monotonicMs + ttlMs * TRUSTED_PART;
    const wakeAtMs = this.renewing ? trustEndsAtMs : Math.min(trustEndsAtMs, this.renewAtMs);
    // Nothing to wake for: the renewal on its way has a time limit of its own, and arms again.
    if (wakeAtMs === Number.POSITIVE_INFINITY) return;
    this.alarm = alarms.set(Math.max(0, wakeAtMs - clock.monotonic()), () => this.wake());
  }

  private lose(loss: LeaseLoss): void {
    this.loss = loss;
    this.end();
    this.onLost(loss);
  }

  private end(): void {
    this.over = true;
    this.disarm();
  }

  private disarm(): void {
    if (this.alarm !== undefined) this.parts.alarms.cancel(this.alarm);
    this.alarm = undefined;
  }
}
