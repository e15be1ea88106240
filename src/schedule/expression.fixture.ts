import fc from 'fast-check';

/**
 * Random expressions together with what they mean. The meaning is made beside the text and not read from it, so the code under test is
 * never asked what it should do.
 */
export interface RandomExpression {
  readonly text: string;
  readonly seconds: ReadonlySet<number>;
  readonly minutes: ReadonlySet<number>;
  readonly hours: ReadonlySet<number>;
  readonly months: ReadonlySet<number>;
  readonly isDate: (day: CalendarDay) => boolean;
  readonly isWeekday: (day: CalendarDay) => boolean;
  readonly anyDate: boolean;
  readonly anyWeekday: boolean;
  readonly star: boolean;
}

export interface CalendarDay {
  readonly year: number;
  /** 1 to 12. */
  readonly month: number;
  /** 1 to 31. */
  readonly date: number;
  /** 0 is Sunday. */
  readonly weekday: number;
  readonly monthLength: number;
}

interface Field<Value> {
  readonly text: string;
  readonly has: Value;
}

/** A field of plain values: lists of values, ranges and steps. `croner` reads all but a start with a step and no end. */
function values(
  min: number,
  max: number,
  forCroner = false,
  lastOfStep = max,
): fc.Arbitrary<Field<ReadonlySet<number>>> {
  const number = fc.integer({ min, max });
  const all = Array.from({ length: max - min + 1 }, (_, index) => min + index);
  const stepped = (from: number, to: number, step: number) =>
    all.filter((value) => value >= from && value <= to && (value - from) % step === 0);
  // Sunday is 0 and 7, so a step of weekdays goes on to 7 and may end on a Sunday.
  const steppedTo = (from: number, to: number, step: number) =>
    Array.from({ length: to - from + 1 }, (_, index) => from + index)
      .filter((value) => (value - from) % step === 0)
      .map((value) => (value > max ? min : value));
  const one = number.map((value) => ({ text: `${value}`, list: [value] }));
  const range = fc.tuple(number, number).map(([a, b]) => {
    const [from, to] = a < b ? [a, b] : [b, a];
    return { text: `${from}-${to}`, list: stepped(from, to, 1) };
  });
  const rangeStep = fc.tuple(number, number, fc.nat(1000)).map(([a, b, random]) => {
    const [from, to] = a < b ? [a, b] : [b, a];
    const step = 1 + (random % (to - from + 1));
    return { text: `${from}-${to}/${step}`, list: stepped(from, to, step) };
  });
  const starStep = fc
    .integer({ min: 1, max: max - min + 1 })
    .map((step) => ({ text: `*/${step}`, list: stepped(min, max, step) }));
  const startStep = fc
    .tuple(number, fc.integer({ min: 1, max: max - min + 1 }))
    .map(([from, step]) => ({ text: `${from}/${step}`, list: steppedTo(from, lastOfStep, step) }));
  const item = fc.oneof({ weight: 4, arbitrary: one }, range, rangeStep, starStep, ...(forCroner ? [] : [startStep]));
  return fc.oneof(
    { weight: 3, arbitrary: fc.constant({ text: '*', has: new Set(all) }) },
    {
      weight: 7,
      arbitrary: fc.array(item, { minLength: 1, maxLength: 3 }).map((items) => ({
        text: items.map(({ text }) => text).join(),
        has: new Set(items.flatMap(({ list }) => list)),
      })),
    },
  );
}

type DayTest = (day: CalendarDay) => boolean;

const isWorkday = (day: CalendarDay, date: number) => ![0, 6].includes((((day.weekday + date - day.date) % 7) + 7) % 7);

/** The working day nearest to a date, found by looking at the days around it, nearer and earlier ones first. */
function nearestWorkday(day: CalendarDay, date: number): number {
  for (const candidate of [date, date - 1, date + 1, date - 2, date + 2]) {
    if (candidate >= 1 && candidate <= day.monthLength && isWorkday(day, candidate)) return candidate;
  }
  throw new Error('three days in a row without a working day');
}

const lastDayOffset: fc.Arbitrary<Field<DayTest>> = fc
  .integer({ min: 1, max: 27 })
  .map((n) => ({ text: `L-${n}`, has: (day: CalendarDay) => day.date === day.monthLength - n }));
