import { describe, expect, test } from '@jest/globals';
import { PROOF_TIMEOUT_MS, proofZones, THOROUGH } from './proof.fixture.js';
import { TimeZoneError } from './schedule-error.js';
import { ZoneSpans, zoneSpans } from './zone-spans.js';

const HOUR_S = 3600;
const DAY_S = 86_400;
const second = (text: string) => Date.parse(text) / 1000;

/** The offset as `Intl` shows it in full, read by other means than the code under test. */
function shownOffsetS(timeZone: string, instantS: number): number {
  const parts = new Intl.DateTimeFormat('en-US', {
    timeZone,
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  }).formatToParts(instantS * 1000);
  const [month, day, year, hour, minute, seconds] = parts
    .filter(({ type }) => type !== 'literal')
    .map(({ value }) => Number(value)) as [number, number, number, number, number, number];
  return Date.UTC(year, month - 1, day, hour, minute, seconds) / 1000 - instantS;
}

function changesOf(timeZone: string, fromS: number, untilS: number): string[] {
  const spans = zoneSpans(timeZone);
  spans.cover(fromS);
  spans.cover(untilS);
  return spans.starts
    .map((startS, index) => ({ startS, changeS: spans.offsets[index]! - (spans.offsets[index - 1] ?? 0) }))
    .filter(({ startS }) => startS >= fromS && startS < untilS)
    .map(({ startS, changeS }) => `${new Date(startS * 1000).toISOString()} ${changeS / 60}`);
}

describe('the changes of a zone are found to the second', () => {
  test.each([
    ['Australia/Lord_Howe', 2026, 'half an hour', ['2026-04-04T15:00:00.000Z -30', '2026-10-03T15:30:00.000Z 30']],
    ['Europe/Berlin', 2026, 'an hour', ['2026-03-29T01:00:00.000Z 60', '2026-10-25T01:00:00.000Z -60']],
    ['Antarctica/Troll', 2026, 'two hours', ['2026-03-29T01:00:00.000Z 120', '2026-10-25T01:00:00.000Z -120']],
    ['Antarctica/Casey', 2009, 'three hours', ['2009-10-17T18:00:00.000Z 180']],
    [
      'Pacific/Apia',
      2011,
      'a day that was skipped',
      ['2011-04-02T14:00:00.000Z -60', '2011-09-24T14:00:00.000Z 60', '2011-12-30T10:00:00.000Z 1440'],
    ],
    [
      'America/Recife',
      2000,
      'a summer of a week',
      ['2000-02-27T02:00:00.000Z -60', '2000-10-08T03:00:00.000Z 60', '2000-10-15T02:00:00.000Z -60'],
    ],
    ['America/Caracas', 2007, 'half an hour for good', ['2007-12-09T07:00:00.000Z -30']],
    ['Asia/Singapore', 1981, 'half an hour at new year', ['1981-12-31T16:00:00.000Z 30']],
    ['Africa/Monrovia', 1972, 'forty-four minutes and a half', ['1972-01-07T00:44:30.000Z 44.5']],
    ['Asia/Kathmandu', 1985, 'a quarter of an hour', ['1985-12-31T18:30:00.000Z 15']],
    [
      'America/New_York',
      2199,
      'an hour, at the end of the years answered for',
      ['2199-03-10T07:00:00.000Z 60', '2199-11-03T06:00:00.000Z -60'],
    ],
    ['Asia/Tokyo', 2026, 'none', []],
  ])('%s in %i: %s', (timeZone, year, _, changes) => {
    expect(changesOf(timeZone, Date.UTC(year, 0, 1) / 1000, Date.UTC(year + 1, 0, 1) / 1000)).toEqual(changes);
  });
});

test('gaps of 20, 40 and other minutes are gaps of that length', () => {
  const gapsS = (timeZone: string, from: string) => {
    const spans = zoneSpans(timeZone);
    const index = spans.indexAt(second(from));
    return spans.wallClockStart(index) - spans.reached[index]!;
  };
  expect(gapsS('Europe/Berlin', '2026-03-29T01:00:00Z')).toBe(HOUR_S);
  expect(gapsS('Australia/Lord_Howe', '2026-10-03T15:30:00Z')).toBe(HOUR_S / 2);
  expect(gapsS('Africa/Monrovia', '1972-01-07T00:44:30Z')).toBe(2670);
  expect(gapsS('Pacific/Apia', '2011-12-30T10:00:00Z')).toBe(DAY_S);
  // Cook Islands, 1978: from -10:30 by an hour, later back by half an hour.
  expect(gapsS('Pacific/Rarotonga', '1978-11-12T10:30:00Z')).toBe(HOUR_S);
});

