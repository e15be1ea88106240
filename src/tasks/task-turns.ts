import type { Endable, UnderWay } from '../engine/drain.js';
import type { TaskRun } from './task-run.js';

/** One turn of one task: from the moment it is due to the end of its run, or to the word that it must not run. */
export class TaskTurn implements Endable {
  /** Set while the method runs. */
  running: TaskRun | undefined;
}

/** The turns under way on this replica. */
export class TaskTurns implements UnderWay<TaskTurn> {
  private readonly turns = new Set<TaskTurn>();
  private waiters: (() => void)[] = [];

  get passes(): ReadonlySet<TaskTurn> {
    return this.turns;
  }

  /** Methods that run now. */
  get running(): number {
    let running = 0;
    for (const turn of this.turns) if (turn.running !== undefined) running += 1;
    return running;
  }

  begin(): TaskTurn {
    const turn = new TaskTurn();
    this.turns.add(turn);
    return turn;
  }

  end(turn: TaskTurn): void {
    this.turns.delete(turn);
    if (this.turns.size > 0) return;
    const { waiters } = this;
    this.waiters = [];
    for (const resolve of waiters) resolve();
  }

  idle(): Promise<void> {
    if (this.turns.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.waiters.push(resolve));
  }

  abandon(turn: TaskTurn, error: Error): void {
    turn.running?.giveUp(error);
  }
}
