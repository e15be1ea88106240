import type { Provider } from '@nestjs/common';
import { type Clock, systemClock } from '../ambient/clock.js';
import { type InstanceIdentity, instanceIdentity } from '../ambient/instance-identity.js';
import { systemRandom } from '../ambient/random.js';
import type { Elector } from '../coordination/elector.js';
import type { GuardedBackend } from '../coordination/guarded-backend.js';
import type { Homes } from '../coordination/homes.js';
import type { Coordination } from '../engine/coordination.js';
import { Scheduler } from '../engine/scheduler.js';
import { EventStream } from '../events/event-stream.js';
import { TaskScheduler } from '../tasks/task-scheduler.js';
import { ApplicationLog } from './application-log.js';
import { COORDINATION_PROVIDERS } from './coordination-providers.js';
import { Discovery } from './discovery.js';
import { DistributedCronEvents } from './distributed-cron-events.js';
import { DistributedTasks } from './distributed-tasks.js';
import { type Emit, emitter } from './emit.js';
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
import { CLOCK, DISTRIBUTED_CRON_OPTIONS, ELECTOR, SKIPPED_FIRES } from './tokens.js';

/**
 * Who makes what, from the options to the scheduler. Tokens that an application may override (`CLAIMER`, `ELECTOR`, `CLOCK`) are injected by
 * everything behind them, and what they can do is read off the object that was injected.
 */
export const SCHEDULER_PROVIDERS: Provider[] = [
  { provide: RESOLVED_OPTIONS, useFactory: resolveOptions, inject: [DISTRIBUTED_CRON_OPTIONS] },
  { provide: CLOCK, useValue: systemClock },
  { provide: INSTANCE, useFactory: () => instanceIdentity(systemRandom) },
  ApplicationLog,
  { provide: EVENT_LOG, useFactory: (log: ApplicationLog) => new EventLog(log), inject: [ApplicationLog] },
  {
    provide: EVENT_STREAM,
    useFactory: (log: EventLog) => new EventStream((error) => log.subscriberFailed(error)),
    inject: [EVENT_LOG],
  },
  { provide: EMIT, useFactory: emitter, inject: [EVENT_LOG, EVENT_STREAM] },
  ...COORDINATION_PROVIDERS,
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
    useFactory: (
      engine: Scheduler,
      taskScheduler: TaskScheduler,
      options: ResolvedOptions,
      backend: GuardedBackend | null,
    ) => new DistributedCronRegistry(engine, taskScheduler, options, backend),
    inject: [SCHEDULER, TASKS, RESOLVED_OPTIONS, GUARDED_BACKEND],
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
  return new Scheduler({
    clock,
    random: systemRandom,
    instance,
    emit,
    watched: () => stream.observed,
    namespace: options.namespace,
    coordinationTimeoutMs: options.coordinationTimeoutMs,
    claimPatienceMs: options.claimPatienceMs,
    leaseTtlMs: options.leaseTtlMs,
    maxConcurrentFires: options.maxConcurrentFires,
    catchUpConcurrency: options.catchUpConcurrency,
    drainDeadlineMs: options.drainDeadlineMs,
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
