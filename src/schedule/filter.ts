import type { Schedule } from './schedule.js';
import { ScheduleError } from './schedule-error.js';

export interface FilterOptions {
  /**
   * What the rule is called: part of the schedule's fingerprint and label. Change it when the rule changes, so that a fleet does not
   * catch up instants of the old rule under the new one. Default: the function's name.
   */
  readonly name?: string;
}

/** How many instants in a row a filter may refuse before it is taken for one that refuses all: two days of a schedule of every second. */
export const MOST_REFUSED_IN_A_ROW = 200_000;

/**
 * The instants of a schedule that `keep` answers `true` for: a calendar without its holidays, say. `keep` must be pure: the same answer for the same
 * instant on every replica. Anything but `true` and `false` is an error, a promise too.
 *
 * A filter that refuses more than 200,000 instants in a row throws ScheduleError, since nobody can tell whether it will ever keep
 * one: give it a sparser schedule.
 */
export function filter(
  schedule: Schedule,
  keep: (instantMs: number) => boolean,
  options: FilterOptions = {},
): Schedule {
  const name = options.name ?? (keep.name === '' ? 'unnamed' : keep.name);
  const walk = (step: (fromMs: number) => number | null, fromMs: number): number | null => {
    let atMs = step(fromMs);
    for (let refused = 0; atMs !== null; refused++) {
      if (refused === MOST_REFUSED_IN_A_ROW) {
        throw new ScheduleError(`The filter "${name}" refused ${refused} instants of "${schedule.label}" in a row.`);
      }
      const answer: unknown = keep(atMs);
      if (answer === true) return atMs;
      if (answer !== false) {
        throw new ScheduleError(`The filter "${name}" must answer true or false; it answered ${String(answer)}.`);
      }
      atMs = step(atMs);
    }
    return null;
  };
  const previous = schedule.previous?.bind(schedule);
  return {
    label: `${schedule.label} (${name})`,
    fingerprint: `filter(${schedule.fingerprint}, ${name})`,
    next: (afterMs) => walk((fromMs) => schedule.next(fromMs), afterMs),
    ...(previous !== undefined && { previous: (beforeMs: number) => walk(previous, beforeMs) }),
    ...(schedule.minIntervalMs !== undefined && { minIntervalMs: schedule.minIntervalMs }),
    ...(schedule.timeZone !== undefined && { timeZone: schedule.timeZone }),
  };
}
