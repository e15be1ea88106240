import type { PreviousRun, TaskContext, TaskDefinition } from './task.js';
import { taskDelayMs } from './task-delay.js';

/** How a run ended. */
export type RunOutcome =
  | { readonly kind: 'completed'; readonly nextInMs: number; readonly durationMs: number }
  | {
      readonly kind: 'failed';
      readonly error: unknown;
      readonly durationMs: number;
      /** Nobody waits for it any more, but its method has not ended. */
      readonly givenUp: boolean;
    };

export interface RunDetails {
  readonly attempt: number;
  readonly previousRun: PreviousRun | null;
  readonly fencingToken: number | null;
  /** Looks whether the run may still go on, and aborts it if not. Asked whenever the method reads its signal. */
  readonly check?: () => void;
}

/** One call of a task's method. */
export class TaskRun {
  readonly context: TaskContext & { abort(reason: Error): void };
  private readonly controller = new AbortController();
  private resolve!: (outcome: RunOutcome) => void;
  private startedAtMs = 0;

  constructor(
    private readonly definition: TaskDefinition,
    details: RunDetails,
    private readonly monotonic: () => number,
  ) {
    this.context = runContext(definition.key, details, this.controller);
  }

  /** Calls the method. Resolves when it has ended or was given up; never rejects. */
  start(): Promise<RunOutcome> {
    this.startedAtMs = this.monotonic();
    return new Promise((resolve) => {
      this.resolve = resolve;
      let returned: unknown;
      try {
        returned = this.definition.run(this.context);
      } catch (error) {
        this.fail(error);
        return;
      }
      Promise.resolve(returned).then(
        (value) => this.end(value),
        (error: unknown) => this.fail(error),
      );
    });
  }

  /** The run counts as failed with this error; its method may return when it likes. */
  giveUp(error: Error): void {
    this.resolve({ kind: 'failed', error, durationMs: this.elapsedMs(), givenUp: true });
  }

  private end(value: unknown): void {
    try {
      const nextInMs = taskDelayMs(this.definition.key, value);
      this.resolve({ kind: 'completed', nextInMs, durationMs: this.elapsedMs() });
    } catch (error) {
      this.fail(error);
    }
  }

  private fail(error: unknown): void {
    this.resolve({ kind: 'failed', error, durationMs: this.elapsedMs(), givenUp: false });
  }

  private elapsedMs(): number {
    return this.monotonic() - this.startedAtMs;
  }
}

function runContext(
  key: string,
  { attempt, previousRun, fencingToken, check }: RunDetails,
  controller: AbortController,
): TaskRun['context'] {
  return {
    key,
    attempt,
    previousRun,
    fencingToken,
    get signal() {
      // After a process stood still the method's timers may call back before ours: who reads the signal from its context is told the truth all the same.
      check?.();
      return controller.signal;
    },
    abort: (reason) => controller.abort(reason),
  };
}
