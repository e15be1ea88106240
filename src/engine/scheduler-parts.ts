import type { Clock } from '../ambient/clock.js';
import type { InstanceIdentity } from '../ambient/instance-identity.js';
import type { Random } from '../ambient/random.js';
import type { Elector } from '../coordination/elector.js';
import type { CronEvent } from '../events/cron-event.js';
import type { Companion } from './companion.js';
import type { Coordination } from './coordination.js';

/** What a scheduler is made of. */
export interface SchedulerParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly instance: InstanceIdentity;
  readonly emit: (event: CronEvent) => void;
  /** Whether anybody would see an event of what merely went as planned. */
  readonly watched: () => boolean;
  readonly namespace: string;
  readonly coordinationTimeoutMs: number;
  readonly claimPatienceMs: number;
  readonly leaseTtlMs: number;
  readonly drainDeadlineMs: number;
  /** Fires that run, or are on their way to it, at a time on this replica, all entries together; default `null`: no limit. */
  readonly maxConcurrentFires?: number | null;
  /** Caught-up fires that run at a time on this replica, all entries together; default 8. */
  readonly catchUpConcurrency?: number;
  readonly elector?: Elector | undefined;
  readonly coordination: Coordination;
  /** Starts, drains and stops with this scheduler. */
  readonly companion?: Companion | undefined;
}
