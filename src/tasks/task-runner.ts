import type { TaskDefinition, TaskView } from './task.js';
import type { RunOutcome } from './task-run.js';

/** Runs one task on this replica. */
export interface TaskRunner {
  readonly definition: TaskDefinition;
  /** From now on the task runs by itself. */
  start(): void;
  /** No run begins by itself any more; one that is under way goes on. */
  stop(): void;
  /** Resolves when nothing of the task is under way. */
  idle(): Promise<void>;
  /** Runs the task here and now. Rejects with `TaskRunningError`, or `CoordinationError` where a store had to be asked. */
  runNow(): Promise<RunOutcome>;
  view(): TaskView;
}
