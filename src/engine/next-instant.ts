import { DistributedCronError } from '../domain/errors.js';
import type { Schedule } from '../schedule/schedule.js';

/** A schedule answered something that it may not. Its entry stops; no other is touched. */
export class ScheduleAnswerError extends DistributedCronError {
  readonly code = 'SCHEDULE_ANSWER';

  constructor(label: string, question: string, expected: string, answer: unknown) {
    super(
      `The schedule "${label}" answered ${shown(answer)} to ${question}: expected ${expected} in whole milliseconds, or null.`,
    );
  }
}

/** The next instant, checked: the engine relies on it being later. Throws what the schedule throws. */
export function nextInstant(schedule: Schedule, afterMs: number): number | null {
  const answer: unknown = schedule.next(afterMs);
  if (answer === null || (isInstant(answer) && answer > afterMs)) return answer;
  throw new ScheduleAnswerError(schedule.label, `next(${afterMs})`, 'a later instant', answer);
}

/** The previous instant, checked: the engine relies on it being earlier. Throws what the schedule throws. */
export function previousInstant(
  schedule: Required<Pick<Schedule, 'previous' | 'label'>>,
  beforeMs: number,
): number | null {
  const answer: unknown = schedule.previous(beforeMs);
  if (answer === null || (isInstant(answer) && answer < beforeMs)) return answer;
  throw new ScheduleAnswerError(schedule.label, `previous(${beforeMs})`, 'an earlier instant', answer);
}

/** The furthest instant a `Date` can hold, on either side of the epoch. */
const FURTHEST_MS = 8.64e15;

function isInstant(answer: unknown): answer is number {
  return Number.isInteger(answer) && Math.abs(answer as number) <= FURTHEST_MS;
}

function shown(answer: unknown): string {
  return typeof answer === 'object' && answer !== null ? 'an object' : String(answer);
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
