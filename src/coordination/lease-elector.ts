import type { Clock, TimerHandle } from '../ambient/clock.js';
import type { Random } from '../ambient/random.js';
import type { CoordinationError } from './coordination-error.js';
import type { Elector } from './elector.js';
import type { GuardedLeases } from './guarded-leases.js';

export interface LeaseElectorSettings {
  readonly namespace: string;
  /** Identity of the candidate: the instance id, so that two schedulers of one process are two candidates. */
  readonly instanceId: string;
  /** Life of the lease in the store. Longer than the event loop of any replica is ever blocked. */
  readonly leaseTtlMs: number;
}

/** `lapsed`: the trust ended before an answer came. `taken`: the store says that the hold is no longer ours. `resigned`: given back by a drain. */
export type LeadershipLoss = 'lapsed' | 'taken' | 'resigned';

export interface LeadershipListener {
  gained(token: number): void;
  lost(token: number, reason: LeadershipLoss): void;
}

/** The lease that the candidates of a namespace compete for. */
export const LEADER_LEASE = 'leader';

/** The part of the lease during which its holder believes in it: it stops a fifth before the store's expiry can come. */
const TRUSTED_PART = 0.8;
/** A follower asks this often at least, so that a leader that resigned is followed at once. */
const LONGEST_FOLLOWER_WAIT_MS = 1_000;
/** A candidate without an answer asks again after this at the earliest. */
const SHORTEST_RETRY_MS = 100;

/** A term of leadership, and until when it may be believed. Both clocks count from the moment the request was sent. */
interface Term {
  readonly token: number;
  readonly trustedUntilMonotonicMs: number;
  readonly trustedUntilWallMs: number;
}

type Standing =
  | { readonly kind: 'leading'; readonly term: Term }
  | { readonly kind: 'following' }
  /** The last attempt brought no answer. */
  | { readonly kind: 'unknown'; readonly error: CoordinationError }
  | { readonly kind: 'undecided' }
  | { readonly kind: 'resigned' };

/**
 * Leadership as a lease with an identity, on the leases of any backend. The lease is renewed in the background at a third of its life; `isLeader` answers from
 * memory. A term is believed for four fifths of the lease from the moment the request was sent, by the monotonic or the wall clock, whichever ran
 * further: local time may only make a leader stop earlier, and an answer that was long under way extends nothing. A failed renewal never extends a term.
 */
export class LeaseElector implements Elector {
  private standing: Standing = { kind: 'undecided' };
  private attempt: Promise<void> | undefined;
  private timer: TimerHandle | undefined;
  private lapseTimer: TimerHandle | undefined;
  private lastAttemptFailed = false;
  private readonly gainedListeners: (() => void)[] = [];

  constructor(
    private readonly leases: Pick<GuardedLeases, 'acquire' | 'renew' | 'release'>,
    private readonly settings: LeaseElectorSettings,
    private readonly ambient: { readonly clock: Clock; readonly random: Random },
    private readonly listener: LeadershipListener,
  ) {}

  /** This replica leads now, as far as it may believe. */
  get leads(): boolean {
    return this.trusts();
  }

  /** `listener` is called at the beginning of each term, once it was told. It may not throw. */
  onGained(listener: () => void): void {
    this.gainedListeners.push(listener);
  }

  /** Begins to compete. */
  start(): void {
    if (this.standing.kind === 'undecided') void this.compete();
  }

  /** Rejects with `CoordinationError` while it is not known who leads: then this replica must not act as leader. */
  async isLeader(): Promise<boolean> {
    if (this.trusts()) return true;
    const { kind } = this.standing;
    if (kind === 'following' || kind === 'resigned') return false;
    // Not known, or a term that is no longer believed: the store is asked before anybody is told.
    await this.compete();
    return this.answer();
  }

  /** Gives the lease back, if it is held, and competes no more. Never rejects. */
  async resign(): Promise<void> {
    if (this.standing.kind === 'resigned') return;
    const held = this.standing.kind === 'leading' ? this.standing.term : undefined;
    this.standing = { kind: 'resigned' };
    this.clearTimers();
    if (held !== undefined) this.listener.lost(held.token, 'resigned');
    // An attempt under way may be granted after this: it sees that the candidate has resigned, and gives the lease back.
    await this.attempt;
    if (held !== undefined) await this.giveBack(held.token);
  }

  private trusts(): boolean {
    if (this.standing.kind !== 'leading') return false;
    const { clock } = this.ambient;
    const { trustedUntilMonotonicMs, trustedUntilWallMs } = this.standing.term;
    return clock.monotonic() < trustedUntilMonotonicMs && clock.now() < trustedUntilWallMs;
  }

  private answer(): boolean {
    if (this.standing.kind === 'unknown') throw this.standing.error;
    return this.trusts();
  }

  /** One attempt at a time; whoever needs its outcome shares it. */
  private compete(): Promise<void> {
    this.attempt ??= this.attemptOnce().finally(() => {
      this.attempt = undefined;
      this.armNext();
    });
    return this.attempt;
  }

