import type { Schedule } from './schedule.js';
import { ScheduleError } from './schedule-error.js';

/** Every instant of any of the schedules; one that several share is one instant, and one fire. */
export function union(...schedules: readonly Schedule[]): Schedule {
  if (schedules.length === 0) throw new ScheduleError('union needs at least one schedule.');
  const previouses = schedules.map((schedule) => schedule.previous?.bind(schedule));
  return {
    label: schedules.map((schedule) => schedule.label).join(' | '),
    // Order and repetition change no instant.
    fingerprint: `union(${[...new Set(schedules.map((schedule) => schedule.fingerprint))].sort().join(' | ')})`,
    next: (afterMs) =>
      chosen(
        schedules.map((schedule) => schedule.next(afterMs)),
        Math.min,
      ),
    // With one that cannot be walked backwards, neither can the union.
    ...(previouses.every((previous) => previous !== undefined) && {
      previous: (beforeMs: number) =>
        chosen(
          previouses.map((previous) => previous(beforeMs)),
          Math.max,
        ),
    }),
    // No minIntervalMs: instants of two schedules can lie a millisecond apart, which is what its absence says.
  };
}

function chosen(instants: readonly (number | null)[], choose: (...instants: number[]) => number): number | null {
  const known = instants.filter((instant) => instant !== null);
  return known.length === 0 ? null : choose(...known);
}
