import type { TaskKind, TaskMethod } from '../tasks/task.js';
import { requireMethod } from './decorator-place.js';
import { taskMetadata } from './task-metadata.js';
import type { TaskDecoratorOptions } from './task-options.js';

/** Stands on methods that return the delay until their next run; what they return is checked when they run, too. */
export type TaskDecorator = <T extends TaskMethod>(
  target: object,
  method: string | symbol,
  descriptor: TypedPropertyDescriptor<T>,
) => void;

/**
 * Runs the method on one replica of the fleet at a time: on the member that the ring of members gives its key to, under a lease. The method gets the `TaskContext` as its
 * argument, and returns the delay until its next run: milliseconds, or a text such as `'30s'`. Options are checked when the application starts.
 */
export function SingletonTask(options?: TaskDecoratorOptions): TaskDecorator {
  return taskDecorator('SingletonTask', 'singleton', options);
}

/** As `@SingletonTask`, on every replica, each by itself. */
export function ParallelTask(options?: TaskDecoratorOptions): TaskDecorator {
  return taskDecorator('ParallelTask', 'parallel', options);
}

function taskDecorator(name: string, kind: TaskKind, options: TaskDecoratorOptions | undefined): TaskDecorator {
  return (target, method, descriptor) => {
    requireMethod(name, target, method, descriptor);
    taskMetadata.add(target, method, { kind, options });
  };
}
