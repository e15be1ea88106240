import { DrainDeadlineError } from '../domain/errors.js';
import type { Alarms } from '../fire/fire-services.js';
import type { Pass } from '../fire/pass.js';

/** How long a method whose signal was aborted has to end by itself before its fire is given up. */
export const ABORT_GRACE_MS = 1_000;

/** Something under way that a drain can bring to its end. */
export interface Endable {
  /** Set while it waits: ends the wait at once. */
  readonly cutWait?: (() => void) | undefined;
  /** Set while its method runs. */
  readonly running: { readonly context: { abort(reason: Error): void } } | undefined;
  /** Set while it waits with something in hand that is not dropped: ends the wait at the deadline. */
  readonly onDeadline?: (() => void) | undefined;
  /** Its end was told, though its method may still run. */
  readonly ended?: boolean;
  /** Set by the drain that aborted its method: what it did is not to be taken for done. */
  interrupted?: boolean;
}

/** All that is under way: the passes of fires, or the turns of tasks. */
export interface UnderWay<P extends Endable> {
  readonly passes: ReadonlySet<P>;
  /** Resolves when there is none. */
  idle(): Promise<void>;
  /** Waits no more for the method of this one to end. */
  abandon(pass: P, error: Error): void;
}

/** Brings the passes under way to their end: waits are cut, running methods finish or are aborted at the deadline. */
export class Drain<P extends Endable = Pass> {
  private expire!: () => void;
  private readonly expired = new Promise<void>((resolve) => {
    this.expire = resolve;
  });
  private deadlinePassed = false;

  constructor(
    private readonly pipeline: UnderWay<P>,
    private readonly alarms: Alarms,
    private readonly drainDeadlineMs: number,
  ) {}

  /** From here on a granted fire no longer starts: there is no time left to run it in. */
  get overdue(): boolean {
    return this.deadlinePassed;
  }

  /** Brings the deadline forward to now. */
  hurry(): void {
    this.expire();
  }

  /** Resolves when no pass is under way, nor `last`, which may still bring some; answers how many methods were aborted. Never rejects, if `last` does not. */
  async run(last: Promise<void> = Promise.resolve()): Promise<number> {
    // Drained by a method in its first stretch: its pass is known only when that has returned its promise.
    await undefined;
    for (const pass of [...this.pipeline.passes]) pass.cutWait?.();
    const end = last.then(() => this.pipeline.idle());
    if (await this.endsBefore(end, this.drainDeadlineMs, this.expired)) return 0;

    this.deadlinePassed = true;
    const error = new DrainDeadlineError(this.drainDeadlineMs);
    const running = [...this.pipeline.passes].filter((pass) => pass.running !== undefined);
    for (const pass of running) {
      // What has ended before, as a method that overran its time, was not ended by this.
      pass.interrupted = pass.ended !== true;
      pass.running?.context.abort(error);
    }
    for (const pass of [...this.pipeline.passes]) pass.onDeadline?.();
    await this.endsBefore(end, ABORT_GRACE_MS);
    for (const pass of [...this.pipeline.passes]) if (pass.running !== undefined) this.pipeline.abandon(pass, error);
    // What is left waits for the answer of a coordination call, each of which has a time limit.
    await end;
    return running.length;
  }

  /** Waits for the end, for `limitMs` at most, or until `sooner`. Answers whether it has come. */
  private async endsBefore(end: Promise<void>, limitMs: number, ...sooner: readonly Promise<void>[]): Promise<boolean> {
    let ended = false;
    let alarm: object | undefined;
    const limit = new Promise<void>((resolve) => {
      alarm = this.alarms.set(limitMs, resolve);
    });
    await Promise.race([
      end.then(() => {
        ended = true;
      }),
      limit,
      ...sooner,
    ]);
    if (alarm !== undefined) this.alarms.cancel(alarm);
    return ended;
  }
}
