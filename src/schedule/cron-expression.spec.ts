import { describe, expect, test } from '@jest/globals';
import { cronSchedule } from './cron-schedule.js';
import type { Schedule } from './schedule.js';
import { CronExpressionError } from './schedule-error.js';
import { upcoming } from './upcoming.js';

function refusal(expression: unknown, options = {}): CronExpressionError {
  try {
    cronSchedule(expression as string, options);
  } catch (error) {
    if (error instanceof CronExpressionError) return error;
    throw error;
  }
  throw new Error(`${expression} was accepted`);
}

const from2026 = (schedule: Schedule, count: number) =>
  upcoming(schedule, Date.UTC(2026, 0, 1) - 1, count).map((date) => date.toISOString().replace(/(:00)?\.000Z$/, ''));

describe('an expression is refused', () => {
  test.each([
    ['it is missing', undefined, undefined, 0, 'it is not a string'],
    ['it is null', null, undefined, 0, 'it is not a string'],
    ['it is a number', 5, undefined, 0, 'it is not a string'],
    ['it is empty', '', undefined, 0, 'it is empty'],
    ['it is blank', '   ', undefined, 0, 'it is empty'],
    ['it has one field', '*', undefined, 1, 'it has 1 field'],
    ['it has four fields', '* * * *', undefined, 7, 'it has 4 fields'],
    ['it has seven fields', '0 0 0 1 1 * 2030', undefined, 12, 'it has 7 fields'],
    ['a step is above its range', '*/90 * * * *', 'minute', 0, 'the step 90 is above its range of 60 values'],
    ['a step of hours is above its range', '0 */25 * * *', 'hour', 2, 'the step 25 is above its range of 24 values'],
    [
      'a step of weekdays is above its range',
      '0 0 * * */8',
      'day-of-week',
      8,
      'the step 8 is above its range of 7 values',
    ],
    ['a step is above its own range', '10-19/11 * * * *', 'minute', 0, 'the step 11 is above its range of 10 values'],
    ['a step is zero', '*/0 * * * *', 'minute', 0, 'a step of 0 never moves on'],
    ['a range runs backwards', '10-5 * * * * *', 'second', 0, 'the range 10-5 runs backwards'],
    ['a range of weekdays runs backwards', '0 0 * * FRI-MON', 'day-of-week', 8, 'the range FRI-MON runs backwards'],
    ['an item is empty', '1,,2 * * * *', 'minute', 2, 'an item of the list is empty'],
    ['the last item is empty', '0 1, * * *', 'hour', 4, 'an item of the list is empty'],
    ['names are joined by another character', '0 0 * * MON_FRI', 'day-of-week', 8, '"MON_FRI" is not understood'],
    ['a name is too long', '0 0 * * MONDAY', 'day-of-week', 8, '"MONDAY" is not understood'],
    ['a name is of another field', '0 0 * * JAN', 'day-of-week', 8, '"JAN" is not understood'],
    ['a name is in a field without names', 'MON * * * *', 'minute', 0, '"MON" is not understood'],
    ['a number is hexadecimal', '0x5 * * * *', 'minute', 0, '"0x5" is not understood'],
    ['a number has a fraction', '1.5 * * * *', 'minute', 0, '"1.5" is not understood'],
    ['a number is negative', '-5 * * * *', 'minute', 0, '"-5" is not understood'],
    ['a number has a sign', '+5 * * * *', 'minute', 0, '"+5" is not understood'],
    ['a number is in exponent form', '1e1 * * * *', 'minute', 0, '"1e1" is not understood'],
    ['a range has three ends', '1-2-3 * * * *', 'minute', 0, '"1-2-3" is not understood'],
    ['a step has a step', '*/2/3 * * * *', 'minute', 0, '"*/2/3" is not understood'],
    ['a step has no number', '*/ * * * *', 'minute', 0, '"*/" is not understood'],
    ['a star is part of a range', '*-5 * * * *', 'minute', 0, '"*-5" is not understood'],
    ['a minute is above 59', '60 * * * *', 'minute', 0, '60 is outside 0-59'],
    ['an hour is above 23', '0 24 * * *', 'hour', 2, '24 is outside 0-23'],
    ['a day is 0', '0 0 0 * *', 'day-of-month', 4, '0 is outside 1-31'],
    ['a day is above 31', '0 0 32 * *', 'day-of-month', 4, '32 is outside 1-31'],
    ['a month is 0', '0 0 1 0 *', 'month', 6, '0 is outside 1-12'],
    ['a month is above 12', '0 0 1 13 *', 'month', 6, '13 is outside 1-12'],
    ['a weekday is above 7', '0 0 * * 8', 'day-of-week', 8, '8 is outside 0-7'],
    ['a digit is not ASCII', '٥ * * * *', 'minute', 0, '"٥" is not understood'],
    ['a blank is a no-break space', '0\u00a09 * * * *', 'minute', 0, '"0\u00a09" is not understood'],
    ['no year has its date', '0 0 30 2 *', 'day-of-month', 4, 'no year has such a day'],
    ['none of its months has its date', '0 0 31 4,6,9,11 *', 'day-of-month', 4, 'no year has such a day'],
    [
      'none of its months is long enough for the day before the last',
      '0 0 L-29 2 *',
      'day-of-month',
      4,
      'no year has such a day',
    ],
    ['a fifth weekday is a sixth', '0 0 * * FRI#6', 'day-of-week', 8, '"#6" is outside 1-5'],
    ['a weekday has no number of its own', '0 0 * * FRI#0', 'day-of-week', 8, '"#0" is outside 1-5'],
    ['"L" has no weekday', '0 0 * * L', 'day-of-week', 8, '"L" has no weekday'],
    ['"L" is in a field without it', '0 L * * *', 'hour', 2, '"L" is not understood'],
    ['"W" has a range', '0 0 1-5W * *', 'day-of-month', 4, '"1-5W" is not understood'],
    ['a nearest weekday is of no day', '0 0 32W * *', 'day-of-month', 4, '32 is outside 1-31'],
    ['no month is so long', '0 0 L-31 * *', 'day-of-month', 4, 'no month has a day 31 days before its last'],
    ['"?" is in a time field', '? * * * *', 'minute', 0, '"?" stands alone, in a day field'],
    ['"?" has a step', '0 0 ?/2 * *', 'day-of-month', 4, '"?" stands alone, in a day field'],
    ['a macro is unknown', '@fortnightly', undefined, 0, '"@fortnightly" is unknown'],
    ['a macro is in capitals', '@DAILY', undefined, 0, '"@DAILY" is unknown'],
    ['it asks for the start of the process', '@reboot', undefined, 0, '"@reboot" is unknown'],
    ['something follows a macro', '@daily 5', undefined, 7, '"5" follows a whole expression'],
    ['@every has no duration', '@every', undefined, 6, '@every has no duration'],
    ['@every has no unit', '@every 90', undefined, 7, '"90" is no duration'],
    ['@every is zero', '@every 0s', undefined, 7, '"0s" is no duration'],
    ['@every is less than a millisecond', '@every 0.5ms', undefined, 7, '"0.5ms" is no duration'],
    ['@every has two durations', '@every 1h 30m', undefined, 10, '"30m" follows a whole expression'],
    ['"H" has no entry key', 'H * * * *', 'minute', 0, '"H" needs an entry key to be spread by'],
    ['only a zone is given', 'TZ=Europe/Berlin', undefined, 16, 'nothing follows the time zone'],
    ['the fault is in the last of a list', '0 9,12,25 * * *', 'hour', 7, '25 is outside 0-23'],
    ['the fault is after a zone', 'TZ=UTC 0 24 * * *', 'hour', 9, '24 is outside 0-23'],
  ])('when %s', (_, expression, field, position, reason) => {
    const error = refusal(expression);
    expect({ ...error, reason: error.reason }).toMatchObject({
      code: 'EXPRESSION_INVALID',
      expression,
      field,
      position,
      reason,
    });
    expect(error.message).toContain(reason);
  });

  test('when it is longer than any expression can need, without showing it whole', () => {
    const error = refusal('0,'.repeat(600));
    expect(error.reason).toBe('it is 1200 characters long');
    expect(error.message.length).toBeLessThan(300);
  });

  test('when it comes from an environment variable that is not set, with the hint to look there', () => {
    expect(refusal(undefined).hint).toBe('Is the environment variable that it comes from set?');
    expect(refusal('').hint).toContain('environment variable');
  });

  test('when a range runs backwards, with the two ranges that it stands for', () => {
    expect(refusal('0 0 * * FRI-MON').hint).toBe('Write it as two: "FRI-7,0-MON".');
    expect(from2026(cronSchedule('0 0 * * FRI-7,0-MON'), 4)).toEqual([
      '2026-01-02T00:00',
      '2026-01-03T00:00',
      '2026-01-04T00:00',
      '2026-01-05T00:00',
    ]);
  });

  test('when both day fields must match and never do', () => {
    expect(refusal('0 0 30 2 1', { dayMatch: 'and' }).reason).toBe('no year has such a day');
    expect(refusal('0 0 8 * 1#1', { dayMatch: 'and' }).reason).toBe('no year has such a day');
  });

  test('in microseconds, an impossible date too', () => {
    refusal('0 0 30 2 *');
    const started = performance.now();
    for (let index = 0; index < 1000; index++) refusal('0 0 30 2 *');
    expect(performance.now() - started).toBeLessThan(1000);
  });
});

