import type { DayMatch, DstPolicy } from '../domain/policies.js';
import type { CalendarDay, RandomExpression } from './expression.fixture.js';

/**
 * The set of instants of an expression, found the slow way: by looking at every step of the clock. It shares no code with what it judges, and
 * reads the zone's wall clock from `Intl` at every step.
 */
export interface PlainClock {
  readonly stepMs: number;
  readonly instants: readonly number[];
  /** What the wall clock shows at each instant, as milliseconds of the same clock face in UTC. */
  readonly walls: readonly number[];
  /** Where the scan counts from; the steps before only let the wall clock come up. */
  readonly fromMs: number;
}

const DAY_MS = 86_400_000;

export function plainClock(timeZone: string, fromMs: number, untilMs: number, stepMs: number): PlainClock {
  const formatter = new Intl.DateTimeFormat('en-US', {
    timeZone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
  const instants: number[] = [];
  const walls: number[] = [];
  // Far enough back that a wall clock that was set back has been seen ahead; in steps of minutes that is cheap. The last of them are as fine as the scan: a gap that ended in a
  // longer step would seem to end where the scan begins.
  const fineFromMs = fromMs - 2 * 60_000;
  for (
    let atMs = fromMs - 26 * 60 * 60_000;
    atMs < untilMs;
    atMs += atMs < fineFromMs ? Math.max(stepMs, 60_000) : stepMs
  ) {
    const [month, day, year, hour, minute, second] = formatter.format(atMs).match(/\d+/g)!.map(Number) as [
      number,
      number,
      number,
      number,
      number,
      number,
    ];
    instants.push(atMs);
    walls.push(Date.UTC(year, month - 1, day, hour, minute, second));
  }
  return { stepMs, instants, walls, fromMs };
}

export function calendarDay(wallMs: number): CalendarDay {
  const date = new Date(wallMs);
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    date: date.getUTCDate(),
    weekday: date.getUTCDay(),
    monthLength: new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate(),
  };
}

export function isDay(expression: RandomExpression, day: CalendarDay, dayMatch: DayMatch): boolean {
  if (!expression.months.has(day.month)) return false;
  const date = expression.isDate(day);
  const weekday = expression.isWeekday(day);
  if (expression.anyDate || expression.anyWeekday) return date && weekday;
  return dayMatch === 'and' ? date && weekday : date || weekday;
}

function shows(expression: RandomExpression, wallMs: number, dayMatch: DayMatch): boolean {
  const date = new Date(wallMs);
  return (
    expression.seconds.has(date.getUTCSeconds()) &&
    expression.minutes.has(date.getUTCMinutes()) &&
    expression.hours.has(date.getUTCHours()) &&
    isDay(expression, calendarDay(wallMs), dayMatch)
  );
}

export function plainScan(
  clock: PlainClock,
  expression: RandomExpression,
  dst: DstPolicy,
  dayMatch: DayMatch,
): number[] {
  const found: number[] = [];
  let highestMs = clock.walls[0]!;
  for (let index = 1; index < clock.instants.length; index++) {
    const wallMs = clock.walls[index]!;
    const atMs = clock.instants[index]!;
    const stepMs = atMs - clock.instants[index - 1]!;
    let fires = false;
    if (atMs >= clock.fromMs) {
      if (expression.star || dst === 'literal') {
        fires = shows(expression, wallMs, dayMatch);
      } else {
        fires = wallMs > highestMs && shows(expression, wallMs, dayMatch);
        const gapMs = wallMs - highestMs - stepMs;
        if (!fires && dst === 'vixie' && gapMs > 0 && gapMs < 3 * 3_600_000) {
          for (let missedMs = highestMs + stepMs; missedMs < wallMs && !fires; missedMs += clock.stepMs) {
            fires = shows(expression, missedMs, dayMatch);
          }
        }
      }
    }
    if (fires) found.push(atMs);
    highestMs = Math.max(highestMs, wallMs);
  }
  return found;
}

/** The days of an expression in a range of days, one by one. */
export function plainDays(expression: RandomExpression, fromMs: number, days: number, dayMatch: DayMatch): number[] {
  const found: number[] = [];
  for (let day = 0; day < days; day++) {
    const wallMs = fromMs + day * DAY_MS;
    if (isDay(expression, calendarDay(wallMs), dayMatch)) found.push(wallMs);
  }
  return found;
}
