import type { Homes } from '../coordination/homes.js';
import type { CronEvent } from '../events/cron-event.js';
import type { SingletonRunner } from './singleton-runner.js';

export interface TaskPlacementParts {
  readonly homes: Homes;
  readonly emit: (event: CronEvent) => void;
  readonly now: () => number;
  readonly instanceId: string;
}

/** Tells each singleton task whether its home is here, now and after every change of the members. Asks nobody in between. */
export class TaskPlacement {
  private readonly runners = new Set<SingletonRunner>();
  private active = false;

  constructor(private readonly parts: TaskPlacementParts) {
    parts.homes.onChange(() => {
      for (const runner of [...this.runners]) this.place(runner);
    });
  }

  /** From here on homes count. The members are joined only if there is a task that needs to know them. */
  start(): void {
    this.active = true;
    if (this.runners.size > 0) this.parts.homes.join();
    for (const runner of this.runners) this.place(runner);
  }

  add(runner: SingletonRunner): void {
    this.runners.add(runner);
    if (!this.active) return;
    this.parts.homes.join();
    this.place(runner);
  }

  remove(runner: SingletonRunner): void {
    this.runners.delete(runner);
  }

  private place(runner: SingletonRunner): void {
    if (!this.active) return;
    const { homes, emit, now, instanceId } = this.parts;
    const { key: taskKey, kind } = runner.definition;
    const home = homes.homeOf(taskKey);
    const here = home === homes.memberName;
    if (!runner.homeIs(home, here)) return;
    emit({ type: 'task.home-changed', atMs: now(), instanceId, taskKey, kind, home: home ?? null, here });
  }
}
