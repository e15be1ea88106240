import { ConfigurableModuleBuilder, type DynamicModule, Module } from '@nestjs/common';
import { ModulesContainer } from '@nestjs/core';
import { type Clock, systemClock } from '../ambient/clock.js';
import { instanceIdentity } from '../ambient/instance-identity.js';
import { systemRandom } from '../ambient/random.js';
import type { Claimer } from '../coordination/claimer.js';
import type { Elector } from '../coordination/elector.js';
import { GuardedBackend } from '../coordination/guarded-backend.js';
import { Scheduler } from '../engine/scheduler.js';
import { EventStream } from '../events/event-stream.js';
import { ApplicationLog } from './application-log.js';
import { Discovery } from './discovery.js';
import { DistributedCronEvents } from './distributed-cron-events.js';
import { Enhancers } from './enhancers.js';
import { EventLog } from './event-log.js';
import { startLastAndStopFirst } from './hook-order.js';
import { MODULE_MARK } from './importers.js';
import { COORDINATION, EVENT_LOG, EVENT_STREAM, INSTANCE, RESOLVED_OPTIONS, SCHEDULER } from './internal-tokens.js';
import { Invocation } from './invocation.js';
import type { DistributedCronModuleOptions } from './options.js';
import { DistributedCronRegistry } from './registry.js';
import { type ResolvedOptions, resolveOptions } from './resolve-options.js';
import { SchedulerHost } from './scheduler-host.js';
import { CLAIMER, CLOCK, DISTRIBUTED_CRON_OPTIONS, ELECTOR, SKIPPED_FIRES } from './tokens.js';

const { ConfigurableModuleClass } = new ConfigurableModuleBuilder<DistributedCronModuleOptions>({
  optionsInjectionToken: DISTRIBUTED_CRON_OPTIONS,
})
  .setClassMethodName('forRoot')
  .setFactoryMethodName('createDistributedCronOptions')
  .setExtras({}, (definition) => ({ ...definition, global: true }))
  .build();

/**
 * Import it once, in the root module. Global: the registry, the events and the tokens can be injected anywhere. Starts after every other
 * provider's `onApplicationBootstrap`, drains before every other provider's `onModuleDestroy`.
 */
@Module({
  providers: [
    { provide: RESOLVED_OPTIONS, useFactory: resolveOptions, inject: [DISTRIBUTED_CRON_OPTIONS] },
    { provide: CLOCK, useValue: systemClock },
    {
      provide: CLAIMER,
      useFactory: (options: ResolvedOptions) => options.backend?.claimer ?? options.claimer ?? null,
      inject: [RESOLVED_OPTIONS],
    },
    { provide: ELECTOR, useFactory: (options: ResolvedOptions) => options.elector ?? null, inject: [RESOLVED_OPTIONS] },
    { provide: INSTANCE, useFactory: () => instanceIdentity(systemRandom) },
    ApplicationLog,
    { provide: EVENT_LOG, useFactory: (log: ApplicationLog) => new EventLog(log), inject: [ApplicationLog] },
    {
      provide: EVENT_STREAM,
      useFactory: (log: EventLog) => new EventStream((error) => log.subscriberFailed(error)),
      inject: [EVENT_LOG],
    },
    { provide: COORDINATION, useFactory: coordination, inject: [RESOLVED_OPTIONS, CLAIMER, CLOCK, INSTANCE] },
    {
      provide: SCHEDULER,
      useFactory: scheduler,
      inject: [RESOLVED_OPTIONS, CLOCK, INSTANCE, EVENT_STREAM, EVENT_LOG, ELECTOR, COORDINATION],
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
  ],
  exports: [DistributedCronRegistry, DistributedCronEvents, CLAIMER, ELECTOR, CLOCK, SKIPPED_FIRES],
})
export class DistributedCronModule extends ConfigurableModuleClass {
  static readonly [MODULE_MARK] = true;

  /** Options are optional: without any, each replica runs every fire, with a warning. */
  static override forRoot(options: DistributedCronModuleOptions = {}): DynamicModule {
    // biome-ignore lint/complexity/noThisInStatic: the class it is called on becomes the module
    return super.forRoot(options);
  }

  constructor(modules: ModulesContainer) {
    super();
    startLastAndStopFirst(modules.values(), DistributedCronModule);
  }
}

function coordination(
  options: ResolvedOptions,
  claimer: Claimer | null,
  clock: Clock,
  instance: { readonly id: string },
): GuardedBackend | null {
  if (claimer === null) return null;
  // A test may have overridden the claimer: then the backend behind the options is not the one that is asked.
  const backend =
    options.backend !== undefined && options.backend.claimer === claimer
      ? options.backend
      : { store: 'custom', claimer };
  return new GuardedBackend(backend, { ...options, instanceId: instance.id }, { clock, random: systemRandom });
}

function scheduler(
  options: ResolvedOptions,
  clock: Clock,
  instance: ReturnType<typeof instanceIdentity>,
  events: EventStream,
  log: EventLog,
  elector: Elector | null,
  claims: GuardedBackend | null,
): Scheduler {
  return new Scheduler({
    clock,
    random: systemRandom,
    instance,
    emit: (event) => {
      log.write(event);
      events.emit(event);
    },
    namespace: options.namespace,
    coordinationTimeoutMs: options.coordinationTimeoutMs,
    claimPatienceMs: options.claimPatienceMs,
    drainDeadlineMs: options.drainDeadlineMs,
    elector: elector ?? undefined,
    claims: claims ?? undefined,
  });
}
