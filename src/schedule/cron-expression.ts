import { CronDate, CronExpressionParser } from 'cron-parser';
import { durationMs } from '../domain/duration.js';
import type { DayMatch } from '../domain/policies.js';
import { type DayRule, daySet } from './cron-days.js';
import { CRON_FIELDS, type CronField, DAY_OF_MONTH, DAY_OF_WEEK, HOUR, MINUTE, MONTH, SECOND } from './cron-field.js';
import { bothItems, bothSpecial, type Fail, type Item, itemOf, specialItem } from './cron-item.js';
import { checkPlain, readValue } from './cron-shape.js';
import { CronTable } from './cron-table.js';
import { CronExpressionError } from './schedule-error.js';
import { spreadItem } from './spread-item.js';

/**
 * The only file that knows cron-parser. It turns the text of an expression into its parsed form.
 *
 * cron-parser reads values, ranges, steps, names, `L`, `dL` and `d#n`, one list item at a time; the items read are kept, since the same
 * few make up most expressions. It accepts more than it should (an empty expression is every minute, `*\/70` every hour), so each
 * item is held against our own, stricter shape first, which also knows the place of the fault. What cron-parser cannot read (`LW`, `L-n`,
 * `nW`, `@midnight`, `@every`, `TZ=`) is read here. `H` too: its spread must not change with a version of a dependency.
 */

/** What an expression says: instants of a wall clock, or a plain interval (`@every`). */
export interface ParsedExpression {
  /** `undefined` where the expression is an interval. */
  readonly table: CronTable | undefined;
  /** The interval of `@every`, in milliseconds. */
  readonly everyMs: number | undefined;
  /** The zone of a `TZ=` or `CRON_TZ=` prefix. */
  readonly timeZone: string | undefined;
  /** The expression has `H` in it, so that another entry key gives another result. */
  readonly spread: boolean;
}

export interface ParseOptions {
  readonly dayMatch: DayMatch;
  /** What `H` is spread by. */
  readonly entryKey: string | undefined;
}

const MAX_LENGTH = 1024;

const MACROS: ReadonlyMap<string, string> = new Map([
  ['@yearly', '0 0 1 1 *'],
  ['@annually', '0 0 1 1 *'],
  ['@monthly', '0 0 1 * *'],
  ['@weekly', '0 0 * * 0'],
  ['@daily', '0 0 * * *'],
  ['@midnight', '0 0 * * *'],
  ['@hourly', '0 * * * *'],
  ['@minutely', '* * * * *'],
  ['@secondly', '* * * * * *'],
  ['@weekdays', '0 0 * * 1-5'],
  ['@weekends', '0 0 * * 0,6'],
]);

/** Reads an expression. Throws CronExpressionError for whatever is not one, impossible dates included. */
export function parseCronExpression(expression: string, options: ParseOptions): ParsedExpression {
  const words = wordsOf(expression);
  const prefix = /^(?:CRON_)?TZ=(.*)$/.exec(words[0]!.text);
  if (prefix !== null) words.shift();
  const timeZone = prefix?.[1];
  const first = words[0];
  if (first === undefined) {
    throw new CronExpressionError(expression, {
      reason: 'nothing follows the time zone',
      position: expression.length,
      hint: FIELDS_HINT,
    });
  }
  if (first.text.startsWith('@')) return parseMacro(expression, words, timeZone, options);
  const { table, spread } = parseFields(expression, words, options);
  return { table, everyMs: undefined, timeZone, spread };
}

interface Word {
  readonly text: string;
  readonly position: number;
}

const FIELDS_HINT =
  'Write five fields (minute hour day-of-month month day-of-week), or six with seconds in front, such as "0 9 * * MON-FRI".';

function wordsOf(expression: unknown): Word[] {
  if (typeof expression !== 'string') {
    throw new CronExpressionError(expression, {
      reason: 'it is not a string',
      hint: expression === undefined ? 'Is the environment variable that it comes from set?' : FIELDS_HINT,
    });
  }
  if (expression.length > MAX_LENGTH) {
    throw new CronExpressionError(`${expression.slice(0, 60)}…`, {
      reason: `it is ${expression.length} characters long`,
      position: MAX_LENGTH,
      hint: `At most ${MAX_LENGTH} are read: naming every value of every field needs about half of that.`,
    });
  }
  const words: Word[] = [];
  for (let position = 0, start = -1; position <= expression.length; position++) {
    if (position < expression.length && !isBlank(expression.charCodeAt(position))) {
      if (start < 0) start = position;
    } else if (start >= 0) {
      words.push({ text: expression.slice(start, position), position: start });
      start = -1;
    }
  }
  if (words.length === 0) {
    throw new CronExpressionError(expression, {
      reason: 'it is empty',
      hint: `Is the environment variable that it comes from set? ${FIELDS_HINT}`,
    });
  }
  return words;
}

