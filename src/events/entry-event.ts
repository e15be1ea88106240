import type { EventBase } from './event-base.js';

/** The entry's next instant was computed: at its start, after a fire, an update, a resume, or a step of the clock. */
export interface EntryScheduledEvent extends EventBase {
  readonly type: 'entry.scheduled';
  readonly entryKey: string;
  /** `null`: the schedule has no further instant. */
  readonly nextAt: Date | null;
}

/** The schedule threw, did not advance, or answered no instant: this entry alone no longer fires, until it is updated. */
export interface EntryFailedEvent extends EventBase {
  readonly type: 'entry.failed';
  readonly entryKey: string;
  readonly error: unknown;
}

export interface EntryRemovedEvent extends EventBase {
  readonly type: 'entry.removed';
  readonly entryKey: string;
}

export interface EntryPausedEvent extends EventBase {
  readonly type: 'entry.paused';
  readonly entryKey: string;
  /** On this replica, or over the fleet: then this replica asked for it. */
  readonly scope: 'replica' | 'fleet';
}

export interface EntryResumedEvent extends EventBase {
  readonly type: 'entry.resumed';
  readonly entryKey: string;
  /** As for `entry.paused`. */
  readonly scope: 'replica' | 'fleet';
}
