import { DistributedCronError } from '../domain/errors.js';

/** A field of a cron expression, as error messages and configuration faults name it. */
export type CronFieldName = 'second' | 'minute' | 'hour' | 'day-of-month' | 'month' | 'day-of-week';

/** What is wrong with an expression. */
export interface ExpressionFault {
  /** The field at fault, where it is one field and not the expression as a whole. */
  readonly field?: CronFieldName;
  /** Where the faulty part begins, in UTF-16 units from the start of the expression as written. Default 0. */
  readonly position?: number;
  readonly reason: string;
  readonly hint?: string;
  readonly cause?: unknown;
}

/** A cron expression that cannot be used. It is thrown when the schedule is built, so an application with one does not start. */
export class CronExpressionError extends DistributedCronError {
  readonly code = 'EXPRESSION_INVALID';
  /** The expression as it was written; not a string where none was given. */
  readonly expression: unknown;
  readonly field: CronFieldName | undefined;
  /** Where the faulty part begins, in UTF-16 units from the start of the expression. */
  readonly position: number;
  readonly reason: string;
  readonly hint: string | undefined;

  constructor(expression: unknown, fault: ExpressionFault) {
    const shown = typeof expression === 'string' ? `"${expression}"` : String(expression);
    const place =
      fault.field === undefined ? '' : ` in the ${fault.field} field (character ${(fault.position ?? 0) + 1})`;
    super(
      `Cron expression ${shown} cannot be used: ${fault.reason}${place}.${fault.hint === undefined ? '' : ` ${fault.hint}`}`,
      fault.cause === undefined ? undefined : { cause: fault.cause },
    );
    this.expression = expression;
    this.field = fault.field;
    this.position = fault.position ?? 0;
    this.reason = fault.reason;
    this.hint = fault.hint;
  }
}

/** A time zone that this process does not know. It never falls back to UTC or to the host's zone. */
export class TimeZoneError extends DistributedCronError {
  readonly code = 'TIME_ZONE_UNKNOWN';
  readonly hint: string;

  constructor(
    readonly timeZone: unknown,
    hint = 'Use a name of the IANA time zone database, such as "Europe/Berlin" or "UTC".',
    options?: { cause?: unknown },
  ) {
    super(
      `Time zone ${typeof timeZone === 'string' ? `"${timeZone}"` : String(timeZone)} is unknown. ${hint}`,
      options,
    );
    this.hint = hint;
  }
}

/** A schedule other than a cron expression that cannot be built, or that broke the rules of a schedule when it was asked. */
export class ScheduleError extends DistributedCronError {
  readonly code = 'SCHEDULE_INVALID';
}
