import { firstWeekday, monthLength, YEAR_TYPES } from './calendar.js';

/** The days that depend on the month's length or on where its weekdays fall. Days are counted from 0 here: bit 0 is the first. */
export interface SpecialDays {
  /** `L`, `L-n`: bit n is set for the n-th day before the last. */
  readonly fromLast: number;
  /** `LW`: the last Monday-to-Friday day. */
  readonly lastWorkday: boolean;
  /** `nW`: the Monday-to-Friday day nearest to the n-th, in the same month; a month without an n-th day has none. */
  readonly nearestWorkday: number;
  /** `d#1` to `d#4`: bit 7 (n - 1) + d. */
  readonly nth: number;
  /** `d#5`: bit d. */
  readonly fifth: number;
  /** `dL`: bit d. */
  readonly lastOfWeekday: number;
}

/** None of them. */
export const NO_SPECIAL_DAYS: SpecialDays = {
  fromLast: 0,
  lastWorkday: false,
  nearestWorkday: 0,
  nth: 0,
  fifth: 0,
  lastOfWeekday: 0,
};

/** How the two day fields make one set. With one of them exactly `*` or `?` the other decides alone. */
export type DayRule = 'every' | 'day-of-month' | 'day-of-week' | 'or' | 'and';

// For each set of weekdays and each weekday of the first: the days of a month of 31 that fall on one of them.
const daysOnWeekdays = new Int32Array(128 * 7);
for (let weekdays = 0; weekdays < 128; weekdays++) {
  for (let first = 0; first < 7; first++) {
    let days = 0;
    for (let day = 0; day < 31; day++) if ((weekdays >>> ((first + day) % 7)) & 1) days |= 1 << day;
    daysOnWeekdays[weekdays * 7 + first] = days;
  }
}

/** The days of an expression: what its day-of-month, month and day-of-week fields say together. Immutable. */
export class DaySet {
  /** Bit t is set when a year of type t has a day of this set. */
  readonly yearTypes: number;

  constructor(
    /** Bit m is set for month m, January being 0. */
    readonly months: number,
    /** Bit d is set for day d + 1. */
    readonly daysOfMonth: number,
    /** Bit 0 is Sunday. */
    readonly daysOfWeek: number,
    readonly special: SpecialDays | null,
    readonly rule: DayRule,
  ) {
    let yearTypes = 0;
    for (let type = 0; type < YEAR_TYPES; type++) {
      for (let month = 0; month < 12; month++) {
        if (this.inMonth(type, month) !== 0) {
          yearTypes |= 1 << type;
          break;
        }
      }
    }
    this.yearTypes = yearTypes;
  }

  /** Equal for sets that are equal in all fields that count under the rule. */
  get fingerprint(): string {
    const { rule, special } = this;
    const dates = rule === 'every' || rule === 'day-of-week' ? '*' : this.daysOfMonth.toString(16);
    const weekdays = rule === 'every' || rule === 'day-of-month' ? '*' : this.daysOfWeek.toString(16);
    const more = special === null ? '' : ` ${Object.values(special).map(Number).join()}`;
    return `${dates} ${this.months.toString(16)} ${weekdays}${rule === 'and' ? ' and' : ''}${more}`;
  }

  /** The days of one month: bit d for day d + 1. Zero for a month outside the month field. */
  inMonth(type: number, month: number): number {
    if (((this.months >>> month) & 1) === 0) return 0;
    const length = monthLength(type, month);
    const all = 0x7fffffff >>> (31 - length);
    const rule = this.rule;
    if (rule === 'every') return all;
    const first = firstWeekday(type, month);
    let byDate = this.daysOfMonth;
    let byWeekday = daysOnWeekdays[this.daysOfWeek * 7 + first]!;
    if (this.special !== null) {
      byDate |= specialDates(this.special, length, first);
      byWeekday |= specialWeekdays(this.special, length, first);
    }
    if (rule === 'day-of-month') return byDate & all;
    if (rule === 'day-of-week') return byWeekday & all;
    return (rule === 'or' ? byDate | byWeekday : byDate & byWeekday) & all;
  }
}

function specialDates(special: SpecialDays, length: number, first: number): number {
  let days = 0;
  for (let before = 0; before < length; before++) {
    if ((special.fromLast >>> before) & 1) days |= 1 << (length - 1 - before);
  }
  if (special.lastWorkday) days |= 1 << nearestWorkday(length - 1, length, first);
  for (let day = 0; day < length; day++) {
    if ((special.nearestWorkday >>> day) & 1) days |= 1 << nearestWorkday(day, length, first);
  }
  return days;
}

/** Saturday goes to Friday and Sunday to Monday, unless that leaves the month: then to the other side. */
function nearestWorkday(day: number, length: number, first: number): number {
  const weekday = (first + day) % 7;
  if (weekday === 6) return day === 0 ? 2 : day - 1;
  if (weekday === 0) return day === length - 1 ? day - 2 : day + 1;
  return day;
}

function specialWeekdays(special: SpecialDays, length: number, first: number): number {
  let days = 0;
  for (let weekday = 0; weekday < 7; weekday++) {
    const earliest = (weekday - first + 7) % 7;
    for (let n = 0; n < 4; n++) if ((special.nth >>> (7 * n + weekday)) & 1) days |= 1 << (earliest + 7 * n);
    const fifth = earliest + 28;
    if ((special.fifth >>> weekday) & 1 && fifth < length) days |= 1 << fifth;
    if ((special.lastOfWeekday >>> weekday) & 1) days |= 1 << (fifth < length ? fifth : fifth - 7);
  }
  return days;
}

const RULES: readonly DayRule[] = ['every', 'day-of-month', 'day-of-week', 'or', 'and'];

const daySets = new Map<number | string, DaySet>();
const DAY_SETS_KEPT = 4096;

/** One object for equal days, so that a thousand expressions of a weekday share it. */
export function daySet(
  months: number,
  daysOfMonth: number,
  daysOfWeek: number,
  named: Partial<SpecialDays> | undefined,
  rule: DayRule,
): DaySet {
  const special = named === undefined ? null : { ...NO_SPECIAL_DAYS, ...named };
  // 12 + 7 + 3 + 31 bits: as many as a number holds exactly, and many times faster to find than a text.
  const plain = ((months * 128 + daysOfWeek) * 8 + RULES.indexOf(rule)) * 0x8000_0000 + daysOfMonth;
  const key = special === null ? plain : `${plain} ${Object.values(special).join()}`;
  let days = daySets.get(key);
  if (days === undefined) {
    days = new DaySet(months, daysOfMonth, daysOfWeek, special, rule);
    if (daySets.size >= DAY_SETS_KEPT) daySets.clear();
    daySets.set(key, days);
  }
  return days;
}
