// From the module, since a test may have put its own timers in place of the global ones.
import { clearInterval, setInterval } from 'node:timers';
import type { VirtualClock } from './virtual-clock.js';

/** Several looks: an event loop that was blocked for a second by something else counts as one of them. */
const LOOKS = 10;
const LOOK_EVERY_MS = 100;

/**
 * Says once that a virtual clock has stood still for about a second of real time, although it has timers to call back and nothing is busy. Does not keep the process
 * alive. Returns how to stop looking.
 */
export function watchStandstill(clock: VirtualClock, busy: () => boolean, standsStill: () => void): () => void {
  let seenMs = clock.monotonic();
  let looks = 0;
  const interval = setInterval(() => {
    const nowMs = clock.monotonic();
    looks = nowMs !== seenMs || clock.pendingTimers === 0 || busy() ? 0 : looks + 1;
    seenMs = nowMs;
    if (looks < LOOKS) return;
    clearInterval(interval);
    standsStill();
  }, LOOK_EVERY_MS);
  interval.unref();
  return () => clearInterval(interval);
}
