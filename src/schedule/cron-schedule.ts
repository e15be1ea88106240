import { DAY_MATCHES, type DayMatch, DST_POLICIES, type DstPolicy } from '../domain/policies.js';
import { alignedInterval } from './aligned-interval.js';
import { membersOf } from './bits.js';
import { ANSWERS_UNTIL_S } from './calendar.js';
import { parseCronExpression } from './cron-expression.js';
import type { CronTable } from './cron-table.js';
import { nextWallClock, previousWallClock } from './cron-walk.js';
import { instantMs } from './instant.js';
import type { Schedule } from './schedule.js';
import { CronExpressionError, ScheduleError } from './schedule-error.js';
import { type ZoneSpans, zoneSpans } from './zone-spans.js';

export interface CronScheduleOptions {
  /** The zone whose wall clock the expression is about, such as `Europe/Berlin`. Refused beside a `TZ=` prefix. Default `UTC`. */
  readonly timeZone?: string;
  /** The zone where neither `timeZone` nor a prefix names one. Default `UTC`; the host's zone is never used. */
  readonly defaultTimeZone?: string;
  /** What happens at a change of the zone's offset. Default `vixie`. */
  readonly dst?: DstPolicy;
  /** How the two day fields combine where neither is exactly `*` or `?`. Default `or`. */
  readonly dayMatch?: DayMatch;
  /** What `H` is spread by: the entry's key. Without it, an expression with `H` is refused. */
  readonly entryKey?: string;
}

/**
 * The schedule of a cron expression. Its instants are a pure function of expression, zone, policies and zone data, for the years 1970 to
 * 2200. The same question gives the same object, so that its users can answer once for all entries that share it.
 *
 * Throws CronExpressionError, TimeZoneError, or ScheduleError for an unknown policy.
 */
export function cronSchedule(expression: string, options: CronScheduleOptions = {}): Schedule {
  const { timeZone, defaultTimeZone = 'UTC', dst = 'vixie', dayMatch = 'or', entryKey } = options;
  // Not `??`: a zone that is null comes from a configuration that is wrong, and must not become the default in silence.
  const family = familyOf(timeZone === undefined ? defaultTimeZone : timeZone, dst, dayMatch);
  if (timeZone !== undefined && ZONE_PREFIX.test(expression)) {
    throw new CronExpressionError(expression, {
      reason: `it names a time zone, and the option timeZone names ${timeZone}`,
      hint: 'Give the zone in one place.',
    });
  }
  const known = family.byExpression.get(expression);
  if (known !== undefined) return known;

  const parsed = parseCronExpression(expression, { dayMatch, entryKey });
  const zone = parsed.timeZone === undefined ? family.zone : zoneSpans(parsed.timeZone);
  const schedule =
    parsed.table === undefined
      ? alignedInterval(parsed.everyMs!, { label: expression })
      : new CronSchedule(expression, parsed.table, zone, dst);
  // Equal spread gives an equal object too, but by what it came to, not by the text alone.
  return parsed.spread
    ? remember(family.bySpread, `${schedule.fingerprint} ${expression}`, schedule)
    : remember(family.byExpression, expression, schedule);
}

const ZONE_PREFIX = /^\s*(?:CRON_)?TZ=/;

/** The schedules of one zone and one set of policies. */
interface Family {
  readonly zone: ZoneSpans;
  readonly byExpression: Map<string, Schedule>;
  readonly bySpread: Map<string, Schedule>;
}

const families = new Map<string, Family>();

/** What is kept of each family; beyond that the oldest is forgotten, which costs a second object and nothing else. */
const SCHEDULES_KEPT = 4096;

function familyOf(timeZone: string, dst: DstPolicy, dayMatch: DayMatch): Family {
  const zone = zoneSpans(timeZone);
  const key = `${zone.timeZone} ${dst} ${dayMatch}`;
  let family = families.get(key);
  if (family === undefined) {
    if (!DST_POLICIES.includes(dst)) {
      throw new ScheduleError(`dst must be one of ${DST_POLICIES.join(', ')}; got ${String(dst)}.`);
    }
    if (!DAY_MATCHES.includes(dayMatch)) {
      throw new ScheduleError(`dayMatch must be one of ${DAY_MATCHES.join(', ')}; got ${String(dayMatch)}.`);
    }
    family = { zone, byExpression: new Map(), bySpread: new Map() };
    families.set(key, family);
  }
  return family;
}

function remember(schedules: Map<string, Schedule>, key: string, schedule: Schedule): Schedule {
  const known = schedules.get(key);
  if (known !== undefined) return known;
  if (schedules.size >= SCHEDULES_KEPT) schedules.delete(schedules.keys().next().value!);
  schedules.set(key, schedule);
  return schedule;
}

/** A gap this long or longer is a change of the calendar, not of the season: nothing is made up for it. */
const LONGEST_MADE_UP_S = 3 * 3600 - 1;

class CronSchedule implements Schedule {
  constructor(
    readonly label: string,
    private readonly table: CronTable,
    private readonly zone: ZoneSpans,
    private readonly dst: DstPolicy,
  ) {}

  get timeZone(): string {
    return this.zone.timeZone;
  }

  get minIntervalMs(): number {
    return 1000;
  }

