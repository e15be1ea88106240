import type { Fire } from '../domain/fire.js';
import type { MissedPolicy } from '../domain/policies.js';
import type { RejectReason, SkipReason } from '../domain/skip-reason.js';
import type { EventBase } from './event-base.js';

/** Instants of one entry that do not run: due together with a later one, or reached later than `missedTolerance`. One event per plan. */
export interface FireMissedEvent extends EventBase {
  readonly type: 'fire.missed';
  readonly entryKey: string;
  readonly policy: MissedPolicy;
  readonly first: Date;
  readonly last: Date;
  readonly count: number;
  /** The count is a lower bound: more instants were missed than are counted one by one. */
  readonly atLeast: boolean;
  /** How late the last of them was reached. */
  readonly latenessMs: number;
  /** What found them: the loop, which reached them late; the start, by what the store or the application remembers; a resume that catches up; leadership that was gained after a gap. */
  readonly foundBy: 'loop' | 'start' | 'resume' | 'leadership';
}

interface FireEventBase extends EventBase {
  readonly fire: Fire;
}

/** The entry's own rules suppressed the fire on this replica. */
export interface FireRejectedEvent extends FireEventBase {
  readonly type: 'fire.rejected';
  readonly reason: RejectReason;
}

/** The scheduler drained, or the entry was removed or updated, before the fire asked its claim. */
export interface FireCanceledEvent extends FireEventBase {
  readonly type: 'fire.canceled';
  readonly reason: 'draining' | 'removed' | 'updated';
}

interface FireSkippedBase extends FireEventBase {
  readonly type: 'fire.skipped';
}

export interface FireSkippedByLeadershipEvent extends FireSkippedBase {
  readonly reason: typeof SkipReason.NotLeader;
}

export interface FireSkippedByClaimEvent extends FireSkippedBase {
  readonly reason: typeof SkipReason.AlreadyClaimed;
  /** Nobody has this fire: later instants of its entry were claimed so long ago that the store keeps no claims that old. */
  readonly superseded: boolean;
}

export interface FireSkippedByErrorEvent extends FireSkippedBase {
  readonly reason: typeof SkipReason.ElectionError | typeof SkipReason.ClaimError;
  readonly error: unknown;
}

/** Coordination suppressed the fire on this replica. */
export type FireSkippedEvent = FireSkippedByLeadershipEvent | FireSkippedByClaimEvent | FireSkippedByErrorEvent;

export interface FireStartedEvent extends FireEventBase {
  readonly type: 'fire.started';
  /** From the scheduled instant to the start, jitter and claim included. */
  readonly latenessMs: number;
}

export interface FireCompletedEvent extends FireEventBase {
  readonly type: 'fire.completed';
  /** From the first call of the method to the end of the last, pauses between retries included. */
  readonly durationMs: number;
}

/** The method threw, rejected, or ran longer than its `timeout`, and is not called again. */
export interface FireFailedEvent extends FireEventBase {
  readonly type: 'fire.failed';
  /** As for `fire.completed`; 0 where the method was not called. */
  readonly durationMs: number;
  readonly error: unknown;
}

/** A method whose fire had failed by its timeout or the drain deadline has ended now; until here its slot stayed held. */
export interface FireReturnedLateEvent extends FireEventBase {
  readonly type: 'fire.returned-late';
  readonly durationMs: number;
}

/** The method threw, and is to be called again within the same fire. A drain, or a change of its entry, ends the pause: then the fire fails with this error. */
export interface FireRetryingEvent extends FireEventBase {
  readonly type: 'fire.retrying';
  /** The attempt that failed. */
  readonly attempt: number;
  readonly error: unknown;
  readonly nextInMs: number;
}

/** A lease of the fire was lost while its method runs: the method's signal was aborted. The fire ends when the method does. */
export interface FireLeaseLostEvent extends FireEventBase {
  readonly type: 'fire.lease-lost';
  /** The guard against overlap over the fleet, or the claim of a fire with `recovery: 'rerun'`, which another replica may now run again. */
  readonly lease: 'overlap' | 'recovery';
  /** `lapsed`: no renewal was confirmed in time. `taken`: the store says the lease is no longer ours. */
  readonly reason: 'lapsed' | 'taken';
}

/** A fire with `recovery: 'rerun'` whose replicas all died has had its `recoveryAttempts`: nobody runs it again. Told by the replica that found it. */
export interface FireAbandonedEvent extends FireEventBase {
  readonly type: 'fire.abandoned';
  /** Attempts that were made. */
  readonly attempts: number;
}
