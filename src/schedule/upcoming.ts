import { instantMs } from './instant.js';
import type { Schedule } from './schedule.js';
import { ScheduleError } from './schedule-error.js';

/** The next `count` instants strictly after `from`, in order; fewer where the schedule ends. There is no default for `from`: the answer is pure. */
export function upcoming(schedule: Schedule, from: Date | number, count: number): Date[] {
  if (!Number.isSafeInteger(count) || count < 0) {
    throw new ScheduleError(`upcoming needs how many instants as a whole number; got ${count}.`);
  }
  const instants: Date[] = [];
  let atMs: number | null = instantMs(from);
  while (instants.length < count) {
    atMs = schedule.next(atMs);
    if (atMs === null) break;
    instants.push(new Date(atMs));
  }
  return instants;
}
