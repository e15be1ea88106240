import type { CronFieldName } from './schedule-error.js';

/** What a field of a cron expression may hold. */
export interface CronField {
  readonly name: CronFieldName;
  readonly min: number;
  readonly max: number;
  /** How many different values there are; a longer step selects one value and is refused. */
  readonly size: number;
  /** Three-letter names and what they stand for. */
  readonly names: ReadonlyMap<string, number>;
  /** The values that `H` alone is spread over: every month has 28 days. */
  readonly spread: readonly [min: number, max: number];
}

function field(
  name: CronFieldName,
  min: number,
  max: number,
  names: readonly string[] = [],
  more: { size?: number; spread?: readonly [number, number] } = {},
): CronField {
  return {
    name,
    min,
    max,
    size: more.size ?? max - min + 1,
    names: new Map(names.map((text, index) => [text, min + index])),
    spread: more.spread ?? [min, max],
  };
}

const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];
const WEEKDAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'];

export const SECOND = field('second', 0, 59);
export const MINUTE = field('minute', 0, 59);
export const HOUR = field('hour', 0, 23);
export const DAY_OF_MONTH = field('day-of-month', 1, 31, [], { spread: [1, 28] });
export const MONTH = field('month', 1, 12, MONTHS);
/** 0 and 7 are both Sunday, so that `5-7` is a range. */
export const DAY_OF_WEEK = field('day-of-week', 0, 7, WEEKDAYS, { size: 7, spread: [0, 6] });

/** In the order of an expression with seconds. */
export const CRON_FIELDS = [SECOND, MINUTE, HOUR, DAY_OF_MONTH, MONTH, DAY_OF_WEEK] as const;
