import type { Duration } from '../domain/duration.js';

/** How long a task waits after a failure. */
export interface TaskRetryOptions {
  /** Wait after the first failure, at least 1 ms. Default 100 ms. */
  readonly min?: Duration;
  /** The longest wait. Default 10 s. */
  readonly max?: Duration;
  /** Each failure in a row waits this many times as long as the one before; at least 1. Default 2. */
  readonly factor?: number;
  /** The largest part, 0 to 1, by which a wait is shortened at random. Default 0. */
  readonly jitter?: number;
}

/** Options of a task that is added in code. */
export interface TaskOptions {
  /** Waits after a run that threw, or returned no delay. */
  readonly retry?: TaskRetryOptions;
  /** The first run on this replica comes after a random part of this. Default 2 s. */
  readonly initialDelay?: Duration;
}

/** Options of `@SingletonTask` and `@ParallelTask`. */
export interface TaskDecoratorOptions extends TaskOptions {
  /** Identity over the fleet, unique among the tasks of the application. Default `ClassName.methodName`. */
  readonly key?: string;
}
