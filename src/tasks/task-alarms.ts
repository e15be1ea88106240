import { AsyncResource } from 'node:async_hooks';
import { type Clock, MAX_TIMER_DELAY_MS, type TimerHandle } from '../ambient/clock.js';
import { AlarmHeap } from '../engine/alarm-heap.js';
import type { Alarms } from '../fire/fire-services.js';

/** One timer for the waits of all tasks. Delays are lengths, not instants: monotonic time alone counts. */
export class TaskAlarms implements Alarms {
  private readonly heap: AlarmHeap;
  private timer: TimerHandle | undefined;
  /** A task added inside a request must not run in that request's trace or transaction for ever after. */
  private readonly wake = AsyncResource.bind(() => this.ring());

  constructor(private readonly clock: Clock) {
    this.heap = new AlarmHeap(
      () => clock.monotonic(),
      () => this.setTimer(),
    );
  }

  set(delayMs: number, callback: () => void): object {
    return this.heap.set(delayMs, callback);
  }

  cancel(alarm: object): void {
    this.heap.cancel(alarm);
  }

  private ring(): void {
    this.timer = undefined;
    try {
      this.heap.ring();
    } finally {
      this.setTimer();
    }
  }

  private setTimer(): void {
    if (this.timer !== undefined) this.clock.clearTimer(this.timer);
    this.timer = undefined;
    const { nextAtMs } = this.heap;
    if (nextAtMs === undefined) return;
    const waitMs = Math.ceil(Math.max(0, nextAtMs - this.clock.monotonic()));
    this.timer = this.clock.setTimer(() => this.wake(), Math.min(waitMs, MAX_TIMER_DELAY_MS));
  }
}