describe('an expression is read', () => {
  test.each([
    ['five fields are on the minute', '30 9 * * *', ['2026-01-01T09:30', '2026-01-02T09:30']],
    ['six fields begin with seconds', '15 30 9 * * *', ['2026-01-01T09:30:15', '2026-01-02T09:30:15']],
    [
      'a step begins at the start of its range',
      '10-40/15 0 * * *',
      ['2026-01-01T00:10', '2026-01-01T00:25', '2026-01-01T00:40', '2026-01-02T00:10'],
    ],
    [
      'a step from a value goes to the end',
      '50/5 0 * * *',
      ['2026-01-01T00:50', '2026-01-01T00:55', '2026-01-02T00:50'],
    ],
    ['a step may name one value of a whole field', '*/60 */24 * * *', ['2026-01-01T00:00', '2026-01-02T00:00']],
    [
      'a step from a weekday may end on Sunday',
      '0 0 * * 5/2',
      ['2026-01-02T00:00', '2026-01-04T00:00', '2026-01-09T00:00'],
    ],
    [
      'lists may overlap',
      '0,0-1,*/30 0 * * *',
      ['2026-01-01T00:00', '2026-01-01T00:01', '2026-01-01T00:30', '2026-01-02T00:00'],
    ],
    ['numbers may have a leading zero', '05 07 * * *', ['2026-01-01T07:05', '2026-01-02T07:05']],
    ['names are months and weekdays', '0 0 * FEB-MAR Mon', ['2026-02-02T00:00', '2026-02-09T00:00']],
    ['7 is Sunday', '0 0 * * 7', ['2026-01-04T00:00', '2026-01-11T00:00']],
    ['0 and 7 are one Sunday', '0 0 * * 0,7', ['2026-01-04T00:00', '2026-01-11T00:00']],
    ['a range may end in 7', '0 0 * * 6-7', ['2026-01-03T00:00', '2026-01-04T00:00', '2026-01-10T00:00']],
    ['"?" is "*"', '0 0 ? * 1', ['2026-01-05T00:00', '2026-01-12T00:00']],
    ['both day fields may be "?"', '0 0 ? * ?', ['2026-01-01T00:00', '2026-01-02T00:00']],
    ['"L" is the last day', '0 0 L * *', ['2026-01-31T00:00', '2026-02-28T00:00', '2026-03-31T00:00']],
    ['"L-2" is two days before it', '0 0 L-2 * *', ['2026-01-29T00:00', '2026-02-26T00:00', '2026-03-29T00:00']],
    [
      '"LW" is the last Monday-to-Friday day',
      '0 0 LW * *',
      ['2026-01-30T00:00', '2026-02-27T00:00', '2026-03-31T00:00'],
    ],
    [
      '"15W" is the Monday-to-Friday day nearest to the 15th',
      '0 0 15W * *',
      ['2026-01-15T00:00', '2026-02-16T00:00', '2026-03-16T00:00'],
    ],
    [
      '"1W" stays in its month',
      '0 0 1W * *',
      [
        '2026-01-01T00:00',
        '2026-02-02T00:00',
        '2026-03-02T00:00',
        '2026-04-01T00:00',
        '2026-05-01T00:00',
        '2026-06-01T00:00',
        '2026-07-01T00:00',
        '2026-08-03T00:00',
      ],
    ],
    [
      '"31W" is in months with a 31st alone',
      '0 0 31W * *',
      ['2026-01-30T00:00', '2026-03-31T00:00', '2026-05-29T00:00'],
    ],
    ['"FRI#3" is the third Friday', '0 0 * * FRI#3', ['2026-01-16T00:00', '2026-02-20T00:00']],
    ['"5#5" is in months with five', '0 0 * * 5#5', ['2026-01-30T00:00', '2026-05-29T00:00']],
    ['"7#1" is the first Sunday', '0 0 * * 7#1', ['2026-01-04T00:00', '2026-02-01T00:00']],
    ['"FRIL" is the last Friday', '0 0 * * FRIL', ['2026-01-30T00:00', '2026-02-27T00:00']],
    ['"0L" is the last Sunday', '0 0 * * 0L', ['2026-01-25T00:00', '2026-02-22T00:00']],
    [
      'special days may be listed',
      '0 0 L,1W,10 * *',
      ['2026-01-01T00:00', '2026-01-10T00:00', '2026-01-31T00:00', '2026-02-02T00:00'],
    ],
    [
      'special weekdays may be listed',
      '0 0 * * 1#1,FRIL,WED',
      [
        '2026-01-05T00:00',
        '2026-01-07T00:00',
        '2026-01-14T00:00',
        '2026-01-21T00:00',
        '2026-01-28T00:00',
        '2026-01-30T00:00',
      ],
    ],
    [
      'both day fields may list special days',
      '0 0 L,1 * 1#1,FRI#2',
      ['2026-01-01T00:00', '2026-01-05T00:00', '2026-01-09T00:00', '2026-01-31T00:00'],
    ],
    ['letters may be small', '0 0 l * fri#1', ['2026-01-02T00:00', '2026-01-31T00:00']],
    ['fields may be apart by any blanks', '  0\t9   * * *\n', ['2026-01-01T09:00', '2026-01-02T09:00']],
    ['@yearly', '@yearly', ['2026-01-01T00:00', '2027-01-01T00:00']],
    ['@annually', '@annually', ['2026-01-01T00:00', '2027-01-01T00:00']],
    ['@monthly', '@monthly', ['2026-01-01T00:00', '2026-02-01T00:00']],
    ['@weekly', '@weekly', ['2026-01-04T00:00', '2026-01-11T00:00']],
    ['@daily', '@daily', ['2026-01-01T00:00', '2026-01-02T00:00']],
    ['@midnight', '@midnight', ['2026-01-01T00:00', '2026-01-02T00:00']],
    ['@hourly', '@hourly', ['2026-01-01T00:00', '2026-01-01T01:00']],
    ['@minutely', '@minutely', ['2026-01-01T00:00', '2026-01-01T00:01']],
    ['@secondly', '@secondly', ['2026-01-01T00:00', '2026-01-01T00:00:01']],
    ['@weekdays', '@weekdays', ['2026-01-01T00:00', '2026-01-02T00:00', '2026-01-05T00:00']],
    ['@weekends', '@weekends', ['2026-01-03T00:00', '2026-01-04T00:00', '2026-01-10T00:00']],
    ['@every is aligned to the epoch', '@every 90s', ['2026-01-01T00:00', '2026-01-01T00:01:30', '2026-01-01T00:03']],
    ['@every may be longer than a day', '@every 2d', ['2026-01-01T00:00', '2026-01-03T00:00']],
    ['TZ= names the zone', 'TZ=Europe/Berlin 0 9 * * *', ['2026-01-01T08:00', '2026-01-02T08:00']],
    ['CRON_TZ= names the zone', 'CRON_TZ=Asia/Tokyo @daily', ['2026-01-01T15:00', '2026-01-02T15:00']],
  ])('%s: %s', (_, expression, instants) => {
    expect(from2026(cronSchedule(expression), instants.length)).toEqual(instants);
  });

  test('a day matches by either day field, or by both where asked', () => {
    expect(from2026(cronSchedule('0 0 13 * FRI'), 3)).toEqual([
      '2026-01-02T00:00',
      '2026-01-09T00:00',
      '2026-01-13T00:00',
    ]);
    expect(from2026(cronSchedule('0 0 13 * FRI', { dayMatch: 'and' }), 2)).toEqual([
      '2026-02-13T00:00',
      '2026-03-13T00:00',
    ]);
  });

  test('a day field with a step is not "*": it takes part in the either-or', () => {
    expect(from2026(cronSchedule('0 0 */10 * MON'), 3)).toEqual([
      '2026-01-01T00:00',
      '2026-01-05T00:00',
      '2026-01-11T00:00',
    ]);
    expect(from2026(cronSchedule('0 0 1 * *,MON'), 2)).toEqual(['2026-01-01T00:00', '2026-01-02T00:00']);
  });
});

