import { entryKeyFault } from '../domain/entry-key.js';
import type { ConfigurationFault } from '../domain/errors.js';
import { DEFAULT_BACKOFF } from '../tasks/backoff.js';
import type { TaskDefinition, TaskKind } from '../tasks/task.js';
import { OptionReader, shown } from './option-reader.js';
import { readTaskRetry } from './retry-options.js';

/** A task as it was written down, in a decorator or in a call of `DistributedTasks`. */
export interface WrittenTask {
  /** How errors name it: `Outbox.send`. */
  readonly subject: string;
  readonly key: unknown;
  readonly kind: TaskKind;
  readonly options: unknown;
}

const TASK_OPTIONS = ['key', 'retry', 'initialDelay'];
const DEFAULT_INITIAL_DELAY_MS = 2_000;

/** Answers nothing if something is wrong; what, goes to `faults`, each with the task's place and key. */
export function resolveTask(
  { subject, key, kind, options }: WrittenTask,
  faults: ConfigurationFault[],
): Omit<TaskDefinition, 'run'> | undefined {
  const faultsBefore = faults.length;
  const expected = entryKeyFault(key);
  if (expected !== undefined) {
    faults.push({
      code: 'KEY_INVALID',
      subject: `${subject}, option key`,
      expected: `a key: ${expected}`,
      got: shown(key),
    });
  }
  const place = expected === undefined ? `${subject}, key "${key}"` : subject;
  const read = new OptionReader(options, place, TASK_OPTIONS, faults, ', option ');
  const initialDelayMs = read.duration('initialDelay', DEFAULT_INITIAL_DELAY_MS);
  const retry = readTaskRetry(read, DEFAULT_BACKOFF);
  return faults.length > faultsBefore ? undefined : { key: key as string, kind, retry, initialDelayMs };
}