  private async attemptOnce(): Promise<void> {
    if (this.standing.kind === 'resigned') return;
    const { clock } = this.ambient;
    const sentMonotonicMs = clock.monotonic();
    const sentWallMs = clock.now();
    const before = this.standing;
    try {
      const token = before.kind === 'leading' ? await this.renew(before.term.token) : await this.acquire();
      this.lastAttemptFailed = false;
      this.decide(before, token, sentMonotonicMs, sentWallMs);
      // The hold was lost: whether it can be had again is asked at once, since nobody else may have taken it.
      if (before.kind === 'leading' && token === undefined && this.standing.kind === 'following')
        await this.attemptOnce();
    } catch (cause) {
      this.lastAttemptFailed = true;
      // A term that is still believed outlives a failed renewal; it does not grow by one.
      if (this.trusts() || this.isResigned()) return;
      this.leave('lapsed');
      this.standing = { kind: 'unknown', error: cause as CoordinationError };
    }
  }

  private async acquire(): Promise<number | undefined> {
    const { namespace, instanceId: owner, leaseTtlMs: ttlMs } = this.settings;
    const grant = await this.leases.acquire({ namespace, name: LEADER_LEASE, owner, ttlMs });
    return grant?.token;
  }

  private async renew(token: number): Promise<number | undefined> {
    const renewed = await this.leases.renew(this.held(token), { ttlMs: this.settings.leaseTtlMs });
    return renewed ? token : undefined;
  }

  private decide(before: Standing, token: number | undefined, sentMonotonicMs: number, sentWallMs: number): void {
    if (this.isResigned()) {
      if (token !== undefined && before.kind !== 'leading') void this.giveBack(token);
      return;
    }
    if (token === undefined) {
      this.leave('taken');
      this.standing = { kind: 'following' };
      return;
    }
    const trustedMs = this.settings.leaseTtlMs * TRUSTED_PART;
    const term = {
      token,
      trustedUntilMonotonicMs: sentMonotonicMs + trustedMs,
      trustedUntilWallMs: sentWallMs + trustedMs,
    };
    const gained = this.standing.kind !== 'leading' || this.standing.term.token !== token;
    this.standing = { kind: 'leading', term };
    this.watchLapse();
    if (!gained) return;
    this.listener.gained(token);
    for (const listener of this.gainedListeners) listener();
  }

  /** A term that nobody renewed in time is over the moment it may no longer be believed, not when somebody asks. */
  private watchLapse(): void {
    if (this.lapseTimer !== undefined) this.ambient.clock.clearTimer(this.lapseTimer);
    if (this.standing.kind !== 'leading') return;
    const { clock } = this.ambient;
    const waitMs = Math.max(1, Math.ceil(this.standing.term.trustedUntilMonotonicMs - clock.monotonic()));
    this.lapseTimer = clock.setTimer(() => {
      this.lapseTimer = undefined;
      if (this.standing.kind !== 'leading' || this.trusts()) return;
      this.leave('lapsed');
      this.standing = { kind: 'undecided' };
      void this.compete();
    }, waitMs);
  }

  /** Tells that a term is over, where there was one. The caller says what comes after it. */
  private leave(reason: LeadershipLoss): void {
    if (this.standing.kind !== 'leading') return;
    const { token } = this.standing.term;
    this.standing = { kind: 'undecided' };
    this.listener.lost(token, reason);
  }

  private armNext(): void {
    if (this.isResigned()) return;
    const { clock } = this.ambient;
    if (this.timer !== undefined) clock.clearTimer(this.timer);
    this.timer = clock.setTimer(() => {
      this.timer = undefined;
      void this.compete();
    }, this.waitMs());
  }

  private waitMs(): number {
    const third = this.settings.leaseTtlMs / 3;
    if (this.standing.kind === 'leading' && !this.lastAttemptFailed) return Math.ceil(third);
    const longest = Math.min(third, LONGEST_FOLLOWER_WAIT_MS);
    // Spread, so that the followers of a dead leader do not ask all at once.
    return Math.ceil(Math.max(SHORTEST_RETRY_MS, longest * (0.5 + this.ambient.random.fraction() / 2)));
  }

  private async giveBack(token: number): Promise<void> {
    try {
      await this.leases.release(this.held(token));
    } catch {
      // It lapses by itself; a store that is down must not keep the application from closing.
    }
  }

  private held(token: number) {
    const { namespace, instanceId: owner } = this.settings;
    return { namespace, name: LEADER_LEASE, owner, token };
  }

  private isResigned(): boolean {
    return this.standing.kind === 'resigned';
  }

  private clearTimers(): void {
    const { clock } = this.ambient;
    for (const timer of [this.timer, this.lapseTimer]) if (timer !== undefined) clock.clearTimer(timer);
    this.timer = undefined;
    this.lapseTimer = undefined;
  }
}