/** ASCII blanks only: a no-break space, as a web page gives one, stays in its word and is refused with it. */
function isBlank(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13);
}

function parseMacro(
  expression: string,
  words: readonly Word[],
  timeZone: string | undefined,
  options: ParseOptions,
): ParsedExpression {
  const [macro, argument, ...rest] = words as [Word, ...Word[]];
  const known = MACROS.get(macro.text);
  const tooMuch = known === undefined ? rest[0] : argument;
  if ((known !== undefined || macro.text === '@every') && tooMuch !== undefined) {
    throw new CronExpressionError(expression, {
      reason: `"${tooMuch.text}" follows a whole expression`,
      position: tooMuch.position,
    });
  }
  if (known !== undefined) {
    // A macro's text is ours, so its positions would mean nothing to the reader; it has no fault that could be reported.
    const { table } = parseFields(known, wordsOf(known), options);
    return { table, everyMs: undefined, timeZone, spread: false };
  }
  if (macro.text === '@every') {
    const everyMs = durationMs(argument?.text);
    if (everyMs === undefined || everyMs < 1 || !Number.isInteger(everyMs)) {
      throw new CronExpressionError(expression, {
        reason: argument === undefined ? '@every has no duration' : `"${argument.text}" is no duration`,
        position: argument?.position ?? expression.length,
        hint: 'Write a duration of at least one millisecond with its unit, such as "@every 90s" or "@every 1h30m".',
      });
    }
    return { table: undefined, everyMs, timeZone, spread: false };
  }
  throw new CronExpressionError(expression, {
    reason: `"${macro.text}" is unknown`,
    position: macro.position,
    hint:
      macro.text === '@reboot'
        ? 'A schedule is a set of instants, the same on all replicas; do it in onApplicationBootstrap.'
        : `Known are ${[...MACROS.keys(), '@every'].join(', ')}.`,
  });
}

function parseFields(
  expression: string,
  words: readonly Word[],
  options: ParseOptions,
): { table: CronTable; spread: boolean } {
  if (words.length !== 5 && words.length !== 6) {
    throw new CronExpressionError(expression, {
      reason: `it has ${words.length} ${words.length === 1 ? 'field' : 'fields'}`,
      position: words[6]?.position ?? expression.length,
      hint: FIELDS_HINT,
    });
  }
  const withSeconds = words.length === 6 ? 1 : 0;
  const [minuteWord, hourWord, dateWord, monthWord, weekdayWord] = words.slice(withSeconds) as [
    Word,
    Word,
    Word,
    Word,
    Word,
  ];
  const entryKey = options.entryKey;
  const second = withSeconds ? parseField(expression, SECOND, words[0]!, entryKey) : ON_THE_MINUTE;
  const minute = parseField(expression, MINUTE, minuteWord, entryKey);
  const hour = parseField(expression, HOUR, hourWord, entryKey);
  const date = parseField(expression, DAY_OF_MONTH, dateWord, entryKey);
  const month = parseField(expression, MONTH, monthWord, entryKey);
  const weekday = parseField(expression, DAY_OF_WEEK, weekdayWord, entryKey);

  const days = daySet(
    month.low >>> 1,
    // Days are counted from 1 in the text and from 0 in the set.
    (date.low >>> 1) | (date.high << 29),
    // Both 0 and 7 are Sunday.
    (weekday.low | (weekday.low >>> 7)) & 0x7f,
    bothSpecial(date.special, weekday.special),
    dayRule(dateWord.text, weekdayWord.text, options.dayMatch),
  );
  if (days.yearTypes === 0) {
    throw new CronExpressionError(expression, {
      field: DAY_OF_MONTH.name,
      position: dateWord.position,
      reason: 'no year has such a day',
      hint: 'Check the day against the length of the months; "L" is the last day of each.',
    });
  }
  const table = new CronTable(
    second.low,
    second.high,
    minute.low,
    minute.high,
    hour.low,
    days,
    minuteWord.text.startsWith('*') || hourWord.text.startsWith('*'),
  );
  const spread = second.spread || minute.spread || hour.spread || date.spread || month.spread || weekday.spread;
  return { table, spread };
}

function dayRule(date: string, weekday: string, dayMatch: DayMatch): DayRule {
  const everyDate = date === '*' || date === '?';
  const everyWeekday = weekday === '*' || weekday === '?';
  if (everyDate) return everyWeekday ? 'every' : 'day-of-week';
  return everyWeekday ? 'day-of-month' : dayMatch;
}

