import { SchedulerStoppedError } from '../domain/errors.js';
import { runTask } from './run-task.js';
import type { TaskDefinition, TaskView } from './task.js';
import { TaskCycle } from './task-cycle.js';
import { TaskRunningError } from './task-errors.js';
import { type Afterwards, afterRun, NO_MEMORY } from './task-memory.js';
import type { RunOutcome } from './task-run.js';
import type { TaskRunner } from './task-runner.js';
import type { TaskServices } from './task-services.js';
import type { TaskTurn } from './task-turns.js';

/** Runs a task on this replica, whatever others do. */
export class ParallelRunner implements TaskRunner {
  private readonly cycle: TaskCycle;
  private memory = NO_MEMORY;

  constructor(
    readonly definition: TaskDefinition,
    private readonly services: TaskServices,
  ) {
    this.cycle = new TaskCycle(services, async (turn) => (await this.run(turn)).nextInMs);
  }

  start(): void {
    this.cycle.wakeIn(this.services.random.fraction() * this.definition.initialDelayMs);
  }

  stop(): void {
    this.cycle.rest();
  }

  idle(): Promise<void> {
    return this.cycle.idle();
  }

  runNow(): Promise<RunOutcome> {
    return this.cycle.now(
      () => new TaskRunningError(this.definition.key, 'here'),
      async (turn) => {
        if (this.services.draining()) throw new SchedulerStoppedError('runNow');
        const { outcome, nextInMs } = await this.run(turn);
        return { value: outcome, waitMs: nextInMs };
      },
    );
  }

  view(): TaskView {
    const { key, kind } = this.definition;
    const { clock } = this.services;
    const { nextAtMs, running } = this.cycle;
    const nextAt = nextAtMs === undefined ? null : new Date(clock.now() + nextAtMs - clock.monotonic());
    return { key, kind, running, nextAt, failures: this.memory.failures };
  }

  private async run(turn: TaskTurn): Promise<Afterwards & { readonly outcome: RunOutcome }> {
    const { definition, services, memory } = this;
    const startedAt = new Date(services.clock.now());
    const details = { attempt: memory.failures + 1, previousRun: memory.previousRun, fencingToken: null };
    const { outcome, tell } = await runTask(turn, definition, details, services);
    const times = { startedAt, endedAt: new Date(services.clock.now()) };
    const afterwards = afterRun(definition, memory, outcome, times, services.random.fraction());
    this.memory = afterwards.memory;
    tell(afterwards.nextInMs);
    return { ...afterwards, outcome };
  }
}
