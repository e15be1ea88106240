import { type Duration, durationMs } from '../domain/duration.js';
import type { Schedule } from './schedule.js';
import { ScheduleError } from './schedule-error.js';

export interface FunctionScheduleOptions {
  /**
   * What the function is called: the schedule's fingerprint and label. Change it when the function's instants change, so that a fleet does not
   * catch up instants of the old one under the new one. Default: the function's name.
   */
  readonly name?: string;
  /** No two instants lie closer than this; an answer that does is an error. Default 1 ms. */
  readonly minInterval?: Duration;
}

/**
 * The schedule of a pure function that gives the next instant strictly after the one it is asked about, in milliseconds since the epoch, or
 * `null` when there is none. Pure: the same answer on every replica, whenever and in whatever order it is asked; so the function must
 * ask no clock and count no calls, or two replicas make two fires of one.
 *
 * Each answer is checked: a whole number of milliseconds, strictly later. A wrong one is a ScheduleError, which stops the entry alone.
 */
export function functionSchedule(
  next: (afterMs: number) => number | null,
  options: FunctionScheduleOptions = {},
): Schedule {
  const name = options.name ?? (next.name === '' ? 'unnamed' : next.name);
  const minIntervalMs = options.minInterval === undefined ? 1 : durationMs(options.minInterval);
  if (minIntervalMs === undefined || minIntervalMs < 1) {
    throw new ScheduleError(
      `minInterval of the schedule "${name}" must be a duration of at least 1 ms; got ${options.minInterval}.`,
    );
  }
  return {
    label: name,
    fingerprint: `function ${name}`,
    minIntervalMs,
    next: (afterMs) => {
      const answer: unknown = next(afterMs);
      if (answer === null) return null;
      if (typeof answer !== 'number' || !Number.isSafeInteger(answer)) {
        throw new ScheduleError(
          `The schedule "${name}" must answer whole milliseconds since the epoch, or null; it answered ${String(answer)}.`,
        );
      }
      if (!(answer > afterMs)) {
        throw new ScheduleError(
          `The schedule "${name}" was asked for an instant after ${afterMs} and answered ${answer}.`,
        );
      }
      return answer;
    },
    // No previous: a function that only goes forward cannot be walked back without guessing where to begin.
  };
}
