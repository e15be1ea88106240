/** A one-shot timer that was set. Opaque: only the clock that made it can clear it. */
export type TimerHandle = object;

/**
 * Time as the library sees it. Everything that asks what time it is or waits goes through this port, so that a test owns
 * both. No other file reads a clock or sets a timer.
 */
export interface Clock {
  /** Wall clock, milliseconds since the epoch. May step in either direction. */
  now(): number;
  /** Milliseconds since an arbitrary start. Never steps, but may stand still while the machine is suspended. */
  monotonic(): number;
  /** Calls back once after `delayMs` (0 to 2^31 - 1) of monotonic time; a little early or late is normal. Keeps the process alive until it did. */
  setTimer(callback: () => void, delayMs: number): TimerHandle;
  clearTimer(timer: TimerHandle): void;
}

/** The longest delay a Node timer takes; above it Node fires at once with a warning. */
export const MAX_TIMER_DELAY_MS = 2_147_483_647;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
  setTimer: (callback, delayMs) => setTimeout(callback, delayMs),
  clearTimer: (timer) => clearTimeout(timer as NodeJS.Timeout),
};
