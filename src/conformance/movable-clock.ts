/** A clock that a test moves, such as `VirtualClock` of `nestjs-distributed-cron/testing`. */
export interface MovableClock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Moves it on by this many milliseconds. */
  advance(byMs: number): Promise<void>;
  /** Sets it, also back, by this many milliseconds. */
  step(byMs: number): void;
}
