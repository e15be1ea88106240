import { formatInstant } from '../domain/fire-key.js';
import type { Schedule } from './schedule.js';
import { ScheduleError } from './schedule-error.js';

/**
 * One instant: a Date, milliseconds since the epoch, or an RFC 3339 text that names its offset, such as `2026-01-02T15:04:05Z`. A text
 * without one would mean another instant on a host of another zone, and is refused.
 */
export function onceAt(instant: Date | number | string): Schedule {
  const instantMs = instantOf(instant);
  if (!Number.isInteger(instantMs) || Number.isNaN(new Date(instantMs).getTime())) {
    throw new ScheduleError(
      `onceAt needs a Date, whole milliseconds since the epoch, or a text such as "2026-01-02T15:04:05Z"; got ${String(instant)}.`,
    );
  }
  return new OnceAt(instantMs);
}

const WITH_OFFSET = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d)$/;

function instantOf(instant: Date | number | string): number {
  if (typeof instant === 'string') return WITH_OFFSET.test(instant) ? Date.parse(instant) : Number.NaN;
  return instant instanceof Date ? instant.getTime() : instant;
}

class OnceAt implements Schedule {
  constructor(private readonly instantMs: number) {}

  get label(): string {
    return `once at ${formatInstant(this.instantMs)}`;
  }

  get fingerprint(): string {
    return `once ${this.instantMs}`;
  }

  next(afterMs: number): number | null {
    return this.instantMs > afterMs ? this.instantMs : null;
  }

  previous(beforeMs: number): number | null {
    return this.instantMs < beforeMs ? this.instantMs : null;
  }
}
