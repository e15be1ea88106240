/**
 * What the next instant costs: `npm run bench -- next`. The library beside its peers, over 12 expressions in three zones, in one run, since only the
 * ratios carry from one machine to another. Then the cost of reading an expression, in time and in bytes.
 */
import { createRequire } from 'node:module';
import { performance } from 'node:perf_hooks';
import { CronTime } from 'cron';
import { CronDate, CronExpressionParser } from 'cron-parser';
import { Cron } from 'croner';
import { createTask } from 'node-cron';

// The built library without its Nest part. BENCH_LIBRARY names another build of it.
const library = createRequire(import.meta.url)(process.env.BENCH_LIBRARY ?? '../dist/cjs/schedule/cron-schedule.js');
const { cronSchedule } = library;

const EXPRESSIONS = {
  'every second': '* * * * * *',
  'every 5 seconds': '*/5 * * * * *',
  'every minute': '* * * * *',
  'every 15 minutes': '*/15 * * * *',
  'working hours': '*/10 9-17 * * 1-5',
  hourly: '0 * * * *',
  'daily in the night': '30 2 * * *',
  'weekday mornings': '0 9 * * 1-5',
  weekly: '15 4 * * 0',
  monthly: '0 0 1 * *',
  'day 13 or Friday': '0 0 13 * 5',
  yearly: '0 0 1 1 *',
};
const ZONES = ['UTC', 'America/New_York', 'Europe/Berlin'];

// The same instants for all, over a year, so that changes of offset are among what follows them.
let random = 20_260_101;
const bases = Array.from({ length: 64 }, () => {
  random = (Math.imul(random, 1_103_515_245) + 12_345) >>> 0;
  return Date.UTC(2026, 0, 1) + Math.floor((random / 2 ** 32) * 365 * 86_400_000);
});
const dates = bases.map((base) => new Date(base));

/** For each library: a function that asks for the next instant after base number i, and how many instants one call gives. */
const CONTENDERS = {
  'nestjs-distributed-cron': (expression, timeZone) => {
    const schedule = cronSchedule(expression, { timeZone });
    return [(i) => schedule.next(bases[i]), 1];
  },
  croner: (expression, timezone) => {
    const cron = new Cron(expression, { timezone, paused: true });
    return [(i) => cron.nextRun(dates[i]), 1];
  },
  'cron-parser': (expression, tz) => {
    const starts = bases.map((base) => new CronDate(base, tz));
    const parsed = CronExpressionParser.parse(expression, { tz, currentDate: starts[0] });
    return [
      (i) => {
        parsed.reset(starts[i]);
        return parsed.next();
      },
      1,
    ];
  },
  cron: (expression, timeZone) => {
    const time = new CronTime(expression, timeZone);
    return [(i) => time.getNextDateFrom(dates[i], timeZone), 1];
  },
  // It answers from now on only, so it walks ten instants instead of asking about the bases.
  'node-cron': (expression, timezone) => {
    const task = createTask(expression, () => {}, { timezone });
    return [() => task.getNextRuns(10), 10];
  },
};

/** Microseconds per instant: the best of three rounds, since all noise is upwards. */
function microsecondsEach([ask, perCall], roundMs) {
  let calls = 1;
  const round = () => {
    const started = performance.now();
    for (let call = 0; call < calls; call++) ask(call & 63);
    return performance.now() - started;
  };
  while (round() < roundMs / 4) calls *= 2;
  const bestMs = Math.min(round(), round(), round());
  return (bestMs * 1000) / calls / perCall;
}

const geometricMean = (values) => Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);
const short = (microseconds) => (microseconds < 10 ? microseconds.toFixed(2) : microseconds.toFixed(0));

function table(rows) {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => String(row[column]).length)));
  for (const row of rows) {
    console.log(
      row
        .map((cell, column) => (column === 0 ? String(cell).padEnd(widths[0]) : String(cell).padStart(widths[column])))
        .join('  '),
    );
  }
}

