import { DistributedCronError } from '../domain/errors.js';
import type { Schedule } from '../schedule/schedule.js';

/** A schedule answered something that is no later instant. Its entry stops; no other is touched. */
export class ScheduleAnswerError extends DistributedCronError {
  readonly code = 'SCHEDULE_ANSWER';

  constructor(label: string, question: string, answer: unknown) {
    super(
      `The schedule "${label}" answered ${String(answer)} to ${question}: expected a later instant in whole milliseconds, or null.`,
    );
  }
}

/** The next instant, checked: the engine relies on it being later. Throws what the schedule throws. */
export function nextInstant(schedule: Schedule, afterMs: number): number | null {
  const answer: unknown = schedule.next(afterMs);
  if (answer === null || (Number.isSafeInteger(answer) && (answer as number) > afterMs)) return answer as number | null;
  throw new ScheduleAnswerError(schedule.label, `next(${afterMs})`, answer);
}

/** Remembers the last answer of each schedule for one turn, since entries that share a schedule mostly ask from the same instant. */
export class TurnInstants {
  private readonly answers = new Map<Schedule, { readonly afterMs: number; readonly nextMs: number | null }>();

  next(schedule: Schedule, afterMs: number): number | null {
    const known = this.answers.get(schedule);
    if (known !== undefined && known.afterMs === afterMs) return known.nextMs;
    const nextMs = nextInstant(schedule, afterMs);
    this.answers.set(schedule, { afterMs, nextMs });
    return nextMs;
  }

  forget(): void {
    this.answers.clear();
  }
}
