import { describe, expect, test } from '@jest/globals';
import { cronSchedule } from './cron-schedule.js';
import { CronExpressionError, ScheduleError, TimeZoneError } from './schedule-error.js';
import { upcoming } from './upcoming.js';

const instant = (text: string) => Date.parse(text);
const after = (expression: string, from: string, options = {}) => {
  const next = cronSchedule(expression, options).next(instant(from));
  return next === null ? null : new Date(next).toISOString();
};

describe('the zone of a cron schedule', () => {
  test('is UTC where none is named', () => {
    expect(cronSchedule('0 9 * * *').timeZone).toBe('UTC');
    expect(after('0 9 * * *', '2026-01-01T00:00:00Z')).toBe('2026-01-01T09:00:00.000Z');
  });

  test('is the default zone where neither option nor prefix names one', () => {
    const options = { defaultTimeZone: 'Asia/Tokyo' };
    expect(after('0 9 * * *', '2026-01-01T12:00:00Z', options)).toBe('2026-01-02T00:00:00.000Z');
    expect(after('TZ=UTC 0 9 * * *', '2026-01-01T00:00:00Z', options)).toBe('2026-01-01T09:00:00.000Z');
    expect(after('0 9 * * *', '2026-01-01T00:00:00Z', { ...options, timeZone: 'UTC' })).toBe(
      '2026-01-01T09:00:00.000Z',
    );
  });

  test('is refused where it is named twice', () => {
    for (const expression of ['TZ=UTC 0 9 * * *', ' CRON_TZ=Asia/Tokyo 0 9 * * *']) {
      expect(() => cronSchedule(expression, { timeZone: 'UTC' })).toThrow(CronExpressionError);
      expect(() => cronSchedule(expression, { timeZone: 'UTC' })).toThrow('Give the zone in one place.');
    }
  });

  test('is refused where it is null, which a configuration gives by mistake', () => {
    expect(() => cronSchedule('0 9 * * *', { timeZone: null as unknown as string })).toThrow(TimeZoneError);
  });

  test.each(['Europe/Nowhere', '+25:00', ''])('is refused where it is unknown: "%s"', (timeZone) => {
    expect(() => cronSchedule('0 9 * * *', { timeZone })).toThrow(TimeZoneError);
    expect(() => cronSchedule('0 9 * * *', { defaultTimeZone: timeZone })).toThrow(TimeZoneError);
    expect(() => cronSchedule(`TZ=${timeZone} 0 9 * * *`)).toThrow(`Time zone "${timeZone}" is unknown.`);
  });
});

describe('a gap', () => {
  test.each([
    [
      '20 minutes or any others below three hours fire once, at the end',
      'Africa/Monrovia',
      '10,20,40 0 7 1 *',
      '1972-01-06T12:00:00Z',
      ['1972-01-07T00:44:30.000Z', '1973-01-07T00:10:00.000Z'],
    ],
    [
      'two hours fire once, at the end',
      'Antarctica/Troll',
      '10,50 1,2 * * *',
      '2026-03-29T00:00:00Z',
      ['2026-03-29T01:00:00.000Z', '2026-03-29T23:10:00.000Z'],
    ],
    [
      'three hours make nothing up',
      'Antarctica/Casey',
      '30 3 * * *',
      '2009-10-17T12:00:00Z',
      ['2009-10-18T16:30:00.000Z'],
    ],
    [
      'a whole day makes nothing up',
      'Pacific/Apia',
      '0 12 * * *',
      '2011-12-29T20:00:00Z',
      ['2011-12-29T22:00:00.000Z', '2011-12-30T22:00:00.000Z'],
    ],
  ])('of %s', (_, timeZone, expression, from, instants) => {
    const schedule = cronSchedule(expression, { timeZone });
    expect(upcoming(schedule, instant(from), instants.length).map((date) => date.toISOString())).toEqual(instants);
  });

  test('that is made up for does not move the fires after it', () => {
    const schedule = cronSchedule('30 2 * * *', { timeZone: 'America/New_York' });
    expect(schedule.next(instant('2026-03-08T07:00:00Z'))).toBe(instant('2026-03-09T06:30:00Z'));
    expect(schedule.previous!(instant('2026-03-08T07:00:00Z'))).toBe(instant('2026-03-07T07:30:00Z'));
    expect(schedule.previous!(instant('2026-03-08T07:00:01Z'))).toBe(instant('2026-03-08T07:00:00Z'));
  });
});

