import { instantMs } from './instant.js';
import type { Schedule } from './schedule.js';
import { ScheduleError } from './schedule-error.js';

/** More instants than this are refused, not collected: it is a day of a schedule of every second. */
export const MOST_BETWEEN = 100_000;

/** The instants from `from` on and before `to`, in order. `from` itself is among them if it is an instant, `to` never: two ranges that meet share none. */
export function between(schedule: Schedule, from: Date | number, to: Date | number): Date[] {
  const fromMs = instantMs(from);
  const toMs = instantMs(to);
  const instants: Date[] = [];
  let atMs = schedule.next(fromMs - 1);
  // A start between two milliseconds would let in the instant just before it.
  if (atMs !== null && atMs < fromMs) atMs = schedule.next(atMs);
  while (atMs !== null && atMs < toMs) {
    if (instants.length === MOST_BETWEEN) {
      throw new ScheduleError(
        `"${schedule.label}" has more than ${MOST_BETWEEN} instants in this range; ask for a shorter one.`,
      );
    }
    instants.push(new Date(atMs));
    atMs = schedule.next(atMs);
  }
  return instants;
}
