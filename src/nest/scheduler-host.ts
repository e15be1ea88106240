import {
  Inject,
  Injectable,
  type OnApplicationBootstrap,
  type OnModuleDestroy,
  type OnModuleInit,
} from '@nestjs/common';
import { ModuleRef, ModulesContainer } from '@nestjs/core';
import type { Elector } from '../coordination/elector.js';
import type { GuardedBackend } from '../coordination/guarded-backend.js';
import { ConfigurationError, type ConfigurationFault, FireRejectedError } from '../domain/errors.js';
import type { Coordination } from '../engine/coordination.js';
import type { Scheduler } from '../engine/scheduler.js';
import type { EventStream } from '../events/event-stream.js';
import type { FireContext } from '../fire/fire-context.js';
import type { TaskContext } from '../tasks/task.js';
import { TaskRefusedError } from '../tasks/task-errors.js';
import type { TaskScheduler } from '../tasks/task-scheduler.js';
import { ApplicationLog } from './application-log.js';
import { type CollectedEntry, collectEntries } from './collect-entries.js';
import { type CollectedTask, collectTasks } from './collect-tasks.js';
import { Discovery } from './discovery.js';
import { Enhancers } from './enhancers.js';
import { importersIfTwice } from './importers.js';
import {
  COORDINATION,
  EVENT_STREAM,
  GUARDED_BACKEND,
  RESOLVED_OPTIONS,
  SCHEDULER,
  SINGLETON_WARNINGS,
  TASKS,
} from './internal-tokens.js';
import { Invocation } from './invocation.js';
import { containerOf } from './nest-container.js';
import { DistributedCronRegistry } from './registry.js';
import type { ResolvedOptions } from './resolve-options.js';
import type { SingletonWarnings } from './singleton-warnings.js';
import { StartLog } from './start-log.js';
import { ELECTOR } from './tokens.js';

const refusedFire = ({ entryKey, fireKey }: FireContext) => new FireRejectedError(entryKey, fireKey, 'guard');

/** Ties the scheduler to the application's life: checks everything, starts last, drains first. */
@Injectable()
export class SchedulerHost implements OnModuleInit, OnApplicationBootstrap, OnModuleDestroy {
  private collected: readonly CollectedEntry[] = [];
  private collectedTasks: readonly CollectedTask[] = [];
  private startLog: Promise<void> = Promise.resolve();

  constructor(
    @Inject(RESOLVED_OPTIONS) private readonly options: ResolvedOptions,
    @Inject(SCHEDULER) private readonly scheduler: Scheduler,
    @Inject(TASKS) private readonly tasks: TaskScheduler,
    @Inject(SINGLETON_WARNINGS) private readonly singletonWarnings: SingletonWarnings,
    @Inject(GUARDED_BACKEND) private readonly backend: GuardedBackend | null,
    @Inject(COORDINATION) private readonly coordination: Coordination,
    @Inject(ELECTOR) private readonly elector: Elector | null,
    @Inject(EVENT_STREAM) private readonly events: EventStream,
    @Inject(ModulesContainer) private readonly modules: ModulesContainer,
    @Inject(ModuleRef) private readonly moduleRef: ModuleRef,
    @Inject(Discovery) private readonly discovery: Discovery,
    @Inject(Enhancers) private readonly enhancers: Enhancers,
    @Inject(Invocation) private readonly invocation: Invocation,
    @Inject(DistributedCronRegistry) private readonly registry: DistributedCronRegistry,
    @Inject(ApplicationLog) private readonly log: ApplicationLog,
  ) {}

  /** @throws ConfigurationError with every fault of options and entries */
  async onModuleInit(): Promise<void> {
    const faults: ConfigurationFault[] = [...this.options.faults];
    const importers = importersIfTwice(this.modules.values(), containerOf(this.moduleRef));
    if (importers.length > 0) {
      faults.push({
        code: 'MODULE_TWICE',
        subject: 'DistributedCronModule.forRoot',
        expected: 'to be imported once in the application',
        got: `imported by ${importers.join(' and ')}`,
        hint: 'It is global: import it in the root module alone. Twice, every fire would be scheduled twice.',
      });
    }
    const methods = this.discovery.find();
    this.collected = collectEntries(methods, this.options, this.backend, faults, this.registry.addedKeys());
    const added = this.tasks.list().map(({ key }) => key);
    this.collectedTasks = collectTasks(methods, this.options, faults, added);
    for (const method of methods) faults.push(...this.enhancers.faults(method));
    if (faults.length > 0) throw new ConfigurationError(faults);
    if (this.closed) return;
    for (const { entry, schedule, options } of this.collected) this.registry.adopt(entry.key, schedule, options);
    const { globalEnhancers } = this.options;
    await this.scheduler.addAll(
      this.collected
        .filter(({ entry }) => entry.enabled)
        .map(({ entry: { key, schedule, policies, claimer }, method }) => ({
          key,
          schedule,
          policies,
          claimer,
          run: this.invocation.of(method, { globalEnhancers, refusal: refusedFire }),
        })),
    );
    if (!this.closed) this.addTasks();
  }

  /** An application may be closed while it starts, as by a SIGTERM: then there is nothing left to start, and that is no error. */
  private get closed(): boolean {
    return this.scheduler.state === 'draining' || this.scheduler.state === 'stopped';
  }

  private addTasks(): void {
    const { globalEnhancers } = this.options;
    const refusal = ({ key }: TaskContext) => new TaskRefusedError(key);
    for (const { task, method } of this.collectedTasks) {
      this.tasks.add({ ...task, run: this.invocation.of(method, { globalEnhancers, refusal }) });
      if (task.kind === 'singleton') this.singletonWarnings.singletonAdded();
    }
  }

  onApplicationBootstrap(): void {
    if (this.closed) return;
    if (this.options.enabled) this.scheduler.start();
    const log = new StartLog(this.log, this.options, this.scheduler, this.backend, this.elector);
    log.entries(this.collected);
    log.tasks(this.tasks.list());
    log.warnings(this.collected, this.collectedTasks);
    // Not awaited: an application whose store is down starts all the same, and its fires wait for the store.
    this.startLog = log.coordination().then(() => log.storeWarnings());
  }

  /** Never rejects: a scheduler that cannot stop cleanly must not keep other providers from it. */
  async onModuleDestroy(): Promise<void> {
    try {
      await this.scheduler.drain();
      await this.startLog;
      await this.coordination.close();
    } catch (error) {
      this.log.error('stopping failed', error);
    } finally {
      this.events.complete();
    }
  }
}
