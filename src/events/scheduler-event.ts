import type { EventBase } from './event-base.js';

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

/** The store refused a fire because this replica's clock is ahead of its own. At most once a minute. */
export interface ClockSkewedEvent extends EventBase {
  readonly type: 'clock.skewed';
  /** The store's clock less this replica's, in milliseconds: negative where the replica is ahead. Right to the time of a call. */
  readonly offsetMs: number;
}
