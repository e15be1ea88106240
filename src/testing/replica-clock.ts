import { AsyncResource } from 'node:async_hooks';
import { setImmediate as macrotask } from 'node:timers/promises';
import type { Clock, TimerHandle } from '../ambient/clock.js';
import type { ReplicaLife } from './replica-life.js';

interface ReplicaTimer {
  readonly callback: () => void;
  inFleet?: TimerHandle;
}

/** One replica's view of the fleet's clock: the same time, but its timers call back only while the replica runs, and end with it. */
export class ReplicaClock implements Clock {
  private readonly timers = new Set<ReplicaTimer>();
  /** Due while the replica was stalled. */
  private readonly due = new Set<ReplicaTimer>();
  private endedAt: { readonly now: number; readonly monotonic: number } | undefined;

  constructor(
    private readonly fleet: Clock,
    private readonly life: ReplicaLife,
  ) {}

  now(): number {
    return this.endedAt?.now ?? this.fleet.now();
  }

  monotonic(): number {
    return this.endedAt?.monotonic ?? this.fleet.monotonic();
  }

  setTimer(callback: () => void, delayMs: number): TimerHandle {
    // Bound here, and not by the fleet's clock alone: a timer that was due during a stall is called back by whoever wakes the replica.
    const timer: ReplicaTimer = { callback: AsyncResource.bind(callback) };
    if (this.life.killed) return timer;
    timer.inFleet = this.fleet.setTimer(() => {
      if (this.life.running) this.callBack(timer);
      else this.due.add(timer);
    }, delayMs);
    this.timers.add(timer);
    return timer;
  }

  clearTimer(handle: TimerHandle): void {
    const timer = handle as ReplicaTimer;
    this.timers.delete(timer);
    this.due.delete(timer);
    if (timer.inFleet !== undefined) this.fleet.clearTimer(timer.inFleet);
  }

  /** Calls back what was due during a stall, late and in order, as a process does that goes on. */
  async catchUp(): Promise<void> {
    for (const timer of this.due) {
      if (!this.life.running) return;
      this.due.delete(timer);
      this.callBack(timer);
      await macrotask();
    }
  }

  /** Time ends for this replica. */
  end(): void {
    this.endedAt = { now: this.now(), monotonic: this.monotonic() };
    for (const timer of this.timers) this.clearTimer(timer);
  }

  private callBack(timer: ReplicaTimer): void {
    this.timers.delete(timer);
    timer.callback();
  }
}
