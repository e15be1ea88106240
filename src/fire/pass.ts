import type { GuardedBackend } from '../coordination/guarded-backend.js';
import type { EntryPolicies } from '../domain/entry.js';
import type { Fire } from '../domain/fire.js';
import type { RejectReason, SkipReason } from '../domain/skip-reason.js';
import type { FireContext, RunContext } from './fire-context.js';
import type { EntryTally } from './fire-tally.js';
import type { FireHolds } from './fire-holds.js';
import type { HistoryGate } from './history-gate.js';

/** Whom an entry's fires ask: for their claims, and for the leases that their runs hold where the store has them. */
export type EntryClaims = Pick<GuardedBackend, 'claim'> & Partial<Pick<GuardedBackend, 'leases' | 'recovery'>>;

/** What the pipeline sees of an entry. The engine owns it; a pass changes its slots alone. */
export interface FireEntry {
  readonly key: string;
  readonly policies: EntryPolicies;
  readonly run: (context: FireContext) => unknown;
  /** Whom its fires ask for their claims; absent: every replica runs them. */
  readonly claims?: EntryClaims | undefined;
  /** Fingerprint of the schedule. */
  readonly scheduleFingerprint: string;
  /** Raised by every update and by removal: a pass that carries an older one is stale. */
  readonly generation: number;
  readonly removed: boolean;
  readonly paused: boolean;
  /** As the store last said: paused over the fleet. A pass writes it. */
  pausedOverFleet: boolean;
  /** The instant that is armed now, later than any fire under way, or `null`. */
  readonly nextAtMs: number | null;
  /** Passes that were not refused and have not ended: each holds one slot. */
  slots: number;
  /** Set while it is not known what was missed: its scheduled fires wait for that. */
  readonly history?: HistoryGate | undefined;
  /** Made when something is to be counted. */
  tally?: EntryTally | undefined;
}

/** How a pass ended. Exactly one per fire and replica. */
export type Outcome =
  | { readonly kind: 'rejected'; readonly reason: RejectReason }
  | { readonly kind: 'canceled'; readonly reason: 'draining' | 'removed' | 'updated' }
  | { readonly kind: 'skipped'; readonly reason: typeof SkipReason.NotLeader }
  | { readonly kind: 'skipped'; readonly reason: typeof SkipReason.AlreadyClaimed; readonly superseded: boolean }
  | {
      readonly kind: 'skipped';
      readonly reason: typeof SkipReason.ElectionError | typeof SkipReason.ClaimError;
      readonly error: unknown;
    }
  | { readonly kind: 'completed'; readonly value: unknown; readonly durationMs: number }
  | { readonly kind: 'failed'; readonly error: unknown; readonly durationMs: number };

/** One trip of one fire through the pipeline of one replica. */
export class Pass {
  holdsSlot = false;
  /** What its method is told: 1, and more where the fire is run again. */
  attempt = 1;
  /** Of the lease that its run holds; `null`: none. */
  fencingToken: number | null = null;
  /** The method was called, its time ran out, and it has not returned: it keeps its slot. */
  overdue = false;
  /** Its outcome was told. */
  ended = false;
  /** Nobody waits for its method to return. */
  abandoned = false;
  /** Set while the pass waits for an earlier one's end, for its jitter, or between two attempts: ends the wait at once. */
  cutWait: (() => void) | undefined;
  /** Called when an overdue method returns after all. */
  onReturnedLate: ((durationMs: number) => void) | undefined;
  /** Set while it waits for its place with its claim in hand, which no drain cuts: the drain deadline has passed. */
  onDeadline: (() => void) | undefined;
  private patientUntilMs: number | undefined;
  /** Whom it asked for its claim: what it holds lies there, whatever its entry was given since. */
  asked: EntryClaims | undefined;
  /** Its claim id, once it asked or holds something. */
  claimId: string | undefined;
  /** The leases that its run holds, once it has one. */
  holds: FireHolds | undefined;
  /** A drain aborted its method at the deadline, or took it the attempts it had left. */
  interrupted = false;
  /** Set while the method runs, and between two attempts, where it is about the one to come. */
  running: { readonly context: RunContext; readonly giveUp: (error: Error) => void } | undefined;

  constructor(
    readonly fire: Fire,
    readonly entry: FireEntry,
    /** The entry's when the fire was planned. */
    readonly generation: number,
    /** Told once how the pass ended, by a caller that waits for it. */
    readonly onEnd?: (outcome: Outcome) => void,
  ) {}

  /** Its method runs now: it was called and has not returned. One that pauses before it is called again does not. */
  get methodRuns(): boolean {
    return this.running !== undefined && this.cutWait === undefined;
  }

  /**
   * Wall clock: up to here the pass waits for its store, counted from when it first had to: `claimPatience`, and never past the entry's next instant. To be asked when the turn is over; then that instant is
   * armed.
   */
  waitsUntilMs(nowMs: number, claimPatienceMs: number): number {
    this.patientUntilMs ??= Math.min(nowMs + claimPatienceMs, this.entry.nextAtMs ?? Number.POSITIVE_INFINITY);
    return this.patientUntilMs;
  }

  /** Why the entry no longer wants this pass, if it does not. */
  staleness(): 'removed' | 'updated' | undefined {
    // A look for fires of dead replicas may bring one for an entry that is gone, and is then not older than its removal.
    if (this.entry.removed) return 'removed';
    return this.entry.generation === this.generation ? undefined : 'updated';
  }
}
