import type { TaskDefinition } from './task.js';
import { type RunDetails, type RunOutcome, TaskRun } from './task-run.js';
import type { TaskServices } from './task-services.js';
import type { TaskTurn } from './task-turns.js';

export interface RunEnd {
  readonly outcome: RunOutcome;
  /** Publishes the end, once what follows from it is known. `null`: the store has the word. */
  readonly tell: (nextInMs: number | null) => void;
}

/** Runs the method within its turn, and tells of start and end. Never rejects. */
export async function runTask(
  turn: TaskTurn,
  definition: TaskDefinition,
  details: RunDetails,
  services: TaskServices,
  /** Is given the run before its method is called, and may say how it ended instead. */
  watch: { started?(run: TaskRun): void; outcome?(outcome: RunOutcome): RunOutcome } = {},
): Promise<RunEnd> {
  const { clock, emit, instanceId } = services;
  const { key: taskKey, kind } = definition;
  const { attempt, fencingToken } = details;
  const about = () => ({ atMs: clock.now(), instanceId, taskKey, kind, attempt, fencingToken });
  const run = new TaskRun(definition, details, () => clock.monotonic());
  turn.running = run;
  watch.started?.(run);
  emit({ type: 'task.started', ...about() });
  const ended = await run.start();
  turn.running = undefined;
  const outcome = watch.outcome?.(ended) ?? ended;
  const tell = (nextInMs: number | null) => {
    const { durationMs } = outcome;
    if (outcome.kind === 'completed')
      emit({ type: 'task.completed', ...about(), durationMs, nextInMs: outcome.nextInMs });
    else emit({ type: 'task.failed', ...about(), durationMs, error: outcome.error, nextInMs });
  };
  return { outcome, tell };
}
