import { backoffMs } from '../domain/backoff.js';
import type { PreviousRun, TaskDefinition } from './task.js';
import { SHORTEST_WAIT_MS } from './task-delay.js';
import type { RunOutcome } from './task-run.js';

/** What a task knows of its runs so far. */
export interface TaskMemory {
  /** In a row, up to the last run. */
  readonly failures: number;
  readonly previousRun: PreviousRun | null;
}

export const NO_MEMORY: TaskMemory = Object.freeze({ failures: 0, previousRun: null });

export interface Afterwards {
  readonly memory: TaskMemory;
  readonly nextInMs: number;
}

/** What follows from a run: a success resets the backoff, a failure waits its next step. */
export function afterRun(
  { retry }: TaskDefinition,
  before: TaskMemory,
  outcome: RunOutcome,
  times: { readonly startedAt: Date; readonly endedAt: Date },
  fraction: number,
): Afterwards {
  const previousRun = { ...times, outcome: outcome.kind };
  if (outcome.kind === 'completed') return { memory: { failures: 0, previousRun }, nextInMs: outcome.nextInMs };
  const failures = before.failures + 1;
  const nextInMs = Math.max(SHORTEST_WAIT_MS, Math.round(backoffMs(retry, failures, fraction)));
  return { memory: { failures, previousRun }, nextInMs };
}
