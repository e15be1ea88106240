import { NO_SPECIAL_DAYS, type SpecialDays } from './cron-days.js';
import type { ExpressionFault } from './schedule-error.js';

/** What a field, or one item of its list, names: values as two words of thirty bits, and days that depend on the month. */
export interface Item {
  readonly low: number;
  readonly high: number;
  readonly special: Partial<SpecialDays> | undefined;
  readonly spread: boolean;
}

/** Refuses the item at hand; the expression, the field and the position are known to whoever made it. */
export type Fail = (fault: ExpressionFault) => never;

export function specialItem(special: Partial<SpecialDays>): Item {
  return { low: 0, high: 0, special, spread: false };
}

export function itemOf(values: readonly (number | string)[]): Item {
  let low = 0;
  let high = 0;
  for (const value of values as readonly number[]) {
    if (value < 30) low |= 1 << value;
    else high |= 1 << (value - 30);
  }
  return { low, high, special: undefined, spread: false };
}

/** The item that names what either names: a list. */
export function bothItems(one: Item, other: Item): Item {
  return {
    low: one.low | other.low,
    high: one.high | other.high,
    special: bothSpecial(one.special, other.special),
    spread: one.spread || other.spread,
  };
}

/** The days that either names; `undefined` names none. */
export function bothSpecial(one: Item['special'], other: Item['special']): Item['special'] {
  if (one === undefined || other === undefined) return one ?? other;
  const a = { ...NO_SPECIAL_DAYS, ...one };
  const b = { ...NO_SPECIAL_DAYS, ...other };
  return {
    fromLast: a.fromLast | b.fromLast,
    lastWorkday: a.lastWorkday || b.lastWorkday,
    nearestWorkday: a.nearestWorkday | b.nearestWorkday,
    nth: a.nth | b.nth,
    fifth: a.fifth | b.fifth,
    lastOfWeekday: a.lastOfWeekday | b.lastOfWeekday,
  };
}
