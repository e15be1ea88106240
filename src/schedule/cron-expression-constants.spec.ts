import { describe, expect, test } from '@jest/globals';
import { CronExpression } from './cron-expression-constants.js';
import { cronSchedule } from './cron-schedule.js';
import { upcoming } from './upcoming.js';

// A Monday, and the start of a year, a quarter, a month, a week and a day.
const FROM_MS = Date.UTC(2029, 0, 1);

const instantsOf = (expression: string, count: number) => upcoming(cronSchedule(expression), FROM_MS - 1, count);
const readable = (dates: readonly Date[]) => dates.map((date) => date.toISOString().slice(0, 16));

const stepsBetween = (instants: readonly number[]) =>
  instants.slice(1).map((instantMs, index) => instantMs - instants[index]!);

const names = Object.keys(CronExpression) as (keyof typeof CronExpression)[];
const tested = new Set<string>();

function hourOf(clock: string): number {
  if (clock === 'MIDNIGHT') return 0;
  if (clock === 'NOON') return 12;
  const [, hour, half] = /^(\d+)(AM|PM)$/.exec(clock)!;
  return (Number(hour) % 12) + (half === 'PM' ? 12 : 0);
}

/** What a name says, read from the name. */
describe('a constant fires at the instants its name says', () => {
  const UNIT_MS = { SECOND: 1000, MINUTE: 60_000, HOUR: 3_600_000 };

  for (const name of names) {
    const every = /^EVERY_(?:(\d+)_)?(SECOND|MINUTE|HOUR)S?$/.exec(name);
    if (every !== null) {
      tested.add(name);
      test(name, () => {
        const stepMs = Number(every[1] ?? 1) * UNIT_MS[every[2] as keyof typeof UNIT_MS];
        const instants = instantsOf(CronExpression[name], 100).map(Number);
        expect(new Set(stepsBetween(instants))).toEqual(new Set([stepMs]));
      });
    }

    const daily = /^EVERY_DAY_AT_(\w+)$/.exec(name);
    if (daily !== null) {
      tested.add(name);
      test(name, () => {
        const hour = hourOf(daily[1]!);
        expect(instantsOf(CronExpression[name], 3).map(Number)).toEqual(
          [1, 2, 3].map((day) => Date.UTC(2029, 0, day, hour)),
        );
      });
    }

    const workdays = /^MONDAY_TO_FRIDAY_AT_(?:(\d+)_(\d+))?(\w+)$/.exec(name);
    if (workdays !== null) {
      tested.add(name);
      test(name, () => {
        const hour = workdays[1] === undefined ? hourOf(workdays[3]!) : hourOf(`${workdays[1]}${workdays[3]}`);
        expect(instantsOf(CronExpression[name], 6).map(Number)).toEqual(
          [1, 2, 3, 4, 5, 8].map((day) => Date.UTC(2029, 0, day, hour, Number(workdays[2] ?? 0))),
        );
      });
    }

    const between = /^EVERY_30_MINUTES_BETWEEN_(\w+)_AND_(\w+)$/.exec(name);
    if (between !== null) {
      tested.add(name);
      test(name, () => {
        const [from, to] = [hourOf(between[1]!), hourOf(between[2]!)];
        const day = instantsOf(CronExpression[name], 2 * (to - from) + 1).map(Number);
        expect(day[0]).toBe(Date.UTC(2029, 0, 1, from));
        expect(day.at(-2)).toBe(Date.UTC(2029, 0, 1, to) - 30 * 60_000);
        expect(day.at(-1)).toBe(Date.UTC(2029, 0, 2, from));
      });
    }
  }

  const others: Partial<Record<keyof typeof CronExpression, readonly string[]>> = {
    EVERY_2ND_HOUR: ['2029-01-01T00:00', '2029-01-01T02:00', '2029-01-01T04:00'],
    EVERY_2ND_HOUR_FROM_1AM_THROUGH_11PM: ['2029-01-01T01:00', '2029-01-01T03:00', '2029-01-01T05:00'],
    EVERY_WEEK: ['2029-01-07T00:00', '2029-01-14T00:00'],
    EVERY_WEEKDAY: [1, 2, 3, 4, 5, 8].map((day) => `2029-01-0${day}T00:00`),
    EVERY_WEEKEND: ['2029-01-06T00:00', '2029-01-07T00:00', '2029-01-13T00:00', '2029-01-14T00:00'],
    EVERY_1ST_DAY_OF_MONTH_AT_MIDNIGHT: ['2029-01-01T00:00', '2029-02-01T00:00'],
    EVERY_1ST_DAY_OF_MONTH_AT_NOON: ['2029-01-01T12:00', '2029-02-01T12:00'],
    EVERY_2ND_MONTH: ['2029-01-01T00:00', '2029-03-01T00:00', '2029-05-01T00:00'],
    EVERY_QUARTER: ['2029-01-01T00:00', '2029-04-01T00:00', '2029-07-01T00:00', '2029-10-01T00:00', '2030-01-01T00:00'],
    EVERY_6_MONTHS: ['2029-01-01T00:00', '2029-07-01T00:00', '2030-01-01T00:00'],
    EVERY_YEAR: ['2029-01-01T00:00', '2030-01-01T00:00'],
  };
  for (const [name, instants] of Object.entries(others)) {
    tested.add(name);
    test(name, () => {
      expect(readable(instantsOf(CronExpression[name as keyof typeof CronExpression], instants.length))).toEqual(
        instants,
      );
    });
  }
});

test('every constant has such a test', () => {
  expect(names.filter((name) => !tested.has(name))).toEqual([]);
});

test('the hourly constants leave out and double no hour where clocks change', () => {
  for (const from of ['2026-03-08T05:30:00Z', '2026-11-01T04:30:00Z']) {
    const schedule = cronSchedule(CronExpression.EVERY_HOUR, { timeZone: 'America/New_York' });
    const instants = upcoming(schedule, Date.parse(from), 6).map(Number);
    expect(stepsBetween(instants)).toEqual(new Array(5).fill(3_600_000));
  }
});
