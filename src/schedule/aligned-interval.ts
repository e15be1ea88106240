import { type Duration, durationMs, formatDuration } from '../domain/duration.js';
import { ANSWERS_UNTIL_S } from './calendar.js';
import { instantMs } from './instant.js';
import type { Schedule } from './schedule.js';
import { ScheduleError } from './schedule-error.js';

export interface AlignedIntervalOptions {
  /** How far each instant is moved from a multiple of the interval; less than the interval. Default 0. */
  readonly offset?: Duration;
  /** What logs show. Default `every <interval>`. */
  readonly label?: string;
}

/**
 * Every multiple of an interval since the epoch, so that all replicas agree whenever they started. A whole part of a day falls on the same times of
 * each UTC day. The interval is a whole number of milliseconds, at least one.
 */
export function alignedInterval(interval: Duration, options: AlignedIntervalOptions = {}): Schedule {
  const intervalMs = durationMs(interval);
  if (intervalMs === undefined || !Number.isInteger(intervalMs) || intervalMs < 1) {
    throw new ScheduleError(
      `alignedInterval needs a whole number of milliseconds, at least 1, or a duration such as '90s'; got ${String(interval)}.`,
    );
  }
  const offsetMs = options.offset === undefined ? 0 : durationMs(options.offset);
  if (offsetMs === undefined || !Number.isInteger(offsetMs) || offsetMs >= intervalMs) {
    throw new ScheduleError(
      `The offset of alignedInterval must be a whole number of milliseconds below its interval; got ${String(options.offset)}.`,
    );
  }
  return new AlignedInterval(intervalMs, offsetMs, options.label ?? defaultLabel(intervalMs, offsetMs));
}

function defaultLabel(intervalMs: number, offsetMs: number): string {
  return `every ${formatDuration(intervalMs)}${offsetMs === 0 ? '' : ` at +${formatDuration(offsetMs)}`}`;
}

const UNTIL_MS = ANSWERS_UNTIL_S * 1000;

class AlignedInterval implements Schedule {
  constructor(
    readonly minIntervalMs: number,
    private readonly offsetMs: number,
    readonly label: string,
  ) {}

  get fingerprint(): string {
    return `every ${this.minIntervalMs}${this.offsetMs === 0 ? '' : ` ${this.offsetMs}`}`;
  }

  next(afterMs: number): number | null {
    const step = Math.floor((instantMs(afterMs) - this.offsetMs) / this.minIntervalMs) + 1;
    const nextMs = Math.max(0, step) * this.minIntervalMs + this.offsetMs;
    return nextMs < UNTIL_MS ? nextMs : null;
  }

  previous(beforeMs: number): number | null {
    const limitMs = Math.min(instantMs(beforeMs), UNTIL_MS);
    const step = Math.ceil((limitMs - this.offsetMs) / this.minIntervalMs) - 1;
    return step < 0 ? null : step * this.minIntervalMs + this.offsetMs;
  }
}
