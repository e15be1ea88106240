import { AsyncResource } from 'node:async_hooks';
import { setImmediate as macrotask } from 'node:timers/promises';
import { type Clock, MAX_TIMER_DELAY_MS, type TimerHandle } from '../ambient/clock.js';

interface VirtualTimer {
  readonly dueAtMs: number;
  readonly order: number;
  readonly callback: () => void;
}

/**
 * A clock that moves only when a test moves it. Advancing stops at every due timer, sets the time to it, calls it back, lets everything that is
 * ready run (microtasks and one turn of the event loop), then goes on. Wall clock and monotonic time can be moved apart.
 */
export class VirtualClock implements Clock {
  private wallMs: number;
  private monotonicMs = 0;
  private order = 0;
  private readonly timers = new Set<VirtualTimer>();
  private readonly waiters = new Set<{ readonly count: number; readonly resolve: () => void }>();

  /** Starts at `start`; default 2026-01-01T00:00:00Z. */
  constructor(start: number | string | Date = '2026-01-01T00:00:00Z') {
    this.wallMs = new Date(start).getTime();
    if (Number.isNaN(this.wallMs)) throw new RangeError(`VirtualClock: ${String(start)} is no instant.`);
  }

  now(): number {
    return this.wallMs;
  }

  monotonic(): number {
    return this.monotonicMs;
  }

  /** Refuses what a Node timer cannot wait: that one would call back at once. */
  setTimer(callback: () => void, delayMs: number): TimerHandle {
    if (!(delayMs <= MAX_TIMER_DELAY_MS))
      throw new RangeError(`VirtualClock: a timer cannot wait ${delayMs} ms; at most ${MAX_TIMER_DELAY_MS}.`);
    const timer: VirtualTimer = {
      dueAtMs: this.monotonicMs + Math.max(0, delayMs),
      order: this.order++,
      // As Node's timers do: AsyncLocalStorage shows the callback what it showed whoever set the timer.
      callback: AsyncResource.bind(callback),
    };
    this.timers.add(timer);
    for (const waiter of this.waiters) {
      if (this.timers.size >= waiter.count) {
        this.waiters.delete(waiter);
        waiter.resolve();
      }
    }
    return timer;
  }

  clearTimer(timer: TimerHandle): void {
    this.timers.delete(timer as VirtualTimer);
  }

  /** Timers that are set and have not called back. */
  get pendingTimers(): number {
    return this.timers.size;
  }

  /** Resolves when at least `count` timers are set, so a test never guesses whether the code under test has come to its wait. */
  waitForTimers(count: number): Promise<void> {
    if (this.timers.size >= count) return Promise.resolve();
    return new Promise((resolve) => this.waiters.add({ count, resolve }));
  }

  /** Moves both clocks forward, timer by timer. */
  async advance(byMs: number): Promise<void> {
    if (!(byMs >= 0))
      throw new RangeError(`VirtualClock: time cannot advance by ${byMs} ms; use step() to set it back.`);
    const targetMs = this.monotonicMs + byMs;
    await macrotask();
    for (let timer = this.earliest(targetMs); timer !== undefined; timer = this.earliest(targetMs)) {
      this.moveTo(timer.dueAtMs);
      this.timers.delete(timer);
      timer.callback();
      await macrotask();
    }
    this.moveTo(targetMs);
  }

  /** Moves both clocks forward until the wall clock shows `instant`. */
  advanceTo(instant: number | string | Date): Promise<void> {
    const byMs = new Date(instant).getTime() - this.wallMs;
    if (!(byMs >= 0))
      throw new RangeError(`VirtualClock: ${String(instant)} is not ahead; use step() to set the wall clock back.`);
    return this.advance(byMs);
  }

  /** The wall clock jumps, in either direction; no timer comes nearer, as when an operator or NTP sets the clock. */
  step(byMs: number): void {
    this.wallMs += byMs;
  }

  /** Both clocks jump with nothing called back on the way, as when the loop was blocked or the process stopped; then all that is due calls back. */
  async suspend(forMs: number): Promise<void> {
    this.moveTo(this.monotonicMs + forMs);
    await this.advance(0);
  }

  /** Calls back the earliest timer although it is due only in up to `earlyMs`, as real timers now and then do. */
  async wakeEarly(earlyMs: number): Promise<void> {
    const timer = this.earliest(Number.POSITIVE_INFINITY);
    if (timer === undefined) throw new Error('VirtualClock: no timer is set.');
    this.moveTo(Math.max(this.monotonicMs, timer.dueAtMs - earlyMs));
    this.timers.delete(timer);
    timer.callback();
    await macrotask();
  }

  /** Lets everything that is ready run; time stands still. */
  async settle(): Promise<void> {
    await macrotask();
  }

  private moveTo(monotonicMs: number): void {
    const byMs = monotonicMs - this.monotonicMs;
    if (byMs <= 0) return;
    this.monotonicMs = monotonicMs;
    this.wallMs += byMs;
  }

  private earliest(untilMs: number): VirtualTimer | undefined {
    let found: VirtualTimer | undefined;
    for (const timer of this.timers) {
      if (timer.dueAtMs > untilMs) continue;
      if (
        found === undefined ||
        timer.dueAtMs < found.dueAtMs ||
        (timer.dueAtMs === found.dueAtMs && timer.order < found.order)
      ) {
        found = timer;
      }
    }
    return found;
  }
}
