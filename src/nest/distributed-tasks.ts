import { ConfigurationError, type ConfigurationFault } from '../domain/errors.js';
import type { TaskKind, TaskMethod, TaskView } from '../tasks/task.js';
import type { TaskScheduler } from '../tasks/task-scheduler.js';
import { shown } from './option-reader.js';
import type { ResolvedOptions } from './resolve-options.js';
import { resolveTask } from './resolve-task.js';
import { singletonFaults } from './singleton-rule.js';
import type { SingletonWarnings } from './singleton-warnings.js';
import type { TaskOptions } from './task-options.js';

/** The tasks of this replica. What is added or removed here is added or removed on this replica alone. */
export class DistributedTasks {
  constructor(
    private readonly tasks: TaskScheduler,
    private readonly options: ResolvedOptions,
    private readonly warnings: SingletonWarnings,
  ) {}

  /**
   * Adds a task that runs on this replica, as `@ParallelTask` does.
   * @throws ConfigurationError with every fault, TaskExistsError, SchedulerStoppedError
   */
  parallel(key: string, run: TaskMethod, options?: TaskOptions): void {
    this.add('parallel', key, run, options);
  }

  /**
   * Adds a task that runs on one replica at a time, as `@SingletonTask` does: add it on every replica that shall be able to.
   * @throws ConfigurationError with every fault, TaskExistsError, SchedulerStoppedError
   */
  singleton(key: string, run: TaskMethod, options?: TaskOptions): void {
    this.add('singleton', key, run, options);
  }

  /** Takes the task off this replica. A method that runs goes on. @throws TaskNotFoundError */
  remove(key: string): void {
    this.tasks.remove(key);
  }

  list(): TaskView[] {
    return this.tasks.list();
  }

  /**
   * Runs the task here and now, whether it is due and this is its home or not. A singleton takes its lease all the same, and is refused while another replica runs it. Works with
   * `enabled: false`. Resolves with the delay until the next run in milliseconds; rejects with what the method threw.
   * @throws TaskNotFoundError, TaskRunningError, SchedulerStoppedError, TaskDelayError, TaskLeaseLostError, CoordinationError
   */
  runNow(key: string): Promise<number> {
    return this.tasks.runNow(key);
  }

  private add(kind: TaskKind, key: string, run: TaskMethod, options: TaskOptions | undefined): void {
    const faults: ConfigurationFault[] = kind === 'singleton' ? singletonFaults(this.options) : [];
    const subject = 'DistributedTasks';
    if (typeof run !== 'function') {
      faults.push({ code: 'OPTION_VALUE', subject: `${subject}, run`, expected: 'a function', got: shown(run) });
    }
    const task = resolveTask({ subject, key, kind, options }, faults);
    if (task === undefined || faults.length > 0) throw new ConfigurationError(faults);
    this.tasks.add({ ...task, run });
    if (kind === 'singleton') this.warnings.singletonAdded();
  }
}
