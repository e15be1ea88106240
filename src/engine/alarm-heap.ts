import type { Alarms } from '../fire/fire-services.js';
import { type HeapItem, TimerHeap } from './timer-heap.js';

interface Alarm extends HeapItem {
  readonly callback: () => void;
}

/** Waits of passes (jitter, time limits) in monotonic time, which no step of the wall clock shortens or stretches. */
export class AlarmHeap implements Alarms {
  private readonly heap = new TimerHeap<Alarm>();

  constructor(
    private readonly monotonic: () => number,
    /** Called when the scheduler's timer may be set for a wrong time: an alarm is due before it, or the last alarm is gone. */
    private readonly onChange: () => void,
  ) {}

  get nextAtMs(): number | undefined {
    return this.heap.peek()?.dueAtMs;
  }

  set(delayMs: number, callback: () => void): object {
    const alarm: Alarm = { dueAtMs: this.monotonic() + delayMs, heapIndex: -1, callback };
    this.heap.push(alarm);
    if (this.heap.peek() === alarm) this.onChange();
    return alarm;
  }

  cancel(alarm: object): void {
    this.heap.remove(alarm as Alarm);
    if (this.heap.size === 0) this.onChange();
  }

  /** Takes out and calls all that is due. */
  ring(): void {
    const nowMs = this.monotonic();
    for (let alarm = this.heap.peek(); alarm !== undefined && alarm.dueAtMs <= nowMs; alarm = this.heap.peek()) {
      this.heap.remove(alarm);
      alarm.callback();
    }
  }
}