describe('an expression follows elapsed time', () => {
  const options = { timeZone: 'America/New_York' };
  const insideRepeat = '2026-11-01T05:45:00Z';

  test('when its minute field starts with a star', () => {
    expect(after('*/30 1 * * *', insideRepeat, options)).toBe('2026-11-01T06:00:00.000Z');
    expect(after('*/30 1 * * *', insideRepeat, { ...options, dst: 'skip' })).toBe('2026-11-01T06:00:00.000Z');
  });

  test('when its hour field starts with a star', () => {
    expect(after('30 */1 * * *', insideRepeat, options)).toBe('2026-11-01T06:30:00.000Z');
  });

  test('not when a star is elsewhere', () => {
    expect(after('0,30 0-23/1 * * *', insideRepeat, options)).toBe('2026-11-01T07:00:00.000Z');
    expect(after('* 0 1 * * *', insideRepeat, options)).toBe('2026-11-02T06:00:00.000Z');
  });
});

describe('a cron schedule', () => {
  test('knows the offset of an instant beyond the years that were looked at before', () => {
    // No other test asks about this zone, so its summer of 2028 is not known yet.
    const schedule = cronSchedule('0 12 1 7 *', { timeZone: 'Europe/Oslo' });
    expect(schedule.next(instant('2027-11-15T00:00:00Z'))).toBe(instant('2028-07-01T10:00:00Z'));
    expect(schedule.previous!(instant('2024-02-15T00:00:00Z'))).toBe(instant('2023-07-01T10:00:00Z'));
  });

  test('has the same next instant for a replica that was up for a month and one that booted in the repeated hour', () => {
    const schedule = cronSchedule('*/20 1 * * *', { timeZone: 'America/New_York' });
    const walked = upcoming(schedule, instant('2026-10-02T00:00:00Z'), 100).map(Number);
    const booted = instant('2026-11-01T06:10:00Z');
    expect(schedule.next(booted)).toBe(walked.find((instantMs) => instantMs > booted));
  });

  test('answers from 1970 to 2200', () => {
    const schedule = cronSchedule('0 0 1 1 *');
    expect(schedule.next(-1)).toBe(0);
    expect(schedule.next(-1e18)).toBe(0);
    expect(schedule.next(-Infinity)).toBe(0);
    expect(schedule.previous!(0)).toBeNull();
    expect(schedule.previous!(1)).toBe(0);
    expect(schedule.next(instant('2199-06-01T00:00:00Z'))).toBe(instant('2200-01-01T00:00:00Z'));
    expect(schedule.next(instant('2200-01-01T00:00:00Z'))).toBeNull();
    expect(schedule.next(1e18)).toBeNull();
    expect(schedule.next(Infinity)).toBeNull();
    expect(schedule.previous!(Infinity)).toBe(instant('2200-01-01T00:00:00Z'));
  });

  test.each(['America/New_York', 'Pacific/Kiritimati', 'Pacific/Apia', 'Africa/Monrovia'])(
    'answers from 1970 to 2200 in %s',
    (timeZone) => {
      for (const dst of ['vixie', 'literal'] as const) {
        const schedule = cronSchedule('* * * * *', { timeZone, dst });
        const first = schedule.next(-Infinity)!;
        expect(first).toBeGreaterThanOrEqual(0);
        expect(first).toBeLessThan(60_000);
        expect(schedule.previous!(first)).toBeNull();
        expect(schedule.previous!(Infinity)).toBe(instant('2200-12-31T23:59:00Z'));
        expect(schedule.next(instant('2200-12-31T23:59:00Z'))).toBeNull();
      }
    },
  );

  test('refuses NaN, which would look like its end', () => {
    expect(() => cronSchedule('* * * * *').next(Number.NaN)).toThrow(ScheduleError);
    expect(() => cronSchedule('* * * * *').previous!(Number.NaN)).toThrow(ScheduleError);
    expect(() => cronSchedule('* * * * *', { timeZone: 'Europe/Berlin' }).next(Number.NaN)).toThrow(ScheduleError);
  });

  test('has whole seconds, whatever fraction it is asked about', () => {
    const schedule = cronSchedule('* * * * * *');
    expect(schedule.next(1000.5)).toBe(2000);
    expect(schedule.next(1999)).toBe(2000);
    expect(schedule.next(999.9)).toBe(1000);
    expect(schedule.previous!(1000.5)).toBe(1000);
    expect(schedule.previous!(1000)).toBe(0);
  });

  test('walks backwards to the latest instant before the question', () => {
    const everyTwentyAtHalf = cronSchedule('30 */20 * * * *');
    expect(everyTwentyAtHalf.previous!(instant('2026-01-01T00:20:10Z'))).toBe(instant('2026-01-01T00:00:30Z'));
    expect(everyTwentyAtHalf.previous!(instant('2026-01-01T00:20:31Z'))).toBe(instant('2026-01-01T00:20:30Z'));
    expect(everyTwentyAtHalf.previous!(instant('2026-01-01T00:00:30Z'))).toBe(instant('2025-12-31T23:40:30Z'));
    // Asked at the second 01:30, where 01:50 has been in the first pass already.
    const once = cronSchedule('50 1 * * *', { timeZone: 'America/New_York' });
    expect(once.previous!(instant('2026-11-01T06:30:00Z'))).toBe(instant('2026-11-01T05:50:00Z'));
    const twice = cronSchedule('50 1 * * *', { timeZone: 'America/New_York', dst: 'literal' });
    expect(twice.previous!(instant('2026-11-01T06:30:00Z'))).toBe(instant('2026-11-01T05:50:00Z'));
    expect(twice.previous!(instant('2026-11-01T12:00:00Z'))).toBe(instant('2026-11-01T06:50:00Z'));
    // Asked days later, so that the spans between are passed over.
    const yearly = cronSchedule('50 1 1 11 *', { timeZone: 'America/New_York', dst: 'literal' });
    expect(yearly.previous!(instant('2027-06-01T00:00:00Z'))).toBe(instant('2026-11-01T06:50:00Z'));
    expect(yearly.previous!(instant('2026-11-01T06:50:00Z'))).toBe(instant('2026-11-01T05:50:00Z'));
  });

  test('finds a leap day over a century without one', () => {
    expect(after('0 0 29 2 *', '2096-03-01T00:00:00Z')).toBe('2104-02-29T00:00:00.000Z');
    expect(after('0 0 29 2 *', '2096-03-01T00:00:00Z', { timeZone: 'Europe/Berlin' })).toBe('2104-02-28T23:00:00.000Z');
    const schedule = cronSchedule('0 0 29 2 *');
    expect(schedule.previous!(instant('2104-02-29T00:00:00Z'))).toBe(instant('2096-02-29T00:00:00Z'));
  });

  test('finds the leap day that is a Monday, forty years away', () => {
    const options = { dayMatch: 'and' };
    expect(after('0 0 0 29 2 1', '2072-03-01T00:00:00Z', options)).toBe('2112-02-29T00:00:00.000Z');
    const schedule = cronSchedule('0 0 0 29 2 1', { dayMatch: 'and' });
    expect(schedule.previous!(instant('2112-02-29T00:00:00Z'))).toBe(instant('2072-02-29T00:00:00Z'));
  });

  test('that only ever falls into a gap ends, and does not search for ever', () => {
    // The second Sunday of March at 02:30 has not existed in New York since 2007.
    const schedule = cronSchedule('30 2 8-14 3 0', { timeZone: 'America/New_York', dst: 'skip', dayMatch: 'and' });
    expect(schedule.next(instant('2007-01-01T00:00:00Z'))).toBeNull();
    expect(schedule.previous!(instant('2200-01-01T00:00:00Z'))).toBe(instant('2006-03-12T07:30:00Z'));
  });
});