const names = Object.keys(CONTENDERS);
const results = Object.fromEntries(names.map((name) => [name, []]));
const rows = [['next, µs', ...names]];
for (const timeZone of ZONES) {
  for (const [title, expression] of Object.entries(EXPRESSIONS)) {
    const row = [`${title} (${expression}), ${timeZone}`];
    for (const name of names) {
      const each = microsecondsEach(CONTENDERS[name](expression, timeZone), 40);
      results[name].push(each);
      row.push(short(each));
    }
    rows.push(row);
  }
}
const ours = geometricMean(results[names[0]]);
const ratioTo = (name) => geometricMean(results[name]) / ours;
rows.push(['geometric mean', ...names.map((name) => short(geometricMean(results[name])))]);
rows.push(['times ours', ...names.map((name) => ratioTo(name).toFixed(name === names[0] ? 0 : 1))]);
table(rows);

/** Distinct expressions, as many as asked for: each combination of these five fields occurs once. */
function distinctExpressions(count, salt) {
  return Array.from({ length: count }, (_, index) => {
    const minute = index % 60;
    const hour = Math.floor(index / 60) % 24;
    const weekday = Math.floor(index / 1440) % 7;
    const more = Math.floor(index / 10_080);
    // Made from pieces at run time, as from a configuration file, and flat, so that later reading does not pay for joining.
    return Buffer.from(`${minute} ${hour} * * ${weekday},${(weekday + 1 + (more % 6)) % 7}${salt}`).toString();
  });
}

/** Microseconds for a first sight and for a later one: the best of six sets, each of expressions never seen before. */
function readingUs() {
  let first = Infinity;
  let again = Infinity;
  for (const salt of ['', ',0', ',1', ',2', ',3', ',4']) {
    const expressions = distinctExpressions(4000, salt);
    let started = performance.now();
    for (const expression of expressions) cronSchedule(expression, { timeZone: 'Europe/Berlin' });
    first = Math.min(first, ((performance.now() - started) * 1000) / expressions.length);
    started = performance.now();
    for (const expression of expressions) cronSchedule(expression, { timeZone: 'Europe/Berlin' });
    again = Math.min(again, ((performance.now() - started) * 1000) / expressions.length);
  }
  return { first, again };
}

/** Bytes of heap for each distinct expression: its parsed form, its schedule, and its place among those that are remembered. */
function bytesEach() {
  const expressions = distinctExpressions(4000, '');
  // What expressions share is there before the count begins, the zone too.
  for (const expression of expressions) cronSchedule(expression, { timeZone: 'Europe/Berlin' });
  cronSchedule('0 0 * * *', { timeZone: 'America/New_York' });
  const schedules = new Array(expressions.length);
  global.gc();
  const before = process.memoryUsage().heapUsed;
  for (let index = 0; index < expressions.length; index++) {
    schedules[index] = cronSchedule(expressions[index], { timeZone: 'America/New_York' });
  }
  global.gc();
  const each = (process.memoryUsage().heapUsed - before) / expressions.length;
  return schedules.includes(undefined) ? Number.NaN : each;
}

const { first, again } = readingUs();
const bytes = bytesEach();

console.log('');
const targets = [
  ['next, geometric mean', `${ours.toFixed(3)} µs`, 'at most 1 µs', ours <= 1],
  ['next beside croner', `${ratioTo('croner').toFixed(0)} times faster`, 'at least 80', ratioTo('croner') >= 80],
  [
    'next beside cron-parser',
    `${ratioTo('cron-parser').toFixed(0)} times faster`,
    'at least 250',
    ratioTo('cron-parser') >= 250,
  ],
  ['reading an expression first', `${first.toFixed(2)} µs`, 'at most 15 µs', first <= 15],
  ['reading it again', `${again.toFixed(3)} µs`, 'a map look-up', again <= 1],
  ['heap of a distinct expression', `${bytes.toFixed(0)} bytes`, 'at most 300', bytes <= 300],
];
table(targets.map(([what, got, target, met]) => [what, got, target, met ? 'met' : 'MISSED']));
if (targets.some(([, , , met]) => !met)) process.exitCode = 1;