  /** The policy that decides: an expression that follows elapsed time takes every instant whose wall clock matches. */
  private get policy(): DstPolicy {
    return this.table.followsElapsedTime ? 'literal' : this.dst;
  }

  get fingerprint(): string {
    const { table, zone } = this;
    const sets = [
      membersOf(table.secondsLow, table.secondsHigh),
      membersOf(table.minutesLow, table.minutesHigh),
      membersOf(table.hours),
    ];
    return `cron ${sets.map(ranges).join(' ')} ${table.days.fingerprint} ${zone.timeZone}${zone.fixed ? '' : ` ${this.policy}`}`;
  }

  next(afterMs: number): number | null {
    let afterS = Math.floor(afterMs / 1000);
    if (!(afterS >= -1)) {
      instantMs(afterMs);
      afterS = -1;
    }
    if (afterS >= ANSWERS_UNTIL_S) return null;
    const { table, zone } = this;
    if (zone.fixed) return answer(nextWallClock(table, afterS + 1));

    const policy = this.policy;
    const firstPassOnly = policy !== 'literal';
    let index = zone.indexAt(afterS);
    let fromS = afterS + zone.offsets[index]! + 1;
    if (firstPassOnly) fromS = Math.max(fromS, zone.reached[index]!);
    for (;;) {
      const wallS = nextWallClock(table, fromS);
      if (wallS < zone.wallClockEnd(index)) return answer(wallS - zone.offsets[index]!);
      if (!firstPassOnly) {
        // Spans to come may show again what this one showed before `fromS`.
        for (let later = index + 1; later < zone.starts.length && zone.wallClockStart(later) < fromS; later++) {
          const repeatedS = nextWallClock(table, zone.wallClockStart(later));
          if (repeatedS < zone.wallClockEnd(later)) return answer(repeatedS - zone.offsets[later]!);
        }
      }
      if (wallS >= LATEST_WALL_CLOCK_S) return null;
      index = zone.indexOfWallClock(wallS);
      const startS = zone.wallClockStart(index);
      if (wallS >= startS) return answer(wallS - zone.offsets[index]!);
      // The second is in the gap before the span.
      if (policy === 'vixie' && startS - zone.reached[index]! <= LONGEST_MADE_UP_S) return answer(zone.starts[index]!);
      fromS = startS;
    }
  }

  previous(beforeMs: number): number | null {
    let untilS = Math.ceil(beforeMs / 1000) - 1;
    if (!(untilS < ANSWERS_UNTIL_S)) {
      instantMs(beforeMs);
      untilS = ANSWERS_UNTIL_S - 1;
    }
    if (untilS < 0) return null;
    const { table, zone } = this;
    if (zone.fixed) return answer(previousWallClock(table, untilS));

    const policy = this.policy;
    let index = zone.indexAt(untilS);
    let fromS = untilS + zone.offsets[index]!;
    if (policy === 'literal') {
      for (;;) {
        const wallS = previousWallClock(table, fromS);
        if (wallS >= zone.wallClockStart(index)) return answer(wallS - zone.offsets[index]!);
        // Earlier spans may have shown what is later than `fromS`.
        for (let earlier = index - 1; earlier >= 0 && zone.wallClockEnd(earlier) - 1 > fromS; earlier--) {
          const repeatedS = previousWallClock(table, zone.wallClockEnd(earlier) - 1);
          if (repeatedS >= zone.wallClockStart(earlier)) return answer(repeatedS - zone.offsets[earlier]!);
        }
        if (wallS < EARLIEST_WALL_CLOCK_S) return null;
        index = zone.indexOfWallClock(wallS);
        if (wallS < zone.wallClockStart(index)) index--;
        while (index + 1 < zone.starts.length && zone.wallClockStart(index + 1) <= wallS) index++;
        fromS = Math.min(wallS, zone.wallClockEnd(index) - 1);
      }
    }
    fromS = Math.max(fromS, zone.reached[index]! - 1);
    for (;;) {
      const wallS = previousWallClock(table, fromS);
      if (wallS < EARLIEST_WALL_CLOCK_S) return null;
      index = zone.indexOfWallClock(wallS);
      const startS = zone.wallClockStart(index);
      if (wallS >= startS) return answer(wallS - zone.offsets[index]!);
      const reachedS = zone.reached[index]!;
      if (policy === 'vixie' && startS - reachedS <= LONGEST_MADE_UP_S) return answer(zone.starts[index]!);
      fromS = reachedS - 1;
    }
  }
}

// A wall clock is less than a day away from UTC.
const LATEST_WALL_CLOCK_S = ANSWERS_UNTIL_S + 86_400;
const EARLIEST_WALL_CLOCK_S = -86_400;

/** The answer in milliseconds, or `null` outside the years that schedules answer for. */
function answer(instantS: number): number | null {
  return instantS >= 0 && instantS < ANSWERS_UNTIL_S ? instantS * 1000 : null;
}

/** `[0, 1, 2, 5]` as `0-2,5`. */
function ranges(members: readonly number[]): string {
  const parts: string[] = [];
  for (let index = 0; index < members.length; ) {
    let end = index;
    while (members[end + 1] === members[end]! + 1) end++;
    parts.push(end === index ? `${members[index]}` : `${members[index]}-${members[end]}`);
    index = end + 1;
  }
  return parts.join();
}
