import type { Clock } from '../ambient/clock.js';
import type { Random } from '../ambient/random.js';
import type { CronEvent } from '../events/cron-event.js';
import type { Alarms } from '../fire/fire-services.js';
import type { TaskTurns } from './task-turns.js';

/** What the runners work with. One per scheduler. */
export interface TaskServices {
  readonly clock: Clock;
  readonly random: Random;
  readonly alarms: Alarms;
  readonly emit: (event: CronEvent) => void;
  readonly instanceId: string;
  readonly turns: TaskTurns;
  /** From drain's start on no run begins. */
  readonly draining: () => boolean;
}
