import type {
  EntryFailedEvent,
  EntryPausedEvent,
  EntryRemovedEvent,
  EntryResumedEvent,
  EntryScheduledEvent,
} from './entry-event.js';
import type {
  FireAbandonedEvent,
  FireCanceledEvent,
  FireCompletedEvent,
  FireFailedEvent,
  FireLeaseLostEvent,
  FireMissedEvent,
  FireRejectedEvent,
  FireRetryingEvent,
  FireReturnedLateEvent,
  FireSkippedEvent,
  FireStartedEvent,
} from './fire-event.js';
import type {
  ClockSkewedEvent,
  HistoryUnreachableEvent,
  LeadershipGainedEvent,
  LeadershipLostEvent,
  MembershipChangedEvent,
  MembershipUnlistedEvent,
  MembershipUnreachableEvent,
  RecoveryUnreachableEvent,
  SchedulerDrainingEvent,
  SchedulerStartedEvent,
  SchedulerStoppedEvent,
} from './scheduler-event.js';
import type {
  TaskBlockedEvent,
  TaskCompletedEvent,
  TaskFailedEvent,
  TaskHomeChangedEvent,
  TaskLeaseLostEvent,
  TaskStartedEvent,
} from './task-event.js';

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
