import { SHORTEST_WAIT_MS } from './task-delay.js';
import type { TaskServices } from './task-services.js';
import type { TaskTurn } from './task-turns.js';

/** The rhythm of one task: it waits, takes its turn, and waits again. One turn at a time, however it came about. */
export class TaskCycle {
  private alarm: object | undefined;
  private alarmAtMs = 0;
  private resting = true;
  private current: { readonly turn: TaskTurn; readonly ended: Promise<void> } | undefined;

  constructor(
    private readonly services: Pick<TaskServices, 'alarms' | 'clock' | 'turns'>,
    /** Never rejects; answers the wait until the next turn, in milliseconds. */
    private readonly take: (turn: TaskTurn) => Promise<number>,
  ) {}

  /** Monotonic time of the next turn; `undefined` while there is none to come, or one is under way. */
  get nextAtMs(): number | undefined {
    return this.alarm === undefined ? undefined : this.alarmAtMs;
  }

  get running(): boolean {
    return this.current?.turn.running !== undefined;
  }

  /** The next turn comes after this. A turn under way says itself when the next one comes. */
  wakeIn(waitMs: number): void {
    this.resting = false;
    if (this.current === undefined) this.arm(waitMs);
  }

  /** No turn comes any more. One that is under way comes to its end. */
  rest(): void {
    this.resting = true;
    this.disarm();
  }

  /** Resolves when no turn is under way. */
  async idle(): Promise<void> {
    while (this.current !== undefined) await this.current.ended;
  }

  /**
   * Takes a turn at once, after one that is only asking whether it may run. `busy` makes the error if the method runs. `work` answers what the
   * caller gets, and the wait until the next turn if it changed.
   */
  async now<T>(
    busy: () => Error,
    work: (turn: TaskTurn) => Promise<{ readonly value: T; readonly waitMs: number | undefined }>,
  ): Promise<T> {
    while (this.current !== undefined) {
      if (this.running) throw busy();
      await this.current.ended;
    }
    const leftMs = this.nextAtMs === undefined ? undefined : this.nextAtMs - this.services.clock.monotonic();
    this.disarm();
    let value!: T;
    let failure: { readonly error: unknown } | undefined;
    await this.begin(async (turn) => {
      try {
        const done = await work(turn);
        value = done.value;
        return done.waitMs ?? leftMs ?? SHORTEST_WAIT_MS;
      } catch (error) {
        failure = { error };
        return leftMs ?? SHORTEST_WAIT_MS;
      }
    });
    if (failure !== undefined) throw failure.error;
    return value;
  }

  private arm(waitMs: number): void {
    this.disarm();
    const { alarms, clock } = this.services;
    const atLeastMs = Math.max(SHORTEST_WAIT_MS, waitMs);
    this.alarmAtMs = clock.monotonic() + atLeastMs;
    this.alarm = alarms.set(atLeastMs, () => {
      this.alarm = undefined;
      void this.begin(this.take);
    });
  }

  private disarm(): void {
    if (this.alarm !== undefined) this.services.alarms.cancel(this.alarm);
    this.alarm = undefined;
  }

  private begin(take: (turn: TaskTurn) => Promise<number>): Promise<void> {
    const { turns } = this.services;
    const turn = turns.begin();
    let end!: () => void;
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    // Known before it is taken: a method may look at its own task in its first stretch.
    this.current = { turn, ended };
    void take(turn).then((waitMs) => {
      this.current = undefined;
      turns.end(turn);
      if (!this.resting) this.arm(waitMs);
      end();
    });
    return ended;
  }
}
