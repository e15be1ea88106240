import { DistributedCronError } from '../domain/errors.js';

/** No task of that key exists on this replica. Keys are case sensitive. */
export class TaskNotFoundError extends DistributedCronError {
  readonly code = 'TASK_NOT_FOUND';

  constructor(
    readonly taskKey: string,
    known: readonly string[],
  ) {
    super(
      `No task "${taskKey}" on this replica. ${known.length === 0 ? 'There are no tasks.' : `Known: ${known.slice(0, 10).join(', ')}${known.length > 10 ? `, … (${known.length} in all)` : ''}.`}`,
    );
  }
}

/** A task of that key exists already. */
export class TaskExistsError extends DistributedCronError {
  readonly code = 'TASK_EXISTS';

  constructor(readonly taskKey: string) {
    super(`A task "${taskKey}" exists already on this replica. Remove it first, or use another key.`);
  }
}

/** `runNow` was refused: a run of the task is under way, and a task never runs twice at once where it can be known. */
export class TaskRunningError extends DistributedCronError {
  readonly code = 'TASK_RUNNING';

  constructor(
    readonly taskKey: string,
    readonly where: 'here' | 'elsewhere',
  ) {
    super(
      `Task "${taskKey}" was not run: it runs already ${where === 'here' ? 'on this replica' : 'on another replica'}.`,
    );
  }
}

/** What a task's method returned is no delay until its next run. The task goes on, with backoff. */
export class TaskDelayError extends DistributedCronError {
  readonly code = 'TASK_DELAY_INVALID';

  constructor(
    readonly taskKey: string,
    got: string,
  ) {
    super(
      `Task "${taskKey}" returned ${got}; a task returns the delay until its next run: milliseconds of 0 or more, or a text such as "30s", ten years at most.`,
    );
  }
}

/** The lease of a singleton task was lost while its method ran, so another replica may run it. The reason of the method's aborted signal. */
export class TaskLeaseLostError extends DistributedCronError {
  readonly code = 'TASK_LEASE_LOST';

  constructor(
    readonly taskKey: string,
    /** `lapsed`: no renewal was confirmed in time. `taken`: the store says the lease is no longer ours. */
    readonly reason: 'lapsed' | 'taken',
    options?: { cause?: unknown },
  ) {
    super(
      `Task "${taskKey}" lost its lease (${reason}): another replica may run it now. End the method, and write nothing more without its fencing token.`,
      options,
    );
  }
}

/** A guard of the application refused the run. The task goes on, with backoff. */
export class TaskRefusedError extends DistributedCronError {
  readonly code = 'TASK_REFUSED';

  constructor(readonly taskKey: string) {
    super(`A guard refused a run of task "${taskKey}".`);
  }
}
