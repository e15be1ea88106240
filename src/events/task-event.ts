import type { EventBase } from './event-base.js';

interface TaskEventBase extends EventBase {
  readonly taskKey: string;
  readonly kind: 'singleton' | 'parallel';
}

interface TaskRunEventBase extends TaskEventBase {
  /** 1, and one more for each failure in a row before. */
  readonly attempt: number;
  /** `null`: the run is under no lease. */
  readonly fencingToken: number | null;
}

export interface TaskStartedEvent extends TaskRunEventBase {
  readonly type: 'task.started';
}

export interface TaskCompletedEvent extends TaskRunEventBase {
  readonly type: 'task.completed';
  readonly durationMs: number;
  /** What its method asked for. */
  readonly nextInMs: number;
}

/** The method threw, returned no delay, or lost its lease while it ran. The task goes on. */
export interface TaskFailedEvent extends TaskRunEventBase {
  readonly type: 'task.failed';
  readonly durationMs: number;
  readonly error: unknown;
  /** The backoff; `null` after a lost lease, where the record in the store says. */
  readonly nextInMs: number | null;
}

/** The lease was lost while the method runs: its signal was aborted. `task.failed` follows when it has ended. */
export interface TaskLeaseLostEvent extends TaskEventBase {
  readonly type: 'task.lease-lost';
  readonly fencingToken: number;
  /** `lapsed`: no renewal was confirmed in time. `taken`: the store says the lease is no longer ours. */
  readonly reason: 'lapsed' | 'taken';
}

/** The store did not say whether the task may run here; it is asked again, with backoff. Once per outage and task. */
export interface TaskBlockedEvent extends TaskEventBase {
  readonly type: 'task.blocked';
  readonly error: unknown;
}

/** As this replica sees the members, another one than before is home to the singleton task. */
export interface TaskHomeChangedEvent extends TaskEventBase {
  readonly type: 'task.home-changed';
  /** `null`: no member is. */
  readonly home: string | null;
  /** This replica is. */
  readonly here: boolean;
}
