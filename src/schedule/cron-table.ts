import type { DaySet } from './cron-days.js';

/**
 * The parsed form of a cron expression: which wall clock seconds it names, as bits. Immutable, and made once per distinct expression;
 * `days` is shared between expressions that name the same days, so this is all that an expression costs.
 */
export class CronTable {
  constructor(
    /** Seconds 0-29 and 30-59; minutes likewise. */
    readonly secondsLow: number,
    readonly secondsHigh: number,
    readonly minutesLow: number,
    readonly minutesHigh: number,
    readonly hours: number,
    readonly days: DaySet,
    /** The minute or the hour field starts with `*`: the expression follows elapsed time, whatever the DST policy. */
    readonly followsElapsedTime: boolean,
  ) {}
}
