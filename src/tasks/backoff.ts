import type { Backoff } from '../domain/backoff.js';

/** How long a task waits after each failure in a row, where its options do not say. */
export const DEFAULT_BACKOFF: Backoff = Object.freeze({ minMs: 100, maxMs: 10_000, factor: 2, jitter: 0 });
