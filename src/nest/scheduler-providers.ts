import type { Provider } from '@nestjs/common';
import { type Clock, systemClock } from '../ambient/clock.js';
import { type InstanceIdentity, instanceIdentity } from '../ambient/instance-identity.js';
import { systemRandom } from '../ambient/random.js';
import type { Claimer } from '../coordination/claimer.js';
import type { CoordinationBackend } from '../coordination/coordination-backend.js';
import type { Elector } from '../coordination/elector.js';
import { FetchedMembers } from '../coordination/fetched-membership.js';
import { GivenMembers } from '../coordination/given-members.js';
import { GuardedBackend } from '../coordination/guarded-backend.js';
import { Homes } from '../coordination/homes.js';
import { LeaseElector } from '../coordination/lease-elector.js';
import { LiveMembers } from '../coordination/live-members.js';
import type { MemberSource } from '../coordination/member-view.js';
import type { Member } from '../coordination/membership-store.js';
import { StaticMembership } from '../coordination/static-membership.js';
import { Coordination } from '../engine/coordination.js';
import { Scheduler } from '../engine/scheduler.js';
import type { CronEvent } from '../events/cron-event.js';
import { EventStream } from '../events/event-stream.js';
import { TaskScheduler } from '../tasks/task-scheduler.js';
import { ApplicationLog } from './application-log.js';
import { Discovery } from './discovery.js';
import { DistributedCronEvents } from './distributed-cron-events.js';
import { DistributedTasks } from './distributed-tasks.js';
import { Enhancers } from './enhancers.js';
import { EventLog } from './event-log.js';
import {
  COORDINATION,
  EMIT,
  EVENT_LOG,
  EVENT_STREAM,
  GUARDED_BACKEND,
  HOMES,
  INSTANCE,
  LEADERSHIP,
  RESOLVED_OPTIONS,
  SCHEDULER,
  SINGLETON_WARNINGS,
  TASKS,
} from './internal-tokens.js';
import { Invocation } from './invocation.js';
import { DistributedCronRegistry } from './registry.js';
import { type ResolvedOptions, resolveOptions } from './resolve-options.js';
import { SchedulerHost } from './scheduler-host.js';
import { SingletonWarnings } from './singleton-warnings.js';
import { CLAIMER, CLOCK, DISTRIBUTED_CRON_OPTIONS, ELECTOR, SKIPPED_FIRES } from './tokens.js';

/**
 * Who makes what, from the options to the scheduler. Tokens that an application may override (`CLAIMER`, `ELECTOR`, `CLOCK`) are injected by
 * everything behind them, and what they can do is read off the object that was injected.
 */
export const SCHEDULER_PROVIDERS: Provider[] = [
  { provide: RESOLVED_OPTIONS, useFactory: resolveOptions, inject: [DISTRIBUTED_CRON_OPTIONS] },
  { provide: CLOCK, useValue: systemClock },
  {
    provide: CLAIMER,
    useFactory: (options: ResolvedOptions) => options.backend?.claimer ?? options.claimer ?? null,
    inject: [RESOLVED_OPTIONS],
  },
  {
    provide: ELECTOR,
    useFactory: (options: ResolvedOptions, leadership: LeaseElector | null) => options.elector ?? leadership,
    inject: [RESOLVED_OPTIONS, LEADERSHIP],
  },
  { provide: INSTANCE, useFactory: () => instanceIdentity(systemRandom) },
  ApplicationLog,
  { provide: EVENT_LOG, useFactory: (log: ApplicationLog) => new EventLog(log), inject: [ApplicationLog] },
  {
    provide: EVENT_STREAM,
    useFactory: (log: EventLog) => new EventStream((error) => log.subscriberFailed(error)),
    inject: [EVENT_LOG],
  },
  { provide: EMIT, useFactory: emitter, inject: [EVENT_LOG, EVENT_STREAM] },
  { provide: GUARDED_BACKEND, useFactory: guardedBackend, inject: [RESOLVED_OPTIONS, CLAIMER, CLOCK, INSTANCE, EMIT] },
  { provide: LEADERSHIP, useFactory: leadership, inject: [RESOLVED_OPTIONS, GUARDED_BACKEND, CLOCK, INSTANCE, EMIT] },
  { provide: HOMES, useFactory: homes, inject: [RESOLVED_OPTIONS, GUARDED_BACKEND, CLOCK, INSTANCE, EMIT] },
  {
    provide: COORDINATION,
    useFactory: coordination,
    inject: [RESOLVED_OPTIONS, GUARDED_BACKEND, LEADERSHIP, HOMES, CLOCK, INSTANCE, EMIT],
  },
  {
    provide: SCHEDULER,
    useFactory: scheduler,
    inject: [RESOLVED_OPTIONS, CLOCK, INSTANCE, EMIT, ELECTOR, COORDINATION, TASKS, EVENT_STREAM],
  },
  { provide: TASKS, useFactory: tasks, inject: [RESOLVED_OPTIONS, GUARDED_BACKEND, HOMES, CLOCK, INSTANCE, EMIT] },
  {
    provide: SINGLETON_WARNINGS,
    useFactory: (log: ApplicationLog, options: ResolvedOptions, backend: GuardedBackend | null, members: Homes) =>
      new SingletonWarnings(log, options.enabled, backend, members),
    inject: [ApplicationLog, RESOLVED_OPTIONS, GUARDED_BACKEND, HOMES],
  },
  {
    provide: DistributedTasks,
    useFactory: (engine: TaskScheduler, options: ResolvedOptions, warnings: SingletonWarnings) =>
      new DistributedTasks(engine, options, warnings),
    inject: [TASKS, RESOLVED_OPTIONS, SINGLETON_WARNINGS],
  },
  {
    provide: DistributedCronRegistry,
    useFactory: (engine: Scheduler, options: ResolvedOptions) => new DistributedCronRegistry(engine, options),
    inject: [SCHEDULER, RESOLVED_OPTIONS],
  },
  {
    provide: DistributedCronEvents,
    useFactory: (stream: EventStream) => new DistributedCronEvents(stream),
    inject: [EVENT_STREAM],
  },
  { provide: SKIPPED_FIRES, useFactory: (stream: EventStream) => stream.skipped$, inject: [EVENT_STREAM] },
  Discovery,
  Enhancers,
  Invocation,
  SchedulerHost,
];

