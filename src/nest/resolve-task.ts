import { entryKeyFault } from '../domain/entry-key.js';
import type { ConfigurationFault } from '../domain/errors.js';
import { type Backoff, DEFAULT_BACKOFF } from '../tasks/backoff.js';
import type { TaskDefinition, TaskKind } from '../tasks/task.js';
import { OptionReader, shown } from './option-reader.js';

/** A task as it was written down, in a decorator or in a call of `DistributedTasks`. */
export interface WrittenTask {
  /** How errors name it: `Outbox.send`. */
  readonly subject: string;
  readonly key: unknown;
  readonly kind: TaskKind;
  readonly options: unknown;
}

const TASK_OPTIONS = ['key', 'retry', 'initialDelay'];
const RETRY_OPTIONS = ['min', 'max', 'factor', 'jitter'];
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
  const retry = read.has('retry') ? readRetry(read.raw('retry'), place, faults) : DEFAULT_BACKOFF;
  return faults.length > faultsBefore ? undefined : { key: key as string, kind, retry, initialDelayMs };
}

function readRetry(given: unknown, place: string, faults: ConfigurationFault[]): Backoff {
  const read = new OptionReader(given, `${place}, option retry`, RETRY_OPTIONS, faults);
  const { minMs, maxMs, factor, jitter } = DEFAULT_BACKOFF;
  const retry = {
    minMs: read.duration('min', minMs, 1),
    maxMs: read.duration('max', maxMs, 1),
    factor: read.number('factor', factor, 1, Number.MAX_VALUE),
    jitter: read.number('jitter', jitter, 0, 1),
  };
  if (retry.minMs > retry.maxMs) {
    read.fault(
      'min',
      'OPTION_CONFLICT',
      'at most max',
      `${retry.minMs} ms above ${retry.maxMs} ms`,
      'Raise max, or lower min.',
    );
  }
  return Object.freeze(retry);
}