describe('the same question gives the same object', () => {
  test('for the same text, zone and policies, written or left out', () => {
    const schedule = cronSchedule('0 9 * * *');
    expect(cronSchedule('0 9 * * *')).toBe(schedule);
    expect(cronSchedule('0 9 * * *', { timeZone: 'Etc/UTC', dst: 'vixie', dayMatch: 'or' })).toBe(schedule);
    expect(cronSchedule('0 9 * * *', { entryKey: 'report' })).toBe(schedule);
    expect(cronSchedule('0 9 * * *', { timeZone: 'Asia/Tokyo' })).not.toBe(schedule);
    expect(cronSchedule('0 9 * * *', { dst: 'skip' })).not.toBe(schedule);
  });

  test('for keys that H spreads to the same place', () => {
    const schedules = Array.from({ length: 200 }, (_, index) =>
      cronSchedule('H * * * *', { entryKey: `entry-${index}` }),
    );
    expect(new Set(schedules).size).toBeLessThanOrEqual(60);
    expect(new Set(schedules).size).toBeGreaterThan(50);
    expect(new Set(schedules.map((schedule) => schedule.fingerprint)).size).toBe(new Set(schedules).size);
  });
});

describe('the fingerprint', () => {
  const fingerprint = (expression: string, options = {}) => cronSchedule(expression, options).fingerprint;

  test.each([
    ['0 9 * * MON-FRI', '0 0 9 ? JAN-DEC 1,2,3,4,5'],
    ['0,30 * * * *', '*/30 * * * *'],
    ['@daily', '00 00 * * *'],
    ['0 0 * * 0', '0 0 * * SUN,7'],
  ])('of %s is that of %s', (one, other) => {
    expect(fingerprint(one)).toBe(fingerprint(other));
  });

  test('differs where instants do', () => {
    const all = [
      fingerprint('0 9 * * *'),
      fingerprint('0 9 * * 1'),
      fingerprint('0 9 1 * *'),
      fingerprint('0 9 1 * 1'),
      fingerprint('0 9 1 * 1', { dayMatch: 'and' }),
      fingerprint('0 9 1 2 *'),
      fingerprint('0 9 L * *'),
      fingerprint('0 9 L-1 * *'),
      fingerprint('0 9 LW * *'),
      fingerprint('0 9 1W * *'),
      fingerprint('0 9 * * 1#1'),
      fingerprint('0 9 * * 1#5'),
      fingerprint('0 9 * * 1L'),
      fingerprint('0 9 * * *', { timeZone: 'Europe/Berlin' }),
      fingerprint('0 9 * * *', { timeZone: 'Europe/Berlin', dst: 'literal' }),
      fingerprint('0 9 * * *', { timeZone: 'Europe/Berlin', dst: 'skip' }),
      fingerprint('@every 90s'),
    ];
    expect(new Set(all).size).toBe(all.length);
  });

  test('knows that an expression follows elapsed time, where the zone has changes', () => {
    const options = { timeZone: 'Europe/Berlin' };
    expect(fingerprint('0 0-23 * * *', options)).not.toBe(fingerprint('0 * * * *', options));
    expect(fingerprint('0 0-23 * * *')).toBe(fingerprint('0 * * * *'));
    expect(fingerprint('0 * * * *', options)).toBe(fingerprint('0 * * * *', { ...options, dst: 'skip' }));
  });
});

test('the label is the expression as it was written', () => {
  expect(cronSchedule('0 9 * * MON-FRI').label).toBe('0 9 * * MON-FRI');
  expect(cronSchedule('@every 90s').label).toBe('@every 90s');
});

test('no two instants of an expression lie closer than a second', () => {
  expect(cronSchedule('* * * * * *').minIntervalMs).toBe(1000);
  expect(cronSchedule('@every 250ms').minIntervalMs).toBe(250);
});

test('an unknown policy is refused', () => {
  expect(() => cronSchedule('* * * * *', { dst: 'quartz' as 'skip' })).toThrow(ScheduleError);
  expect(() => cronSchedule('* * * * *', { dayMatch: 'xor' as 'or' })).toThrow(ScheduleError);
});
