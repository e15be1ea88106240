import { highestBit, lowestBit, nextOfSixty, previousOfSixty } from './bits.js';
import {
  DAY_S,
  FIRST_DAY,
  monthOfYearDay,
  monthStartDay,
  typeOfYear,
  YEAR_COUNT,
  yearIndexOfDay,
  yearStartDay,
} from './calendar.js';
import type { DaySet } from './cron-days.js';
import type { CronTable } from './cron-table.js';

/**
 * The walk over the wall clock seconds of a table, in seconds since 1970-01-01 of that clock. It knows no zone. Each step costs the same
 * however far away the answer is, but for a look at one byte per year passed.
 */

/** The smallest wall clock second at or after `fromS`, or Infinity when there is none before 2202. */
export function nextWallClock(table: CronTable, fromS: number): number {
  let day = Math.floor(fromS / DAY_S);
  if (day < FIRST_DAY) return nextWallClock(table, FIRST_DAY * DAY_S);
  if (day >= yearStartDay(YEAR_COUNT)) return Infinity;
  let year = yearIndexOfDay(day);
  const type = typeOfYear(year);
  const dayOfYear = day - yearStartDay(year);
  const month = monthOfYearDay(type, dayOfYear);
  const dayOfMonth = dayOfYear - monthStartDay(type, month);
  const days = table.days.inMonth(type, month);
  if ((days >>> dayOfMonth) & 1) {
    const time = nextTimeOfDay(table, fromS - day * DAY_S);
    if (time >= 0) return day * DAY_S + time;
  }
  const later = days & (-2 << dayOfMonth);
  if (later !== 0) {
    day += lowestBit(later) - dayOfMonth;
  } else {
    let ofYear = firstDayOfYear(table.days, type, month + 1);
    if (ofYear < 0) {
      do if (++year >= YEAR_COUNT) return Infinity;
      while (((table.days.yearTypes >>> typeOfYear(year)) & 1) === 0);
      ofYear = firstDayOfYear(table.days, typeOfYear(year), 0);
    }
    day = yearStartDay(year) + ofYear;
  }
  return day * DAY_S + firstTimeOfDay(table);
}

/** The largest wall clock second at or before `fromS`, or -Infinity when there is none from 1969 on. */
export function previousWallClock(table: CronTable, fromS: number): number {
  let day = Math.floor(fromS / DAY_S);
  if (day < FIRST_DAY) return -Infinity;
  if (day >= yearStartDay(YEAR_COUNT)) return previousWallClock(table, yearStartDay(YEAR_COUNT) * DAY_S - 1);
  let year = yearIndexOfDay(day);
  const type = typeOfYear(year);
  const dayOfYear = day - yearStartDay(year);
  const month = monthOfYearDay(type, dayOfYear);
  const dayOfMonth = dayOfYear - monthStartDay(type, month);
  const days = table.days.inMonth(type, month);
  if ((days >>> dayOfMonth) & 1) {
    const time = previousTimeOfDay(table, fromS - day * DAY_S);
    if (time >= 0) return day * DAY_S + time;
  }
  const earlier = days & ((1 << dayOfMonth) - 1);
  if (earlier !== 0) {
    day += highestBit(earlier) - dayOfMonth;
  } else {
    let ofYear = lastDayOfYear(table.days, type, month - 1);
    if (ofYear < 0) {
      do if (--year < 0) return -Infinity;
      while (((table.days.yearTypes >>> typeOfYear(year)) & 1) === 0);
      ofYear = lastDayOfYear(table.days, typeOfYear(year), 11);
    }
    day = yearStartDay(year) + ofYear;
  }
  return day * DAY_S + lastTimeOfDay(table);
}

function firstDayOfYear(days: DaySet, type: number, fromMonth: number): number {
  for (let month = fromMonth; month < 12; month++) {
    const bits = days.inMonth(type, month);
    if (bits !== 0) return monthStartDay(type, month) + lowestBit(bits);
  }
  return -1;
}

function lastDayOfYear(days: DaySet, type: number, fromMonth: number): number {
  for (let month = fromMonth; month >= 0; month--) {
    const bits = days.inMonth(type, month);
    if (bits !== 0) return monthStartDay(type, month) + highestBit(bits);
  }
  return -1;
}

function nextTimeOfDay(table: CronTable, fromS: number): number {
  const hour = (fromS / 3600) | 0;
  const minute = ((fromS - hour * 3600) / 60) | 0;
  if ((table.hours >>> hour) & 1) {
    if (hasMinute(table, minute)) {
      const second = nextOfSixty(table.secondsLow, table.secondsHigh, fromS - hour * 3600 - minute * 60);
      if (second >= 0) return hour * 3600 + minute * 60 + second;
    }
    const later = nextOfSixty(table.minutesLow, table.minutesHigh, minute + 1);
    if (later >= 0) return hour * 3600 + later * 60 + nextOfSixty(table.secondsLow, table.secondsHigh, 0);
  }
  const hours = table.hours & (-2 << hour);
  return hours === 0 ? -1 : lowestBit(hours) * 3600 + firstInHour(table);
}

function previousTimeOfDay(table: CronTable, fromS: number): number {
  const hour = (fromS / 3600) | 0;
  const minute = ((fromS - hour * 3600) / 60) | 0;
  if ((table.hours >>> hour) & 1) {
    if (hasMinute(table, minute)) {
      const second = previousOfSixty(table.secondsLow, table.secondsHigh, fromS - hour * 3600 - minute * 60);
      if (second >= 0) return hour * 3600 + minute * 60 + second;
    }
    const earlier = previousOfSixty(table.minutesLow, table.minutesHigh, minute - 1);
    if (earlier >= 0) return hour * 3600 + earlier * 60 + previousOfSixty(table.secondsLow, table.secondsHigh, 59);
  }
  const hours = table.hours & ((1 << hour) - 1);
  return hours === 0 ? -1 : highestBit(hours) * 3600 + lastInHour(table);
}

function hasMinute(table: CronTable, minute: number): boolean {
  return ((minute < 30 ? table.minutesLow >>> minute : table.minutesHigh >>> (minute - 30)) & 1) === 1;
}

function firstTimeOfDay(table: CronTable): number {
  return lowestBit(table.hours) * 3600 + firstInHour(table);
}

function lastTimeOfDay(table: CronTable): number {
  return highestBit(table.hours) * 3600 + lastInHour(table);
}

function firstInHour(table: CronTable): number {
  return nextOfSixty(table.minutesLow, table.minutesHigh, 0) * 60 + nextOfSixty(table.secondsLow, table.secondsHigh, 0);
}

function lastInHour(table: CronTable): number {
  return (
    previousOfSixty(table.minutesLow, table.minutesHigh, 59) * 60 +
    previousOfSixty(table.secondsLow, table.secondsHigh, 59)
  );
}
