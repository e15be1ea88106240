import { type Backoff, backoffMs } from '../domain/backoff.js';
import { SchedulerStoppedError } from '../domain/errors.js';
import { runTask } from './run-task.js';
import type { SingletonGuard, TakenTask } from './singleton-guard.js';
import type { TaskDefinition, TaskView } from './task.js';
import { TaskCycle } from './task-cycle.js';
import { SHORTEST_WAIT_MS } from './task-delay.js';
import { TaskLeaseLostError, TaskRunningError } from './task-errors.js';
import { afterRun } from './task-memory.js';
import type { RunOutcome, TaskRun } from './task-run.js';
import type { TaskRunner } from './task-runner.js';
import type { TaskServices } from './task-services.js';
import type { TaskTurn } from './task-turns.js';

/** Readings of the store's clock by two replicas differ by this much: a task is not too early by less. */
const EARLY_MS = 20;
/** While another replica runs a task that is due here. */
const BUSY_WAIT_MS = 1_000;
/** Waits for a store that does not answer. */
const STORE_BACKOFF: Backoff = { minMs: 200, maxMs: 5_000, factor: 2, jitter: 0.5 };

/**
 * Runs a task on one replica of the fleet. The ring says which replica tries; the guard says whether it may, and when. A replica that becomes the task's home looks first, so
 * that neither an early run nor a needless hold comes of it; after a run of its own it knows when the next one is due.
 */
export class SingletonRunner implements TaskRunner {
  private readonly cycle: TaskCycle;
  private scheduled = false;
  private here = false;
  private mustLook = true;
  /** Monotonic time before which no run begins by itself. */
  private notBeforeMs = 0;
  private failures = 0;
  /** Turns in a row without an answer of the store. */
  private unanswered = 0;
  private homeName: string | undefined;

  constructor(
    readonly definition: TaskDefinition,
    private readonly guard: SingletonGuard,
    private readonly services: TaskServices,
  ) {
    this.cycle = new TaskCycle(services, (turn) => this.takeTurn(turn));
  }

  start(): void {
    this.scheduled = true;
    this.notBeforeMs = this.afterInitialDelay();
    if (this.here) this.arrive(this.notBeforeMs);
  }

  stop(): void {
    this.scheduled = false;
    this.cycle.rest();
  }

  idle(): Promise<void> {
    return this.cycle.idle();
  }

  /** The ring's word. Answers whether the home is another one than before. */
  homeIs(home: string | undefined, here: boolean): boolean {
    const moved = this.homeName !== home;
    this.homeName = home;
    if (this.here === here) return moved;
    this.here = here;
    if (!this.scheduled) return moved;
    // Where nothing remembers when it is due, the old home may be about to run it still.
    if (here)
      this.arrive(this.guard.remembers ? this.notBeforeMs : Math.max(this.notBeforeMs, this.afterInitialDelay()));
    else this.cycle.rest();
    return moved;
  }

  runNow(): Promise<RunOutcome> {
    const { key } = this.definition;
    return this.cycle.now(
      () => new TaskRunningError(key, 'here'),
      async (turn) => {
        const taken = await this.guard.take();
        if (taken === null) throw new TaskRunningError(key, 'elsewhere');
        if (this.services.draining()) {
          await taken.giveBack();
          throw new SchedulerStoppedError('runNow');
        }
        const { outcome, waitMs } = await this.run(turn, taken);
        return { value: outcome, waitMs };
      },
    );
  }

  view(): TaskView {
    const { key, kind } = this.definition;
    const { clock } = this.services;
    const { nextAtMs, running } = this.cycle;
    const nextAt = nextAtMs === undefined ? null : new Date(clock.now() + nextAtMs - clock.monotonic());
    return { key, kind, home: this.homeName ?? null, running, nextAt, failures: this.failures };
  }

  private arrive(atMs: number): void {
    this.mustLook = true;
    this.cycle.wakeIn(atMs - this.services.clock.monotonic());
  }

