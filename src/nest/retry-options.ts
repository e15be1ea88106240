import type { Backoff } from '../domain/backoff.js';
import type { RetryPolicy } from '../domain/policies.js';
import type { OptionReader } from './option-reader.js';

const PAUSES = ['min', 'max', 'factor', 'jitter'];
const DEFAULT_FIRE_RETRY: RetryPolicy = { attempts: 3, minMs: 1_000, maxMs: 60_000, factor: 2, jitter: 0.2 };

/** The `retry` of an entry: `false` is none, an object counts whole. */
export function readFireRetry(read: OptionReader, fallback: RetryPolicy | null): RetryPolicy | null {
  if (!read.has('retry')) return fallback;
  const given = read.raw('retry');
  if (given === false) return null;
  if (typeof given !== 'object' || Array.isArray(given)) {
    const hint =
      given === true ? 'retry: {} has the defaults: three calls, with pauses of about 1 s and 2 s.' : undefined;
    read.fault('retry', 'OPTION_VALUE', 'false, or an object with attempts, min, max, factor, jitter', given, hint);
    return fallback;
  }
  const retry = read.within('retry', ['attempts', ...PAUSES]);
  return Object.freeze({
    attempts: retry.positiveInteger('attempts', DEFAULT_FIRE_RETRY.attempts),
    ...readPauses(retry, DEFAULT_FIRE_RETRY),
  });
}

/** The `retry` of a task, which is called again for ever. */
export function readTaskRetry(read: OptionReader, fallback: Backoff): Backoff {
  return read.has('retry') ? Object.freeze(readPauses(read.within('retry', PAUSES), fallback)) : fallback;
}

function readPauses(read: OptionReader, defaults: Backoff): Backoff {
  const pauses = {
    minMs: read.duration('min', defaults.minMs, 1),
    maxMs: read.duration('max', defaults.maxMs, 1),
    factor: read.number('factor', defaults.factor, 1, Number.MAX_VALUE),
    jitter: read.number('jitter', defaults.jitter, 0, 1),
  };
  if (pauses.minMs > pauses.maxMs) {
    read.fault(
      'min',
      'OPTION_CONFLICT',
      'at most max',
      `${pauses.minMs} ms above ${pauses.maxMs} ms`,
      'Raise max, or lower min.',
    );
  }
  return pauses;
}
