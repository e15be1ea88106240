import type { Clock } from '../ambient/clock.js';
import type { Random } from '../ambient/random.js';
import type { Elector } from '../coordination/elector.js';
import type { CronEvent } from '../events/cron-event.js';
import type { CatchUpTurns } from './catch-up-turns.js';
import type { FireTally } from './fire-tally.js';
import type { Slots } from './slots.js';

/** A wait on the scheduler's one timer, in monotonic time. */
export interface Alarms {
  set(delayMs: number, callback: () => void): object;
  cancel(alarm: object): void;
}

/** What the stages work with. One per scheduler. */
export interface FireServices {
  readonly clock: Clock;
  readonly random: Random;
  readonly alarms: Alarms;
  /** Who may run now. A pass that waits for a place asks here, and is told here when one frees. */
  readonly slots: Slots;
  /** Where caught-up fires that have their claim wait for their place. */
  readonly catchUpTurns: CatchUpTurns;
  readonly tally: FireTally;
  readonly emit: (event: CronEvent) => void;
  /** Whether anybody would see an event of what merely went as planned. Such events are not made for nobody: a fire costs about as much as they do. */
  readonly watched: () => boolean;
  readonly instanceId: string;
  readonly namespace: string;
  readonly coordinationTimeoutMs: number;
  readonly claimPatienceMs: number;
  /** Life of the leases that runs hold. */
  readonly leaseTtlMs: number;
  /** Absent: every replica goes on to the claim. */
  readonly elector?: Elector | undefined;
  /** Which replica is home to a fire, as this one sees it; absent: none is known to be. */
  readonly homes?: { isHere(fireKey: string): boolean } | undefined;
  /** From drain's start on no claim is asked. */
  readonly draining: () => boolean;
  /** The drain deadline has passed: a fire that is granted now can no longer run. */
  readonly outOfTime: () => boolean;
  readonly drainDeadlineMs: number;
}