const specialDate: fc.Arbitrary<Field<DayTest>> = fc.oneof(
  fc.constant({ text: 'L', has: (day: CalendarDay) => day.date === day.monthLength }),
  fc.constant({ text: 'LW', has: (day: CalendarDay) => day.date === nearestWorkday(day, day.monthLength) }),
  fc
    .integer({ min: 1, max: 28 })
    .map((n) => ({ text: `${n}W`, has: (day: CalendarDay) => day.date === nearestWorkday(day, n) })),
);

const weekdayNames = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT', '7'];
const specialWeekday: fc.Arbitrary<Field<DayTest>> = fc
  .tuple(fc.integer({ min: 0, max: 7 }), fc.integer({ min: 1, max: 5 }), fc.boolean(), fc.boolean())
  .map(([weekday, n, named, last]) => {
    const name = named ? weekdayNames[weekday]! : `${weekday}`;
    const ofWeekday = (day: CalendarDay) => day.weekday === weekday % 7;
    return last
      ? { text: `${name}L`, has: (day) => ofWeekday(day) && day.date + 7 > day.monthLength }
      : { text: `${name}#${n}`, has: (day) => ofWeekday(day) && Math.ceil(day.date / 7) === n };
  });

/** One or two of them, as a list. */
const listOf = (item: fc.Arbitrary<Field<DayTest>>): fc.Arbitrary<Field<DayTest>> =>
  fc.array(item, { minLength: 1, maxLength: 2 }).map((items) => ({
    text: items.map(({ text }) => text).join(),
    has: (day) => items.some(({ has }) => has(day)),
  }));

export interface Shape {
  /** A seconds field, or none. Default none. */
  readonly seconds?: boolean;
  /** Days that depend on the month. Default yes. */
  readonly special?: boolean;
  /** Only what croner reads, too. Default no. */
  readonly croner?: boolean;
}

export function randomExpression({
  seconds = false,
  special = true,
  croner = false,
}: Shape = {}): fc.Arbitrary<RandomExpression> {
  const asTest = (field: Field<ReadonlySet<number>>, value: (day: CalendarDay) => number): Field<DayTest> => ({
    text: field.text,
    has: (day) => field.has.has(value(day)),
  });
  const star: Field<DayTest> = { text: '*', has: () => true };
  const dates = values(1, 31, croner).map((field) => asTest(field, (day) => day.date));
  const weekdays = values(0, 6, croner, 7).map((field) => asTest(field, (day) => day.weekday));
  const date = fc.oneof(
    { weight: 4, arbitrary: fc.constant(star) },
    { weight: 3, arbitrary: dates },
    ...(special ? [{ weight: 3, arbitrary: croner ? specialDate : listOf(fc.oneof(specialDate, lastDayOffset)) }] : []),
  );
  const weekday = fc.oneof(
    { weight: 4, arbitrary: fc.constant(star) },
    { weight: 3, arbitrary: weekdays },
    ...(special ? [{ weight: 3, arbitrary: croner ? specialWeekday : listOf(specialWeekday) }] : []),
  );
  const month = fc.oneof(
    { weight: 3, arbitrary: fc.constant(values(1, 12, croner)) },
    fc.constant(values(1, 12, croner)),
  );
  return fc
    .record({
      second: seconds ? values(0, 59, croner) : fc.constant(undefined),
      minute: values(0, 59, croner),
      hour: values(0, 23, croner),
      date,
      month: month.chain((field) => field),
      weekday,
    })
    .map(({ second, minute, hour, date, month, weekday }) => ({
      text: [second, minute, hour, date, month, weekday]
        .filter((field) => field !== undefined)
        .map((field) => field.text)
        .join(' '),
      seconds: second?.has ?? new Set([0]),
      minutes: minute.has,
      hours: hour.has,
      months: month.has,
      isDate: date.has,
      isWeekday: weekday.has,
      anyDate: date.text === '*',
      anyWeekday: weekday.text === '*',
      star: minute.text.startsWith('*') || hour.text.startsWith('*'),
    }));
}
