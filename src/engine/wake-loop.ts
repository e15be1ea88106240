import { AsyncResource } from 'node:async_hooks';
import type { Clock, TimerHandle } from '../ambient/clock.js';
import type { Fire } from '../domain/fire.js';
import { formatInstant } from '../domain/fire-key.js';
import type { CronEvent } from '../events/cron-event.js';
import { Pass } from '../fire/pass.js';
import { AlarmHeap } from './alarm-heap.js';
import type { Entry } from './entry.js';
import type { FoundBy } from './history-reader.js';
import { nextInstant, TurnInstants } from './next-instant.js';
import { isOnlyFire, type Plan, type PlannedFire, plan, planMissed } from './plan.js';
import { TimerHeap } from './timer-heap.js';

/** The longest single wait. A step of the wall clock, or a machine that slept, is noticed this late; longer waits are slices of it. */
export const MAX_WAIT_MS = 5_000;

/** A wall clock behind the last reached instant by less than this woke early; by more, it was set back. */
export const EARLY_WAKE_MS = 50;

interface WakeLoopParts {
  readonly clock: Clock;
  readonly instanceId: string;
  readonly emit: (event: CronEvent) => void;
  readonly watched: () => boolean;
  readonly send: (pass: Pass) => void;
  readonly entries: () => Iterable<Entry>;
}

/** One timer for everything that waits: it pops the entries that are due, plans them, sends their fires off, and arms their next instants. */
export class WakeLoop {
  readonly alarms: AlarmHeap;
  private readonly heap = new TimerHeap<Entry>();
  private readonly instants = new TurnInstants();
  private timer: TimerHandle | undefined;
  /** Monotonic time at which `timer` calls back. */
  private timerAtMs = Number.POSITIVE_INFINITY;
  /** The latest wall clock reading that instants were computed from. */
  private reachedMs = Number.NEGATIVE_INFINITY;
  private turning = false;
  private firing = false;
  private instantText = { atMs: Number.NaN, text: '' };
  /**
   * A turn runs in the context the scheduler was made in. The timer may have been set by a caller who adds an entry inside of a request, or of another fire:
   * without this every later fire would run in that caller's trace, transaction or fire.
   */
  private readonly wake = AsyncResource.bind(() => this.turn());

  /**
   * Plans what an armed entry missed in (`afterMs`, `untilMs`], and sends it off in the context of a turn. Answers how many instants that were. A schedule that fails stops
   * this entry alone.
   */
  readonly catchUp = AsyncResource.bind((entry: Entry, afterMs: number, untilMs: number, foundBy: FoundBy): number =>
    this.planMissed(entry, afterMs, untilMs, foundBy),
  );

  constructor(private readonly parts: WakeLoopParts) {
    this.alarms = new AlarmHeap(
      () => parts.clock.monotonic(),
      () => this.setTimer(),
    );
  }

  /** From now on armed entries fire. */
  start(): void {
    this.firing = true;
    this.setTimer();
  }

  /** No entry fires any more. Alarms still ring: the passes under way need them. */
  stop(): void {
    this.firing = false;
    this.heap.clear();
    this.setTimer();
  }

  /** Computes the entry's next instant after `afterMs` and arms it. A schedule that fails stops this entry alone. */
  arm(entry: Entry, afterMs: number): void {
    this.heap.remove(entry);
    const { generation } = entry;
    entry.askedAfterMs = afterMs;
    this.reachedMs = Math.max(this.reachedMs, afterMs);
    let nextMs: number | null;
    try {
      nextMs = this.turning ? this.instants.next(entry.schedule, afterMs) : nextInstant(entry.schedule, afterMs);
    } catch (error) {
      this.fail(entry, error);
      return;
    }
    // A schedule is the user's code: whatever it did to its entry while it was asked, the later word counts.
    if (entry.generation !== generation) return;
    if (nextMs !== null) {
      entry.dueAtMs = nextMs;
      this.heap.push(entry);
      if (!this.turning && this.heap.peek() === entry) this.setTimer();
    }
    if (!this.parts.watched()) return;
    this.parts.emit({
      type: 'entry.scheduled',
      atMs: this.parts.clock.now(),
      instanceId: this.parts.instanceId,
      entryKey: entry.key,
      nextAt: nextMs === null ? null : new Date(nextMs),
    });
  }

  disarm(entry: Entry): void {
    this.heap.remove(entry);
    if (this.heap.size === 0) this.setTimer();
  }

  /** An instant that came due before the loop could reach it is told as canceled. To be called when the entry's generation has changed. */
  retire(entry: Entry): void {
    const { dueAtMs, heapIndex } = entry;
    this.disarm(entry);
    if (heapIndex === -1 || !this.firing || dueAtMs > this.parts.clock.now()) return;
    this.parts.send(this.pass(entry, entry.generation - 1, dueAtMs, 'schedule'));
  }

  private fail(entry: Entry, error: unknown): void {
    this.heap.remove(entry);
    entry.failed = true;
    this.parts.emit({
      type: 'entry.failed',
      atMs: this.parts.clock.now(),
      instanceId: this.parts.instanceId,
      entryKey: entry.key,
      error,
    });
  }

  /**
   * Everything due is collected first and sent off; only then the next instants are computed, once per distinct schedule. Fires that
   * need a claim ask when the turn is over, all together.
   */
  private turn(): void {
    this.turning = true;
    try {
      this.alarms.ring();
      if (this.firing) this.fireDue(this.parts.clock.now());
    } finally {
      this.instants.forget();
      this.turning = false;
      this.setTimer();
    }
  }

