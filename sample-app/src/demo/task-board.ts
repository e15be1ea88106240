import type { TaskReport } from './messages';

/** How a task stands on one replica. */
export interface TaskOnReplica {
  runs: number;
  failures: number;
  /** As that replica sees the members, the task lives there. A parallel one lives everywhere. */
  home: boolean;
}

/** A singleton that runs on another replica than the last time. */
export interface TaskMove {
  readonly key: string;
  /** `undefined`: its first run of all. */
  readonly from: string | undefined;
  readonly to: string;
}

/** What each replica reported about each task. */
export class TaskBoard {
  private readonly tasks = new Map<string, { kind: TaskReport['kind']; on: Map<string, TaskOnReplica> }>();
  private readonly lastRunOn = new Map<string, string>();

  /** Answers a move, if this report tells of one. */
  take(replica: string, { key, kind, what }: TaskReport): TaskMove | undefined {
    const task = this.tasks.get(key) ?? { kind, on: new Map() };
    const seen = task.on.get(replica) ?? { runs: 0, failures: 0, home: kind === 'parallel' };
    this.tasks.set(key, { ...task, on: task.on.set(replica, seen) });
    if (what === 'home' || what === 'not-home') seen.home = what === 'home';
    if (what === 'failed') seen.failures += 1;
    if (what !== 'started') return undefined;
    seen.runs += 1;
    const from = this.lastRunOn.get(key);
    if (kind === 'parallel' || from === replica) return undefined;
    this.lastRunOn.set(key, replica);
    return { key, from, to: replica };
  }

  /** Singletons first: they are what one watches. */
  keys(): string[] {
    const rank = (key: string) => (this.kindOf(key) === 'singleton' ? 0 : 1);
    return [...this.tasks.keys()].sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
  }

  kindOf(key: string): TaskReport['kind'] | undefined {
    return this.tasks.get(key)?.kind;
  }

  /** Where the singletons ran last. */
  places(): TaskMove[] {
    return [...this.lastRunOn].map(([key, to]) => ({ key, from: undefined, to }));
  }

  on(key: string, replica: string): TaskOnReplica {
    return this.tasks.get(key)?.on.get(replica) ?? { runs: 0, failures: 0, home: false };
  }
}