describe('H', () => {
  const minutesOf = (expression: string, entryKey: string, count: number) =>
    upcoming(cronSchedule(expression, { entryKey }), Date.UTC(2026, 0, 1) - 1, count).map((date) =>
      date.getUTCMinutes(),
    );

  test('is the same for a key for ever, and another for other keys', () => {
    const instants = ['daily-report', 'invoice-run', 'stock-count'].map((entryKey) =>
      from2026(cronSchedule('H H * * *', { entryKey }), 1),
    );
    // These are pinned: a release that changed them would move every entry with H.
    expect(instants.flat()).toEqual(['2026-01-01T05:23', '2026-01-01T18:42', '2026-01-01T15:05']);
  });

  test('is spread evenly over the keys of a fleet', () => {
    const counts = new Array<number>(60).fill(0);
    for (let index = 0; index < 6000; index++) counts[minutesOf('H * * * *', `entry-${index}`, 1)[0]!]!++;
    expect(Math.min(...counts)).toBeGreaterThan(60);
    expect(Math.max(...counts)).toBeLessThan(145);
  });

  test('of one field says nothing about another', () => {
    const pairs = new Set(
      Array.from(
        { length: 200 },
        (_, index) => from2026(cronSchedule('H H * * *', { entryKey: `entry-${index}` }), 1)[0],
      ),
    );
    expect(pairs.size).toBeGreaterThan(170);
  });

  test('stays in its range, and steps through it', () => {
    for (let index = 0; index < 50; index++) {
      const entryKey = `entry-${index}`;
      const [minute] = minutesOf('H(10-19) * * * *', entryKey, 1);
      expect(minute).toBeGreaterThanOrEqual(10);
      expect(minute).toBeLessThanOrEqual(19);
      const [first, second, third, fourth] = minutesOf('H/15 * * * *', entryKey, 4);
      expect(first).toBeLessThan(15);
      expect([second, third, fourth]).toEqual([first! + 15, first! + 30, first! + 45]);
      expect(minutesOf('H(0-29)/10 * * * *', entryKey, 3).every((value) => value < 30)).toBe(true);
    }
  });

  test('may be a Sunday by either number', () => {
    expect(from2026(cronSchedule('0 0 * * H(7-7)', { entryKey: 'report' }), 1)).toEqual(['2026-01-04T00:00']);
    expect(from2026(cronSchedule('0 0 * * H(0-0)', { entryKey: 'report' }), 1)).toEqual(['2026-01-04T00:00']);
  });

  test('alone as a day is one that every month has', () => {
    for (let index = 0; index < 100; index++) {
      const instants = upcoming(
        cronSchedule('0 0 H * *', { entryKey: `entry-${index}` }),
        Date.UTC(2026, 0, 1) - 1,
        12,
      );
      expect(instants.map((date) => date.getUTCMonth())).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
    }
  });

  test.each([
    ['H/0 * * * *', 'a step of 0 never moves on'],
    ['H/61 * * * *', 'the step 61 is above its range of 60 values'],
    ['H(5-3) * * * *', 'the range 5-3 runs backwards'],
    ['H(0-60) * * * *', '60 is outside 0-59'],
    ['H(5) * * * *', '"H(5)" is not understood'],
    ['H5 * * * *', '"H5" is not understood'],
  ])('is refused in %s: %s', (expression, reason) => {
    expect(refusal(expression, { entryKey: 'report' }).reason).toBe(reason);
  });
});
