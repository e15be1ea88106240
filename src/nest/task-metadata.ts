import type { TaskKind } from '../tasks/task.js';
import { MethodMetadata } from './method-metadata.js';
import type { TaskDecoratorOptions } from './task-options.js';

/** One `@SingletonTask(...)` or `@ParallelTask(...)` as written; read and checked at bootstrap. */
export interface TaskMetadata {
  readonly kind: TaskKind;
  readonly options: TaskDecoratorOptions | undefined;
}

export const taskMetadata = new MethodMetadata<TaskMetadata>('nestjs-distributed-cron:tasks');
