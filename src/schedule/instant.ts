import { ScheduleError } from './schedule-error.js';

/** An instant as milliseconds since the epoch. NaN, which a date that could not be read gives, is refused: it would look like a schedule's end. */
export function instantMs(instant: Date | number): number {
  const ms = Number(instant);
  if (Number.isNaN(ms))
    throw new ScheduleError('A schedule was asked about an instant that is none (NaN, or an invalid Date).');
  return ms;
}
