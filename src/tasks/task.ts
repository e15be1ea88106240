import type { Backoff } from '../domain/backoff.js';
import type { Duration } from '../domain/duration.js';

/** `singleton`: runs on one replica of the fleet at a time. `parallel`: runs on every replica. */
export type TaskKind = 'singleton' | 'parallel';

/** The last run of a task that ended: of a singleton over all replicas, of a parallel task on this one. */
export interface PreviousRun {
  readonly startedAt: Date;
  readonly endedAt: Date;
  /** `failed`: it threw, or returned no delay. */
  readonly outcome: 'completed' | 'failed';
}

/** What a task's method is told of the run. */
export interface TaskContext {
  readonly key: string;
  /** Aborted when the method should end: its lease was lost, or the drain deadline passed. The reason is the error that says which. */
  readonly signal: AbortSignal;
  /** 1, and one more for each failure in a row before this run. */
  readonly attempt: number;
  /** `null`: there is none, or none is known. */
  readonly previousRun: PreviousRun | null;
  /** Grows with every run of a singleton, over all replicas: send it along with writes, and refuse lower ones. `null`: the run is under no lease. */
  readonly fencingToken: number | null;
}

/** The method of a task: answers the delay until its next run, counted from its end. */
export type TaskMethod = (context: TaskContext) => Duration | Promise<Duration>;

/** A task as the engine takes it: every default is filled in. */
export interface TaskDefinition {
  readonly key: string;
  readonly kind: TaskKind;
  /** Unknown on purpose: what it returns is checked. */
  readonly run: (context: TaskContext) => unknown;
  readonly retry: Backoff;
  /** The first run comes after a random part of this. */
  readonly initialDelayMs: number;
}

/** What an operator sees of a task on this replica. */
export interface TaskView {
  readonly key: string;
  readonly kind: TaskKind;
  /** The member that the ring gives a singleton to, as this replica sees it; `null`: not known. Absent for a parallel task. */
  readonly home?: string | null;
  readonly running: boolean;
  /** When this replica next looks whether the task is due; `null`: it runs, its home is elsewhere, or nothing is scheduled. */
  readonly nextAt: Date | null;
  /** Failures in a row, as far as this replica knows. */
  readonly failures: number;
}