type Emit = (event: CronEvent) => void;

function emitter(log: EventLog, events: EventStream): Emit {
  return (event) => {
    log.write(event);
    events.emit(event);
  };
}

function guard(
  options: ResolvedOptions,
  backend: CoordinationBackend,
  clock: Clock,
  instance: InstanceIdentity,
  emit: Emit,
): GuardedBackend {
  return new GuardedBackend(
    backend,
    { ...options, instanceId: instance.id },
    { clock, random: systemRandom },
    {
      clockSkewed: (offsetMs) => emit({ type: 'clock.skewed', atMs: clock.now(), instanceId: instance.id, offsetMs }),
    },
  );
}

function guardedBackend(
  options: ResolvedOptions,
  claimer: Claimer | null,
  clock: Clock,
  instance: InstanceIdentity,
  emit: Emit,
): GuardedBackend | null {
  if (claimer === null) return null;
  // A test may have overridden the claimer: then the backend behind the options is not the one that is asked.
  const given = options.backend?.claimer === claimer ? options.backend : undefined;
  return guard(options, given ?? { store: 'custom', claimer }, clock, instance, emit);
}

function leadership(
  options: ResolvedOptions,
  backend: GuardedBackend | null,
  clock: Clock,
  instance: InstanceIdentity,
  emit: Emit,
): LeaseElector | null {
  if (!options.leadership || backend?.leases === undefined) return null;
  const base = () => ({ atMs: clock.now(), instanceId: instance.id });
  return new LeaseElector(
    backend.leases,
    { ...options, instanceId: instance.id },
    { clock, random: systemRandom },
    {
      gained: (fencingToken) => emit({ type: 'leadership.gained', ...base(), fencingToken }),
      lost: (fencingToken, reason) => emit({ type: 'leadership.lost', ...base(), fencingToken, reason }),
    },
  );
}

function homes(
  options: ResolvedOptions,
  backend: GuardedBackend | null,
  clock: Clock,
  instance: InstanceIdentity,
  emit: Emit,
): Homes {
  const memberName = options.memberName ?? instance.id;
  const base = () => ({ atMs: clock.now(), instanceId: instance.id });
  const source = memberSource(options, backend, { instanceId: instance.id, memberName }, clock, (error) =>
    emit({ type: 'membership.unreachable', ...base(), error, neverSeen: source.current === undefined }),
  );
  return new Homes(source, memberName, {
    changed: (members) => emit({ type: 'membership.changed', ...base(), members }),
    unlisted: (members) => emit({ type: 'membership.unlisted', ...base(), memberName, members }),
  });
}

/** The application's own members count over the backend's. */
function memberSource(
  { membership, namespace, memberExpiryMs, coordinationTimeoutMs }: ResolvedOptions,
  backend: GuardedBackend | null,
  member: Member,
  clock: Clock,
  unreachable: (error: unknown) => void,
): MemberSource {
  if (membership !== undefined && 'list' in membership)
    return new FetchedMembers(membership, coordinationTimeoutMs, clock, { unreachable });
  if (membership !== undefined) return new GivenMembers(membership, 'given');
  if (backend?.membership === undefined) return new GivenMembers(new StaticMembership([member.memberName]), 'alone');
  const settings = { namespace, member, memberExpiryMs };
  return new LiveMembers(backend.membership, settings, { clock, random: systemRandom }, { unreachable });
}

function coordination(
  options: ResolvedOptions,
  backend: GuardedBackend | null,
  leader: LeaseElector | null,
  members: Homes,
  clock: Clock,
  instance: InstanceIdentity,
  emit: Emit,
): Coordination {
  return new Coordination({
    backend: backend ?? undefined,
    leadership: leader ?? undefined,
    homes: members,
    guard: (claimer) => guard(options, { store: 'custom', claimer }, clock, instance, emit),
  });
}

function scheduler(
  options: ResolvedOptions,
  clock: Clock,
  instance: InstanceIdentity,
  emit: Emit,
  elector: Elector | null,
  parts: Coordination,
  companion: TaskScheduler,
  stream: EventStream,
): Scheduler {
  const { namespace, coordinationTimeoutMs, claimPatienceMs, leaseTtlMs, drainDeadlineMs } = options;
  return new Scheduler({
    clock,
    random: systemRandom,
    instance,
    emit,
    watched: () => stream.observed,
    namespace,
    coordinationTimeoutMs,
    claimPatienceMs,
    leaseTtlMs,
    drainDeadlineMs,
    elector: elector ?? undefined,
    coordination: parts,
    companion,
  });
}

function tasks(
  options: ResolvedOptions,
  backend: GuardedBackend | null,
  members: Homes,
  clock: Clock,
  instance: InstanceIdentity,
  emit: Emit,
): TaskScheduler {
  const { namespace, leaseTtlMs, drainDeadlineMs } = options;
  return new TaskScheduler({
    clock,
    random: systemRandom,
    emit,
    instanceId: instance.id,
    namespace,
    leaseTtlMs,
    drainDeadlineMs,
    homes: members,
    backend: backend ?? undefined,
  });
}
