import { types } from 'node:util';
import { DistributedCronError } from '../domain/errors.js';
import type { LastRun } from '../domain/policies.js';
import { isValidDate } from '../domain/valid-date.js';
import type { Alarms } from '../fire/fire-services.js';

/** The application's `lastRun` did not tell when an entry last ran: nothing of that entry is caught up. No other is touched. */
export class LastRunError extends DistributedCronError {
  readonly code = 'LAST_RUN';

  constructor(
    readonly entryKey: string,
    what: string,
    options?: { readonly cause?: unknown },
  ) {
    super(`lastRun of entry "${entryKey}" ${what}: expected a valid Date, null or undefined.`, options);
  }
}

/** Functions that are asked at a time: mostly each question is one to a database of the application. */
const AT_A_TIME = 16;

interface Question {
  readonly entryKey: string;
  readonly lastRun: Exclude<LastRun, Date>;
  readonly answered: (lastRunMs: number | undefined) => void;
  readonly failed: (error: LastRunError) => void;
  /** Its time limit, while it is under way. */
  alarm: object | undefined;
}

/** Asks the application when entries last ran, each within a time limit. */
export class LastRuns {
  private questions: Question[] = [];
  private asked = 0;
  private readonly underWay = new Set<Question>();

  constructor(
    private readonly alarms: Alarms,
    private readonly limitMs: number,
  ) {}

  /** `undefined`: it never ran. Rejects with `LastRunError`; not settled once stopped. */
  ask(entryKey: string, lastRun: LastRun): Promise<number | undefined> {
    return new Promise((answered, failed) => {
      const given = { entryKey, answered, failed };
      if (typeof lastRun !== 'function') {
        this.read(lastRun, given);
        return;
      }
      this.questions.push({ ...given, lastRun, alarm: undefined });
      this.askNext();
    });
  }

  /** Nothing is asked any more, and no answer is waited for. */
  stop(): void {
    this.questions = [];
    this.asked = 0;
    for (const question of this.underWay) this.end(question);
  }

  private askNext(): void {
    while (this.underWay.size < AT_A_TIME && this.asked < this.questions.length) {
      const question = this.questions[this.asked++]!;
      this.underWay.add(question);
      void this.call(question);
    }
    if (this.asked < this.questions.length) return;
    this.questions = [];
    this.asked = 0;
  }

  private async call(question: Question): Promise<void> {
    const { entryKey, lastRun } = question;
    question.alarm = this.alarms.set(this.limitMs, () => {
      this.end(question);
      question.failed(new LastRunError(entryKey, `did not answer within ${this.limitMs} ms`));
      this.askNext();
    });
    let settle: () => void;
    try {
      const answer = await lastRun(entryKey);
      settle = () => this.read(answer, question);
    } catch (cause) {
      settle = () => question.failed(new LastRunError(entryKey, 'threw', { cause }));
    }
    // Too late, or stopped meanwhile: nobody waits for it.
    if (!this.underWay.has(question)) return;
    this.end(question);
    settle();
    this.askNext();
  }

  private end(question: Question): void {
    this.underWay.delete(question);
    if (question.alarm !== undefined) this.alarms.cancel(question.alarm);
  }

  private read(answer: unknown, { entryKey, answered, failed }: Omit<Question, 'lastRun' | 'alarm'>): void {
    if (answer === null || answer === undefined) answered(undefined);
    else if (isValidDate(answer)) answered(answer.getTime());
    else failed(new LastRunError(entryKey, `answered ${types.isDate(answer) ? 'an invalid Date' : typeof answer}`));
  }
}
