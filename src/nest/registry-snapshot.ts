import type { EntryDetails } from '../engine/entry-view.js';
import type { Scheduler } from '../engine/scheduler.js';
import type { FireCounters, LastOutcome } from '../fire/fire-tally.js';
import type { TaskView } from '../tasks/task.js';
import type { TaskScheduler } from '../tasks/task-scheduler.js';

/** This replica's scheduler as plain JSON: dates are texts in ISO 8601. */
export interface RegistrySnapshot {
  readonly instanceId: string;
  readonly hostname: string;
  readonly pid: number;
  readonly state: string;
  /** Version of the zone data. Replicas with different data compute different instants around changed rules. */
  readonly timeZoneData: string;
  /** What became of fires on this replica since it started, all entries together, those that were removed too. */
  readonly counters: FireCounters;
  readonly entries: readonly EntrySnapshot[];
  readonly tasks: readonly TaskSnapshot[];
}

type Dated = 'nextAt' | 'previousAt' | 'next' | 'lastStartedAt' | 'lastOutcome';

export interface EntrySnapshot extends Omit<EntryDetails, Dated> {
  /** The instant that is armed now; `null`: none, the scheduler does not run, or the schedule failed. */
  readonly nextAt: string | null;
  /** The latest instant of the schedule that has passed, whether it ran or not; `null`: none, the schedule cannot look back, or it failed. */
  readonly previousAt: string | null;
  /** The next five instants; fewer where the schedule ends, none where it failed. */
  readonly next: readonly string[];
  /** When its method was last called on this replica; `null`: not yet. */
  readonly lastStartedAt: string | null;
  /** How its last fire ended on this replica; `null`: none has. */
  readonly lastOutcome: OutcomeSnapshot | null;
}

export interface OutcomeSnapshot extends Omit<LastOutcome, 'scheduledAt'> {
  readonly scheduledAt: string;
}

export interface TaskSnapshot extends Omit<TaskView, 'nextAt'> {
  /** When this replica next looks whether the task is due; `null`: it runs, its home is elsewhere, or nothing is scheduled. */
  readonly nextAt: string | null;
}

export function snapshotOf(scheduler: Scheduler, tasks: TaskScheduler): RegistrySnapshot {
  const { id, hostname, pid } = scheduler.instance;
  return {
    instanceId: id,
    hostname,
    pid,
    state: scheduler.state,
    timeZoneData: process.versions.tz ?? 'unknown',
    counters: scheduler.counters(),
    entries: scheduler.snapshot().map(entrySnapshot),
    tasks: tasks.list().map((task) => ({ ...task, nextAt: text(task.nextAt) })),
  };
}

function entrySnapshot(entry: EntryDetails): EntrySnapshot {
  const { lastOutcome } = entry;
  return {
    ...entry,
    nextAt: text(entry.nextAt),
    previousAt: text(entry.previousAt),
    next: entry.next.map((instant) => instant.toISOString()),
    lastStartedAt: text(entry.lastStartedAt),
    lastOutcome: lastOutcome && { ...lastOutcome, scheduledAt: lastOutcome.scheduledAt.toISOString() },
  };
}

function text(date: Date | null): string | null {
  return date === null ? null : date.toISOString();
}
