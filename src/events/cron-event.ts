import type { Fire } from '../domain/fire.js';
import type { MissedPolicy } from '../domain/policies.js';
import type { RejectReason, SkipReason } from '../domain/skip-reason.js';

interface EventBase {
  /** Wall clock of the replica, milliseconds since the epoch. */
  readonly atMs: number;
  readonly instanceId: string;
}

export interface SchedulerStartedEvent extends EventBase {
  readonly type: 'scheduler.started';
  readonly entries: number;
}

/** No further claim is asked from here on. */
export interface SchedulerDrainingEvent extends EventBase {
  readonly type: 'scheduler.draining';
  /** Methods that run now. */
  readonly running: number;
}

export interface SchedulerStoppedEvent extends EventBase {
  readonly type: 'scheduler.stopped';
  /** Methods that had not ended by the deadline; their signals were aborted. */
  readonly aborted: number;
}

/** This replica leads from here on. */
export interface LeadershipGainedEvent extends EventBase {
  readonly type: 'leadership.gained';
  /** Grows with every term of the fleet. */
  readonly fencingToken: number;
}

/** This replica leads no more. */
export interface LeadershipLostEvent extends EventBase {
  readonly type: 'leadership.lost';
  readonly fencingToken: number;
  /** `lapsed`: no renewal was confirmed in time. `taken`: the store says the lease is no longer ours. `resigned`: given back by a drain. */
  readonly reason: 'lapsed' | 'taken' | 'resigned';
}

/** This replica sees other members than before. Told only where something needs to know them. */
export interface MembershipChangedEvent extends EventBase {
  readonly type: 'membership.changed';
  /** Names, sorted, each once. */
  readonly members: readonly string[];
}

/** The members could not be asked for; the last list stays. Once per outage. */
export interface MembershipUnreachableEvent extends EventBase {
  readonly type: 'membership.unreachable';
  readonly error: unknown;
  /** There is no list yet, so this replica is home to nothing. */
  readonly neverSeen: boolean;
}

/** The list does not name this replica, which therefore is home to nothing. Once, until a list names it again. */
export interface MembershipUnlistedEvent extends EventBase {
  readonly type: 'membership.unlisted';
  readonly memberName: string;
  readonly members: readonly string[];
}

/** The entry's next instant was computed: at its start, after a fire, an update, a resume, or a step of the clock. */
export interface EntryScheduledEvent extends EventBase {
  readonly type: 'entry.scheduled';
  readonly entryKey: string;
  /** `null`: the schedule has no further instant. */
  readonly nextAt: Date | null;
}

/** The schedule threw, did not advance, or answered no instant: this entry alone no longer fires, until it is updated. */
export interface EntryFailedEvent extends EventBase {
  readonly type: 'entry.failed';
  readonly entryKey: string;
  readonly error: unknown;
}

export interface EntryRemovedEvent extends EventBase {
  readonly type: 'entry.removed';
  readonly entryKey: string;
}

export interface EntryPausedEvent extends EventBase {
  readonly type: 'entry.paused';
  readonly entryKey: string;
  /** On this replica, or over the fleet: then this replica asked for it. */
  readonly scope: 'replica' | 'fleet';
}

export interface EntryResumedEvent extends EventBase {
  readonly type: 'entry.resumed';
  readonly entryKey: string;
  /** As for `entry.paused`. */
  readonly scope: 'replica' | 'fleet';
}
/**
 * It could not be found out when entries last ran. Without `entryKey`: the fleet's last fires could not be read, so nothing is caught up yet; they are read again, with backoff; once per outage. With it: the
 * `lastRun` of this entry failed, and nothing of it is caught up.
 */
export interface HistoryUnreachableEvent extends EventBase {
  readonly type: 'history.unreachable';
  readonly entryKey?: string;
  readonly error: unknown;
}
/** Lapsed fires could not be looked for; they are looked for again. Once per outage. */
export interface RecoveryUnreachableEvent extends EventBase {
  readonly type: 'recovery.unreachable';
  readonly error: unknown;
}

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

interface TaskEventBase extends EventBase {
  readonly taskKey: string;
  readonly kind: 'singleton' | 'parallel';
}

interface TaskRunEventBase extends TaskEventBase {
  /** 1, and one more for each failure in a row before. */
  readonly attempt: number;
  /** `null`: the run is under no lease. */
  readonly fencingToken: number | null;
}

export interface TaskStartedEvent extends TaskRunEventBase {
  readonly type: 'task.started';
}

export interface TaskCompletedEvent extends TaskRunEventBase {
  readonly type: 'task.completed';
  readonly durationMs: number;
  /** What its method asked for. */
  readonly nextInMs: number;
}

/** The method threw, returned no delay, or lost its lease while it ran. The task goes on. */
export interface TaskFailedEvent extends TaskRunEventBase {
  readonly type: 'task.failed';
  readonly durationMs: number;
  readonly error: unknown;
  /** The backoff; `null` after a lost lease, where the record in the store says. */
  readonly nextInMs: number | null;
}

/** The lease was lost while the method runs: its signal was aborted. `task.failed` follows when it has ended. */
export interface TaskLeaseLostEvent extends TaskEventBase {
  readonly type: 'task.lease-lost';
  readonly fencingToken: number;
  /** `lapsed`: no renewal was confirmed in time. `taken`: the store says the lease is no longer ours. */
  readonly reason: 'lapsed' | 'taken';
}

/** The store did not say whether the task may run here; it is asked again, with backoff. Once per outage and task. */
export interface TaskBlockedEvent extends TaskEventBase {
  readonly type: 'task.blocked';
  readonly error: unknown;
}

/** As this replica sees the members, another one than before is home to the singleton task. */
export interface TaskHomeChangedEvent extends TaskEventBase {
  readonly type: 'task.home-changed';
  /** `null`: no member is. */
  readonly home: string | null;
  /** This replica is. */
  readonly here: boolean;
}

/** The store refused a fire because this replica's clock is ahead of its own. At most once a minute. */
export interface ClockSkewedEvent extends EventBase {
  readonly type: 'clock.skewed';
  /** The store's clock less this replica's, in milliseconds: negative where the replica is ahead. Right to the time of a call. */
  readonly offsetMs: number;
}

export type CronEvent =
  | SchedulerStartedEvent
  | SchedulerDrainingEvent
  | SchedulerStoppedEvent
  | LeadershipGainedEvent
  | LeadershipLostEvent
  | MembershipChangedEvent
  | MembershipUnreachableEvent
  | MembershipUnlistedEvent
  | EntryScheduledEvent
  | EntryFailedEvent
  | EntryRemovedEvent
  | EntryPausedEvent
  | EntryResumedEvent
  | HistoryUnreachableEvent
  | RecoveryUnreachableEvent
  | FireMissedEvent
  | FireRejectedEvent
  | FireCanceledEvent
  | FireSkippedEvent
  | FireStartedEvent
  | FireCompletedEvent
  | FireFailedEvent
  | FireReturnedLateEvent
  | FireRetryingEvent
  | FireLeaseLostEvent
  | FireAbandonedEvent
  | TaskStartedEvent
  | TaskCompletedEvent
  | TaskFailedEvent
  | TaskLeaseLostEvent
  | TaskBlockedEvent
  | TaskHomeChangedEvent
  | ClockSkewedEvent;

export type CronEventType = CronEvent['type'];

/** From an event's type to its interface. */
export type CronEventOf<T extends CronEventType> = Extract<CronEvent, { readonly type: T }>;