  private fireDue(nowMs: number): void {
    if (nowMs < this.reachedMs - EARLY_WAKE_MS) this.planAgain(nowMs);
    const entries = this.heap.takeDue(nowMs);
    // As they were when their time came: a method that runs before them in this turn may change them. Two arrays, since an object for each of ten
    // thousand entries is what the collector then spends its time on.
    const dueAtMs = entries.map((entry) => entry.dueAtMs);
    const generations = entries.map((entry) => entry.generation);
    const reachedMs = entries.map((entry, index) => this.fire(entry, dueAtMs[index]!, generations[index]!, nowMs));
    for (let index = 0; index < entries.length; index++) {
      const entry = entries[index]!;
      const afterMs = reachedMs[index];
      // A method may have removed or updated its entry, or stopped the scheduler, while it was called.
      if (afterMs !== undefined && entry.generation === generations[index] && this.firing) this.arm(entry, afterMs);
    }
  }

  /** Sends off what the plan runs. Answers the newest instant that was due, or nothing if the entry failed or has changed. */
  private fire(entry: Entry, dueAtMs: number, generation: number, nowMs: number): number | undefined {
    // Changed since, or the scheduler drains: due all the same, and the pipeline says why it does not run.
    const changed = entry.generation !== generation || !this.firing;
    let decided: Plan | undefined;
    try {
      const alone = changed || isOnlyFire(entry.schedule, dueAtMs, nowMs, entry.policies);
      decided = alone ? undefined : plan(entry.schedule, dueAtMs, nowMs, entry.policies);
    } catch (error) {
      this.fail(entry, error);
      return undefined;
    }
    if (decided === undefined) {
      this.parts.send(this.pass(entry, generation, dueAtMs, 'schedule'));
      return changed ? undefined : dueAtMs;
    }
    this.carryOut(entry, generation, decided, nowMs, 'loop');
    return decided.reachedMs;
  }

  private planMissed(entry: Entry, afterMs: number, untilMs: number, foundBy: FoundBy): number {
    const nowMs = this.parts.clock.now();
    const { generation } = entry;
    let decided: Plan | undefined;
    try {
      decided = planMissed(entry.schedule, afterMs, untilMs, nowMs, entry.policies);
    } catch (error) {
      this.fail(entry, error);
      return 0;
    }
    if (decided === undefined || entry.generation !== generation || !this.firing) return 0;
    this.carryOut(entry, generation, decided, nowMs, foundBy);
    return decided.fires.length + (decided.missed?.count ?? 0);
  }

  private carryOut(entry: Entry, generation: number, { missed, fires }: Plan, nowMs: number, foundBy: FoundBy): void {
    if (missed !== undefined) {
      this.parts.emit({
        type: 'fire.missed',
        atMs: nowMs,
        instanceId: this.parts.instanceId,
        entryKey: entry.key,
        policy: entry.policies.missed,
        first: new Date(missed.firstMs),
        last: new Date(missed.lastMs),
        count: missed.count,
        atLeast: missed.atLeast,
        latenessMs: nowMs - missed.lastMs,
        foundBy,
      });
    }
    for (const { atMs, origin } of fires) this.parts.send(this.pass(entry, generation, atMs, origin));
  }

  /** All passes of a plan carry the generation it was made for: a method that removes its entry cancels those that come after it. */
  private pass(entry: Entry, generation: number, atMs: number, origin: PlannedFire['origin']): Pass {
    const fire: Fire = {
      entryKey: entry.key,
      fireKey: `${entry.key}@${this.textOf(atMs)}`,
      scheduledAt: new Date(atMs),
      origin,
    };
    return new Pass(fire, entry, generation);
  }

  /** Most fires of a turn share their instant. */
  private textOf(atMs: number): string {
    if (this.instantText.atMs !== atMs) this.instantText = { atMs, text: formatInstant(atMs) };
    return this.instantText.text;
  }

  /**
   * The wall clock was set back: entries whose instants were asked after a time that has not come yet would be silent until then. Fires that
   * already ran are kept from running again by their claims.
   */
  private planAgain(nowMs: number): void {
    this.reachedMs = nowMs;
    for (const entry of this.parts.entries()) {
      if (entry.askedAfterMs > nowMs + EARLY_WAKE_MS && !entry.failed) this.arm(entry, nowMs);
    }
  }

  private setTimer(): void {
    if (this.turning) return;
    const { clock } = this.parts;
    const alarmAtMs = this.alarms.nextAtMs;
    const entryAtMs = this.firing ? this.heap.peek()?.dueAtMs : undefined;
    if (alarmAtMs === undefined && entryAtMs === undefined) {
      this.clearTimer();
      return;
    }
    const monotonicMs = clock.monotonic();
    let waitMs = MAX_WAIT_MS;
    if (alarmAtMs !== undefined) waitMs = Math.min(waitMs, alarmAtMs - monotonicMs);
    if (entryAtMs !== undefined) waitMs = Math.min(waitMs, entryAtMs - clock.now());
    waitMs = Math.max(0, Math.ceil(waitMs));
    const wakeAtMs = monotonicMs + waitMs;
    if (this.timer !== undefined && this.timerAtMs <= wakeAtMs) return;
    this.clearTimer();
    this.timerAtMs = wakeAtMs;
    this.timer = clock.setTimer(() => {
      this.timer = undefined;
      this.timerAtMs = Number.POSITIVE_INFINITY;
      this.wake();
    }, waitMs);
  }

  private clearTimer(): void {
    if (this.timer !== undefined) this.parts.clock.clearTimer(this.timer);
    this.timer = undefined;
    this.timerAtMs = Number.POSITIVE_INFINITY;
  }
}