test('every zone shows the offsets that Intl shows', () => {
  let random = 12345;
  const next = (below: number) => {
    random = (Math.imul(random, 1103515245) + 12345) >>> 0;
    return random % below;
  };
  for (const timeZone of Intl.supportedValuesOf('timeZone')) {
    const spans = new ZoneSpans(timeZone, false);
    for (const year of THOROUGH ? [2027, 1971, 2060, 2021] : [2025]) {
      const instantS = Date.UTC(year, next(12), 1 + next(28), next(24), next(60)) / 1000;
      const shown = { timeZone, instantS, offsetS: spans.offsets[spans.indexAt(instantS)] };
      expect(shown).toEqual({ timeZone, instantS, offsetS: shownOffsetS(timeZone, instantS) });
    }
  }
});

test('what is known of a zone does not change with the order of the questions', () => {
  const asked = [2040, 1985, 2026, 2050, 1980, 2030].map((year) => Date.UTC(year, 5, 15) / 1000);
  for (const timeZone of ['America/New_York', 'Africa/Casablanca', 'Pacific/Apia']) {
    const forwards = new ZoneSpans(timeZone, false);
    const backwards = new ZoneSpans(timeZone, false);
    for (const instantS of asked) forwards.cover(instantS);
    for (const instantS of [...asked].reverse()) backwards.cover(instantS);
    expect(forwards.starts).toEqual(backwards.starts);
    expect(forwards.offsets).toEqual(backwards.offsets);
    expect(forwards.reached).toEqual(backwards.reached);
  }
});

describe('what the walk relies on, so that zone data which broke it would fail here first', () => {
  test(
    'the spans of a zone are longer than the changes at their ends',
    () => {
      for (const timeZone of proofZones()) {
        const spans = new ZoneSpans(timeZone, false);
        for (const year of THOROUGH ? [1970, 2199] : [1999, 2042]) spans.cover(Date.UTC(year, 5, 1) / 1000);
        for (let index = 1; index + 1 < spans.starts.length; index++) {
          expect(spans.starts[index + 1]! - spans.starts[index]!).toBeGreaterThan(6 * DAY_S);
          expect(Math.abs(spans.offsets[index]! - spans.offsets[index - 1]!)).toBeLessThanOrEqual(DAY_S);
        }
      }
    },
    PROOF_TIMEOUT_MS,
  );

  test(
    'no change of offset is missed: every day shows the offset of its span',
    () => {
      const [from, until] = THOROUGH ? [1970, 2100] : [2000, 2024];
      for (const timeZone of proofZones()) {
        const formatter = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset' });
        const spans = new ZoneSpans(timeZone, false);
        const wrong: string[] = [];
        for (let instantS = Date.UTC(from, 0, 1) / 1000; instantS < Date.UTC(until, 0, 1) / 1000; instantS += DAY_S) {
          const [, sign, hour, minute, seconds] = /GMT(?:(.)(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(
            formatter.format(instantS * 1000),
          )!;
          const sizeS = Number(hour ?? 0) * 3600 + Number(minute ?? 0) * 60 + Number(seconds ?? 0);
          if (spans.offsets[spans.indexAt(instantS)] !== (sign === '-' ? -sizeS : sizeS))
            wrong.push(`${timeZone} ${instantS}`);
        }
        expect(wrong).toEqual([]);
      }
    },
    PROOF_TIMEOUT_MS,
  );
});

describe('a zone', () => {
  test.each(['Europe/Nowhere', '+25:00', '+05:30', '-08:00', '', ' ', 'UTC ', 'GMT+5', 'local', 'constructor'])(
    '%p is refused by name',
    (timeZone) => {
      expect(() => zoneSpans(timeZone)).toThrow(TimeZoneError);
      expect(() => zoneSpans(timeZone)).toThrow(`Time zone "${timeZone}" is unknown.`);
    },
  );

  test('that is a fixed offset is refused with the name to write instead', () => {
    expect(() => zoneSpans('+05:00')).toThrow('"Etc/GMT-5" for five hours ahead of UTC');
  });

  test('that is no text is refused', () => {
    expect(() => zoneSpans(null as unknown as string)).toThrow(TimeZoneError);
  });

  test('is found once, whatever the case of its letters', () => {
    expect(zoneSpans('europe/berlin')).toBe(zoneSpans('Europe/Berlin'));
    expect(zoneSpans('europe/berlin').timeZone).toBe('Europe/Berlin');
  });

  test('keeps the name it was given where that is a link', () => {
    expect(zoneSpans('Asia/Kolkata').timeZone).toBe('Asia/Kolkata');
    expect(zoneSpans('Asia/Calcutta').timeZone).toBe('Asia/Calcutta');
  });

  test.each(['UTC', 'utc', 'Etc/UTC', 'GMT', 'Etc/GMT'])('%s is UTC', (timeZone) => {
    expect(zoneSpans(timeZone)).toBe(zoneSpans('UTC'));
  });
});