  private afterInitialDelay(): number {
    const { clock, random } = this.services;
    return clock.monotonic() + random.fraction() * this.definition.initialDelayMs;
  }

  private async takeTurn(turn: TaskTurn): Promise<number> {
    try {
      const waitMs = await this.ask(turn);
      this.unanswered = 0;
      return waitMs;
    } catch (error) {
      return this.notAnswered(error);
    }
  }

  private async ask(turn: TaskTurn): Promise<number> {
    if (this.mustLook) {
      const dueInMs = await this.guard.look();
      this.mustLook = dueInMs > 0;
      if (dueInMs > EARLY_MS) return dueInMs;
    }
    if (!this.wanted()) return SHORTEST_WAIT_MS;
    const taken = await this.guard.take();
    if (taken === null) {
      this.mustLook = true;
      return BUSY_WAIT_MS;
    }
    this.failures = taken.memory.failures;
    if (this.wanted() && taken.dueInMs <= EARLY_MS) return (await this.run(turn, taken)).waitMs;
    this.mustLook = !(await taken.giveBack());
    return taken.dueInMs;
  }

  /** Between the asking and the answer the home may have moved, or a drain have started. */
  private wanted(): boolean {
    return this.scheduled && this.here && !this.services.draining();
  }

  private async run(
    turn: TaskTurn,
    taken: TakenTask,
  ): Promise<{ readonly outcome: RunOutcome; readonly waitMs: number }> {
    const { definition, services } = this;
    const startedAt = taken.now();
    const details = {
      attempt: taken.memory.failures + 1,
      previousRun: taken.memory.previousRun,
      fencingToken: taken.fencingToken,
      check: () => taken.check(),
    };
    const { outcome, tell } = await runTask(turn, definition, details, services, {
      started: (run) => this.abortWhenLost(taken, run),
      outcome: (ended) => this.judged(taken, ended),
    });
    if (taken.lost !== undefined) {
      // What comes next is not ours to say: the record stays as it was, and says.
      this.mustLook = true;
      tell(null);
      return { outcome, waitMs: SHORTEST_WAIT_MS };
    }
    const times = { startedAt, endedAt: taken.now() };
    const afterwards = afterRun(definition, taken.memory, outcome, times, services.random.fraction());
    this.failures = afterwards.memory.failures;
    tell(afterwards.nextInMs);
    if (outcome.kind === 'failed' && outcome.givenUp) taken.abandon();
    else this.mustLook = !(await taken.giveBack(afterwards));
    return { outcome, waitMs: afterwards.nextInMs };
  }

  private abortWhenLost(taken: TakenTask, run: TaskRun): void {
    const { clock, emit, instanceId } = this.services;
    const { key: taskKey, kind } = this.definition;
    taken.onLost((reason) => {
      run.context.abort(new TaskLeaseLostError(taskKey, reason));
      const fencingToken = taken.fencingToken ?? 0;
      emit({ type: 'task.lease-lost', atMs: clock.now(), instanceId, taskKey, kind, fencingToken, reason });
    });
  }

  /** A run that lost its lease has failed, whatever its method made of it: another replica may have run the task meanwhile. */
  private judged(taken: TakenTask, ended: RunOutcome): RunOutcome {
    taken.check();
    if (taken.lost === undefined) return ended;
    const cause = ended.kind === 'failed' ? { cause: ended.error } : undefined;
    const error = new TaskLeaseLostError(this.definition.key, taken.lost, cause);
    const givenUp = ended.kind === 'failed' && ended.givenUp;
    return { kind: 'failed', error, durationMs: ended.durationMs, givenUp };
  }

  private notAnswered(error: unknown): number {
    const { clock, emit, instanceId, random } = this.services;
    this.unanswered += 1;
    this.mustLook = true;
    if (this.unanswered === 1) {
      const { key: taskKey, kind } = this.definition;
      emit({ type: 'task.blocked', atMs: clock.now(), instanceId, taskKey, kind, error });
    }
    return backoffMs(STORE_BACKOFF, this.unanswered, random.fraction());
  }
}
