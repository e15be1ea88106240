/**
 * The proleptic calendar as tables, for the years that schedules answer for. Weeks begin on Sunday (0), months on January (0).
 * Nothing here knows zones: days and seconds are those of a wall clock, counted from 1970-01-01.
 */

/** Schedules answer for instants from the epoch up to, and without, this one: 2201-01-01T00:00:00Z, in seconds. */
export const ANSWERS_UNTIL_S = Date.UTC(2201, 0, 1) / 1000;

export const DAY_S = 86_400;

// A wall clock differs from UTC by up to a day, so the tables hold a year more at both ends.
export const FIRST_YEAR = 1969;
export const LAST_YEAR = 2201;

/**
 * Two years of one type have the same weekday on each date. There are fourteen: the weekday of 1 January, plus seven in a leap year.
 * What holds for all fourteen holds for every year, which is what makes sparse dates answerable without a search.
 */
export const YEAR_TYPES = 14;

const yearCount = LAST_YEAR - FIRST_YEAR + 1;
const yearStart = new Int32Array(yearCount + 1);
const yearType = new Uint8Array(yearCount);
for (let index = 0; index <= yearCount; index++) {
  const day = Date.UTC(FIRST_YEAR + index, 0, 1) / 1000 / DAY_S;
  yearStart[index] = day;
  if (index < yearCount) {
    const leap = Date.UTC(FIRST_YEAR + index + 1, 0, 1) / 1000 / DAY_S - day === 366;
    yearType[index] = (((day % 7) + 11) % 7) + (leap ? 7 : 0);
  }
}

// For each of the two year lengths: the first day of the year of each month, and the month of each day of the year.
const monthStart = new Int16Array(2 * 13);
const monthOfDay = new Uint8Array(2 * 366);
for (const leap of [0, 1]) {
  for (let month = 0; month < 12; month++) {
    const start = monthStart[leap * 13 + month]!;
    const length = month === 1 ? 28 + leap : month === 3 || month === 5 || month === 8 || month === 10 ? 30 : 31;
    monthStart[leap * 13 + month + 1] = start + length;
    monthOfDay.fill(month, leap * 366 + start, leap * 366 + start + length);
  }
}

/** The year's place in the tables, from the day since the epoch. The day must lie within the tables' years. */
export function yearIndexOfDay(day: number): number {
  // Dividing by the longest year guesses too low, and by less than one year over the whole table.
  const guess = ((day - yearStart[0]!) / 366) | 0;
  return day >= yearStart[guess + 1]! ? guess + 1 : guess;
}

export function yearStartDay(yearIndex: number): number {
  return yearStart[yearIndex]!;
}

export function typeOfYear(yearIndex: number): number {
  return yearType[yearIndex]!;
}

export function monthOfYearDay(type: number, dayOfYear: number): number {
  return monthOfDay[(type >= 7 ? 366 : 0) + dayOfYear]!;
}

/** Days of the year before the first of the month. */
export function monthStartDay(type: number, month: number): number {
  return monthStart[(type >= 7 ? 13 : 0) + month]!;
}

export function monthLength(type: number, month: number): number {
  const at = (type >= 7 ? 13 : 0) + month;
  return monthStart[at + 1]! - monthStart[at]!;
}

/** The weekday of the month's first day; Sunday is 0. */
export function firstWeekday(type: number, month: number): number {
  return (type + monthStartDay(type, month)) % 7;
}

export const FIRST_DAY = yearStart[0]!;
export const YEAR_COUNT = yearCount;
