import type { Clock } from '../ambient/clock.js';
import type { GuardedLeases } from '../coordination/guarded-leases.js';
import type { HeldLease, JsonValue } from '../coordination/lease-store.js';
import type { Alarms } from '../fire/fire-services.js';

/** `lapsed`: no renewal was confirmed in time. `taken`: the store says the lease is no longer ours. */
export type LeaseLoss = 'lapsed' | 'taken';

export interface LeaseHoldParts {
  readonly leases: Pick<GuardedLeases, 'renew' | 'release'>;
  readonly clock: Clock;
  readonly alarms: Alarms;
  readonly ttlMs: number;
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
export class LeaseHold {
  private alarm: object | undefined;
  private renewAtMs: number;
  private renewing = false;
  private over = false;
  private loss: LeaseLoss | undefined;

  constructor(
    private readonly lease: HeldLease,
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

  /** Looks at the clocks, and tells if the time of trust has passed. */
  check(): void {
    if (!this.over && !this.trusted()) this.lose('lapsed');
  }

  /** Gives the lease back, with a new value where one is given. `false`: it was lost before, or the store did not answer; then it lapses by itself. */
  async release(value?: JsonValue): Promise<boolean> {
    this.check();
    if (this.over) return false;
    this.end();
    try {
      return await this.parts.leases.release(this.lease, value === undefined ? {} : { value });
    } catch {
      return false;
    }
  }

  /** Leaves it to lapse: what it stood for has not ended, but nobody is left to renew it. */
  abandon(): void {
    this.end();
  }

  private trusted(): boolean {
    const { clock, ttlMs } = this.parts;
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
    const { clock, leases, ttlMs } = this.parts;
    const sentAt = sentNow(clock);
    this.renewing = true;
    try {
      const held = await leases.renew(this.lease, { ttlMs });
      if (this.over) return;
      if (!held) {
        this.lose('taken');
        return;
      }
      this.sentAt = sentAt;
      this.renewAtMs = sentAt.monotonicMs + ttlMs / 3;
    } catch {
      this.renewAtMs = clock.monotonic() + RETRY_MS;
    } finally {
      this.renewing = false;
    }
    this.check();
    this.arm();
  }

  private arm(): void {
    if (this.alarm !== undefined) this.parts.alarms.cancel(this.alarm);
    this.alarm = undefined;
    if (this.over) return;
    const { clock, alarms, ttlMs } = this.parts;
    const trustEndsAtMs = this.sentAt.monotonicMs + ttlMs * TRUSTED_PART;
    const wakeAtMs = this.renewing ? trustEndsAtMs : Math.min(trustEndsAtMs, this.renewAtMs);
    this.alarm = alarms.set(Math.max(0, wakeAtMs - clock.monotonic()), () => this.wake());
  }

  private lose(loss: LeaseLoss): void {
    this.loss = loss;
    this.end();
    this.onLost(loss);
  }

  private end(): void {
    this.over = true;
    if (this.alarm !== undefined) this.parts.alarms.cancel(this.alarm);
    this.alarm = undefined;
  }
}
