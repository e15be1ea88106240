import type { ConfigurationFault } from '../domain/errors.js';
import { cronSchedule } from '../schedule/cron-schedule.js';
import { functionSchedule } from '../schedule/function-schedule.js';
import type { Schedule } from '../schedule/schedule.js';
import { CronExpressionError, ScheduleError, TimeZoneError } from '../schedule/schedule-error.js';
import type { ResolvedEntryOptions } from './entry-policy-options.js';
import { shown } from './option-reader.js';

/** The schedule of an entry: its expression read under its options, or the schedule or function it gives itself. Answers nothing if that is faulty. */
export function resolveSchedule(
  input: unknown,
  options: ResolvedEntryOptions,
  entryKey: string,
  subject: string,
  faults: ConfigurationFault[],
): Schedule | undefined {
  try {
    const given = givenSchedule(input);
    if (given !== undefined) {
      if (options.timeZone !== undefined) {
        throw new ScheduleError('timeZone is for expressions; a schedule or a function knows its own instants.');
      }
      return given;
    }
    return cronSchedule(input as string, {
      defaultTimeZone: options.defaultTimeZone,
      ...(options.timeZone === undefined ? {} : { timeZone: options.timeZone }),
      dst: options.dst,
      dayMatch: options.dayMatch,
      entryKey,
    });
  } catch (error) {
    faults.push(scheduleFault(error, input, subject));
    return undefined;
  }
}

function givenSchedule(input: unknown): Schedule | undefined {
  if (typeof input === 'function') return functionSchedule(input as (afterMs: number) => number | null);
  if (typeof input !== 'object' || input === null) return undefined;
  const { next, fingerprint, label } = input as Partial<Schedule>;
  if (typeof next === 'function' && typeof fingerprint === 'string' && typeof label === 'string') {
    return input as Schedule;
  }
  throw new ScheduleError('A schedule has next(), a fingerprint and a label, both texts.');
}

function scheduleFault(error: unknown, input: unknown, subject: string): ConfigurationFault {
  if (error instanceof CronExpressionError) {
    return {
      code: error.code,
      subject,
      got: input === undefined ? 'undefined (is an environment variable unset?)' : shown(input),
      expected: error.field === undefined ? 'a cron expression' : `a cron expression with a valid ${error.field} field`,
      hint: `${error.reason}.${error.hint === undefined ? '' : ` ${error.hint}`}`,
      ...(error.field === undefined ? {} : { field: error.field }),
      cause: error,
    };
  }
  if (error instanceof TimeZoneError) {
    return {
      code: error.code,
      subject,
      got: `time zone ${shown(error.timeZone)}`,
      expected: 'a known time zone',
      hint: error.hint,
      cause: error,
    };
  }
  return {
    code: 'SCHEDULE_INVALID',
    subject,
    got: shown(input),
    expected: 'a cron expression, a schedule or a function',
    hint: error instanceof Error ? error.message : String(error),
    cause: error,
  };
}
