export type { Clock, TimerHandle } from './ambient/clock.js';
export type { ClaimProtocolSettings } from './coordination/claim-protocol.js';
export type {
  Claim,
  ClaimAnswer,
  ClaimContext,
  Claimer,
  ClaimGrant,
  ClaimHolds,
  LastFire,
} from './coordination/claimer.js';
export type { BackendSettings, CoordinationBackend } from './coordination/coordination-backend.js';
export { CoordinationError, type CoordinationErrorCode } from './coordination/coordination-error.js';
export type { ElectionContext, Elector } from './coordination/elector.js';
export { type FetchedMembership, fetchedMembership, type ListMembers } from './coordination/fetched-membership.js';
export { HashRing } from './coordination/hash-ring.js';
export type {
  HeldLease,
  JsonValue,
  LeaseGrant,
  LeaseRecord,
  LeaseRequest,
  LeaseStore,
} from './coordination/lease-store.js';
export { MemberListError } from './coordination/member-list.js';
export type { MemberView } from './coordination/member-view.js';
export type { Member, MembershipStore } from './coordination/membership-store.js';
export { MemoryBackend } from './coordination/memory/memory-backend.js';
export { MemoryElection } from './coordination/memory/memory-elector.js';
export { MemoryStore } from './coordination/memory/memory-store.js';
export { overlapLeaseName } from './coordination/overlap-lease.js';
export type { HeldClaim, LapsedClaim, RecoveryStore, TakeLapsedRequest } from './coordination/recovery-store.js';
export { StaticMembership } from './coordination/static-membership.js';
export type { Duration } from './domain/duration.js';
export {
  ConfigurationError,
  type ConfigurationFault,
  DistributedCronError,
  DrainDeadlineError,
  EntryExistsError,
  EntryInUseError,
  EntryNotFoundError,
  FireLeaseLostError,
  FireRejectedError,
  FleetPauseUnavailableError,
  ForgetUnavailableError,
  SchedulerStoppedError,
  TimeoutError,
} from './domain/errors.js';
export type { Fire, FireOrigin } from './domain/fire.js';
export type {
  DayMatch,
  DstPolicy,
  LastRun,
  MissedPolicy,
  OverlapPolicy,
  OverlapScope,
  RecoveryPolicy,
} from './domain/policies.js';
export { type RejectReason, SkipReason, skipReasonLabel } from './domain/skip-reason.js';
export type { EntryDetails, EntryView } from './engine/entry-view.js';
export type {
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
} from './events/scheduler-event.js';
export type { CronEvent, CronEventOf, CronEventType } from './events/cron-event.js';
export type {
  EntryFailedEvent,
  EntryPausedEvent,
  EntryRemovedEvent,
  EntryResumedEvent,
  EntryScheduledEvent,
} from './events/entry-event.js';
export type {
  FireAbandonedEvent,
  FireCanceledEvent,
  FireCompletedEvent,
  FireFailedEvent,
  FireLeaseLostEvent,
  FireMissedEvent,
  FireRejectedEvent,
  FireRetryingEvent,
  FireReturnedLateEvent,
  FireSkippedByClaimEvent,
  FireSkippedByErrorEvent,
  FireSkippedByLeadershipEvent,
  FireSkippedEvent,
  FireStartedEvent,
} from './events/fire-event.js';
export type {
  TaskBlockedEvent,
  TaskCompletedEvent,
  TaskFailedEvent,
  TaskHomeChangedEvent,
  TaskLeaseLostEvent,
  TaskStartedEvent,
} from './events/task-event.js';
export { ofEvent } from './events/event-stream.js';
export type { SkippedFireEvent } from './events/skipped-fire-event.js';
export { currentFire, type FireContext } from './fire/fire-context.js';
export type { FireCounters, LastOutcome } from './fire/fire-tally.js';
export { DistributedCron } from './nest/distributed-cron.decorator.js';
export { DistributedCronModule } from './nest/distributed-cron.module.js';
export { DistributedCronEvents } from './nest/distributed-cron-events.js';
export { DistributedTasks } from './nest/distributed-tasks.js';
export type {
  DistributedCronEntryOptions,
  DistributedCronModuleOptions,
  DistributedCronOptionsFactory,
  EntryConfiguration,
  EntryPolicyOptions,
  FireRetryOptions,
  ScheduleInput,
} from './nest/options.js';
export {
  DistributedCronRegistry,
  type FleetScope,
  type RegistryEntryChange,
  type RegistryEntryOptions,
  type ReplicaScope,
  type ResumeOptions,
} from './nest/registry.js';
export type { EntrySnapshot, OutcomeSnapshot, RegistrySnapshot, TaskSnapshot } from './nest/registry-snapshot.js';
export { ParallelTask, SingletonTask, type TaskDecorator } from './nest/task.decorators.js';
export type { TaskDecoratorOptions, TaskOptions, TaskRetryOptions } from './nest/task-options.js';
export {
  CLAIMER,
  CLOCK,
  ELECTOR,
  InjectClaimer,
  InjectClock,
  InjectElector,
  InjectSkippedFires,
  SKIPPED_FIRES,
} from './nest/tokens.js';
export { type AlignedIntervalOptions, alignedInterval } from './schedule/aligned-interval.js';
export { between } from './schedule/between.js';
export { CronExpression } from './schedule/cron-expression-constants.js';
export { type CronScheduleOptions, cronSchedule } from './schedule/cron-schedule.js';
export { type FilterOptions, filter } from './schedule/filter.js';
export { type FunctionScheduleOptions, functionSchedule } from './schedule/function-schedule.js';
export { onceAt } from './schedule/once-at.js';
export type { Schedule } from './schedule/schedule.js';
export {
  CronExpressionError,
  type CronFieldName,
  type ExpressionFault,
  ScheduleError,
  TimeZoneError,
} from './schedule/schedule-error.js';
export { union } from './schedule/union.js';
export { upcoming } from './schedule/upcoming.js';
export type { PreviousRun, TaskContext, TaskKind, TaskMethod, TaskView } from './tasks/task.js';
export {
  TaskDelayError,
  TaskExistsError,
  TaskLeaseLostError,
  TaskNotFoundError,
  TaskRefusedError,
  TaskRunningError,
} from './tasks/task-errors.js';
