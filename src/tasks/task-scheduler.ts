import type { Clock } from '../ambient/clock.js';
import type { Random } from '../ambient/random.js';
import type { GuardedBackend } from '../coordination/guarded-backend.js';
import type { Homes } from '../coordination/homes.js';
import { SchedulerStoppedError } from '../domain/errors.js';
import type { Companion } from '../engine/companion.js';
import { Drain } from '../engine/drain.js';
import { Lifecycle } from '../engine/lifecycle.js';
import type { CronEvent } from '../events/cron-event.js';
import { LeaseGuard } from './lease-guard.js';
import { ParallelRunner } from './parallel-runner.js';
import { RingOnlyGuard } from './ring-only-guard.js';
import { SingletonRunner } from './singleton-runner.js';
import { StoreTime } from './store-time.js';
import type { TaskDefinition, TaskView } from './task.js';
import { TaskAlarms } from './task-alarms.js';
import { TaskExistsError, TaskNotFoundError } from './task-errors.js';
import { TaskPlacement } from './task-placement.js';
import type { TaskRunner } from './task-runner.js';
import type { TaskServices } from './task-services.js';
import { type TaskTurn, TaskTurns } from './task-turns.js';

export interface TaskSchedulerParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly emit: (event: CronEvent) => void;
  readonly instanceId: string;
  readonly namespace: string;
  readonly leaseTtlMs: number;
  readonly drainDeadlineMs: number;
  readonly homes: Homes;
  /** Absent, or without leases: singletons go by the ring alone. */
  readonly backend?: Pick<GuardedBackend, 'leases' | 'clockOffsetMs'> | undefined;
}

/** One replica's tasks. Knows nothing of Nest. */
export class TaskScheduler implements Companion {
  private readonly runners = new Map<string, TaskRunner>();
  /** Removed tasks whose last run has not ended, by key. */
  private readonly ending = new Map<string, Promise<void>>();
  private readonly lifecycle = new Lifecycle();
  private readonly turns = new TaskTurns();
  private readonly services: TaskServices;
  private readonly placement: TaskPlacement;
  private readonly storeTime: StoreTime;
  private drainUnderWay: { readonly drain: Drain<TaskTurn>; readonly done: Promise<number> } | undefined;

  constructor(private readonly parts: TaskSchedulerParts) {
    const { clock, random, emit, instanceId, homes, backend } = parts;
    const alarms = new TaskAlarms(clock);
    const draining = () => this.lifecycle.ending;
    this.services = { clock, random, alarms, emit, instanceId, turns: this.turns, draining };
    this.placement = new TaskPlacement({ homes, emit, instanceId, now: () => clock.now() });
    this.storeTime = new StoreTime(clock, async () => backend?.clockOffsetMs());
  }

  /** Methods that run now. */
  get running(): number {
    return this.turns.running;
  }

  /** From now on tasks run by themselves. A second call does nothing. */
  start(): void {
    if (!this.lifecycle.enter('started')) return;
    // Homes first: a runner that starts knows whether it is one.
    this.placement.start();
    for (const runner of [...this.runners.values()]) void this.startAfterPredecessor(runner);
  }

  /** @throws TaskExistsError, SchedulerStoppedError */
  add(definition: TaskDefinition): void {
    this.refuseWhenEnding('add');
    const { key } = definition;
    if (this.runners.has(key)) throw new TaskExistsError(key);
    const runner = definition.kind === 'parallel' ? this.parallel(definition) : this.singleton(definition);
    this.runners.set(key, runner);
    if (this.lifecycle.state === 'started') void this.startAfterPredecessor(runner);
  }

  /** The task runs no more by itself. A method that runs goes on. @throws TaskNotFoundError */
  remove(key: string): void {
    const runner = this.require(key);
    this.runners.delete(key);
    if (runner instanceof SingletonRunner) this.placement.remove(runner);
    runner.stop();
    const ended = Promise.all([this.ending.get(key), runner.idle()]).then(() => {
      if (this.ending.get(key) === ended) this.ending.delete(key);
    });
    this.ending.set(key, ended);
  }

  list(): TaskView[] {
    return [...this.runners.values()].map((runner) => runner.view());
  }

  /**
   * Runs the task here and now, due or not, and on its home or not; a singleton takes its lease all the same. Resolves with the delay until the next run, rejects with what
   * the method threw.
   * @throws TaskNotFoundError, TaskRunningError, SchedulerStoppedError, TaskDelayError, TaskLeaseLostError, CoordinationError
   */
  async runNow(key: string): Promise<number> {
    this.refuseWhenEnding('runNow');
    const runner = this.require(key);
    await this.ending.get(key);
    this.refuseWhenEnding('runNow');
    const outcome = await runner.runNow();
    if (outcome.kind === 'failed') throw outcome.error;
    return outcome.nextInMs;
  }

  /**
   * No run begins from here on. Resolves when all that are under way have ended, with how many were aborted: methods finish, or are aborted at the deadline. Every call
   * answers the same promise, and none rejects.
   */
  drain(): Promise<number> {
    if (this.drainUnderWay === undefined) {
      const drain = new Drain(this.turns, this.services.alarms, this.parts.drainDeadlineMs);
      this.lifecycle.enter('draining');
      for (const runner of this.runners.values()) runner.stop();
      this.drainUnderWay = { drain, done: drain.run() };
    }
    return this.drainUnderWay.done;
  }

  /** Brings the deadline of a drain forward to now. */
  hurry(): void {
    this.drainUnderWay?.drain.hurry();
  }

  private parallel(definition: TaskDefinition): TaskRunner {
    return new ParallelRunner(definition, this.services);
  }

  private singleton(definition: TaskDefinition): TaskRunner {
    const { backend, clock, namespace, instanceId, leaseTtlMs: ttlMs } = this.parts;
    const { alarms } = this.services;
    const leases = backend?.leases;
    const time = this.storeTime;
    const guard =
      leases === undefined
        ? new RingOnlyGuard(clock)
        : new LeaseGuard(definition.key, { leases, time, clock, alarms, namespace, instanceId, ttlMs });
    const runner = new SingletonRunner(definition, guard, this.services);
    this.placement.add(runner);
    return runner;
  }

  /** A lease knows replicas and not tasks: a task added again must not take it from the run of the one it replaces. */
  private async startAfterPredecessor(runner: TaskRunner): Promise<void> {
    const { key } = runner.definition;
    const predecessor = this.ending.get(key);
    if (predecessor !== undefined) await predecessor;
    if (this.runners.get(key) === runner && this.lifecycle.state === 'started') runner.start();
  }

  private require(key: string): TaskRunner {
    const runner = this.runners.get(key);
    if (runner === undefined) throw new TaskNotFoundError(key, [...this.runners.keys()]);
    return runner;
  }

  private refuseWhenEnding(operation: string): void {
    if (this.lifecycle.ending) throw new SchedulerStoppedError(operation);
  }
}