const ON_THE_MINUTE: Item = { low: 1, high: 0, special: undefined, spread: false };

function parseField(expression: string, field: CronField, word: Word, entryKey: string | undefined): Item {
  const text = word.text;
  if (!text.includes(',')) return parseItem(expression, field, text, word.position, entryKey);
  let whole: Item | undefined;
  let position = word.position;
  for (const part of text.split(',')) {
    const item = parseItem(expression, field, part, position, entryKey);
    whole = whole === undefined ? item : bothItems(whole, item);
    position += part.length + 1;
  }
  return whole!;
}

const itemsRead: ReadonlyMap<CronField, Map<string, Item>> = new Map(CRON_FIELDS.map((field) => [field, new Map()]));
const ITEMS_KEPT = 512;

function parseItem(
  expression: string,
  field: CronField,
  text: string,
  position: number,
  entryKey: string | undefined,
): Item {
  const known = itemsRead.get(field)!;
  let item = known.get(text);
  if (item !== undefined) return item;
  const fail: Fail = (fault) => {
    throw new CronExpressionError(expression, { field: field.name, position, ...fault });
  };
  if (/^h/i.test(text)) return spreadItem(field, text, entryKey, fail);
  item =
    (field === DAY_OF_MONTH ? specialDate(text, fail) : undefined) ??
    (field === DAY_OF_WEEK ? specialWeekday(field, text, fail) : undefined) ??
    plainItem(field, text, fail);
  if (known.size >= ITEMS_KEPT) known.clear();
  known.set(text, item);
  return item;
}

/** `*`, `?`, a value, a range, each with a step or without. */
function plainItem(field: CronField, text: string, fail: Fail): Item {
  checkPlain(field, text, fail);
  return itemOf(read(field, text, fail).values as (number | string)[]);
}

/** `L`, `L-n`, `LW`, `nW`. */
function specialDate(text: string, fail: Fail): Item | undefined {
  if (/^LW$/i.test(text)) return specialItem({ lastWorkday: true });
  const fromLast = /^L-([0-9]+)$/i.exec(text)?.[1];
  if (fromLast !== undefined) {
    if (Number(fromLast) > 30) return fail({ reason: `no month has a day ${fromLast} days before its last` });
    return specialItem({ fromLast: 1 << Number(fromLast) });
  }
  const nearest = /^([0-9]+)W$/i.exec(text)?.[1];
  if (nearest !== undefined) return specialItem({ nearestWorkday: 1 << (readValue(DAY_OF_MONTH, nearest, fail) - 1) });
  return /^L$/i.test(text) && read(DAY_OF_MONTH, text, fail).hasLastChar ? specialItem({ fromLast: 1 }) : undefined;
}

/** `d#n`, `dL`. */
function specialWeekday(field: CronField, text: string, fail: Fail): Item | undefined {
  if (/^L$/i.test(text)) {
    return fail({
      reason: '"L" has no weekday',
      hint: 'Write the weekday in front: "5L" or "FRIL" is the last Friday.',
    });
  }
  const match = /^([0-9]+|[A-Z]{3})(?:#([0-9]+)|L)$/i.exec(text);
  if (match === null) return undefined;
  const weekday = readValue(field, match[1]!, fail) % 7;
  if (match[2] === undefined) {
    read(field, text, fail);
    return specialItem({ lastOfWeekday: 1 << weekday });
  }
  const n = Number(match[2]);
  if (n < 1 || n > 5) return fail({ reason: `"#${n}" is outside 1-5` });
  const nth = (read(field, text, fail) as { nthDay?: number }).nthDay ?? n;
  return specialItem(nth === 5 ? { fifth: 1 << weekday } : { nth: 1 << (7 * (nth - 1) + weekday) });
}

// Only what cron-parser's own iterator needs; without it, each read would make a date of now in the host's zone.
const UNUSED_DATE = new CronDate(0, 'UTC');

/** Reads one item with cron-parser, as the only item of an expression that is otherwise `*`. */
function read(field: CronField, text: string, fail: Fail) {
  const index = CRON_FIELDS.indexOf(field);
  const fields = ['*', '*', '*', '*', '*', '*'];
  fields[index] = text.toUpperCase();
  try {
    const parsed = CronExpressionParser.parse(fields.join(' '), { currentDate: UNUSED_DATE, tz: 'UTC' }).fields;
    return [parsed.second, parsed.minute, parsed.hour, parsed.dayOfMonth, parsed.month, parsed.dayOfWeek][index]!;
  } catch (cause) {
    return fail({ reason: `"${text}" is not understood: ${(cause as Error).message}`, cause });
  }
}
