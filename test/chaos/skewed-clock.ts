import type { Clock, TimerHandle } from 'nestjs-distributed-cron';

/** The host's clock with a wall time that can be set while it runs. Timers and the monotonic clock go on, as they do on a host whose time is stepped. */
export class SkewedClock implements Clock {
  private offsetMs = 0;

  set(offsetMs: number): void {
    this.offsetMs = offsetMs;
  }

  now(): number {
    return Date.now() + this.offsetMs;
  }

  monotonic(): number {
    return performance.now();
  }

  setTimer(callback: () => void, delayMs: number): TimerHandle {
    return setTimeout(callback, delayMs);
  }

  clearTimer(timer: TimerHandle): void {
    clearTimeout(timer as NodeJS.Timeout);
  }
}
