import type { Clock } from '../ambient/clock.js';
import type { SingletonGuard, TakenTask } from './singleton-guard.js';
import { NO_MEMORY, type TaskMemory } from './task-memory.js';

/**
 * Where no store keeps leases: the ring alone says who runs the task, and this replica alone remembers it. While two replicas see different members, both may run it, or
 * none.
 */
export class RingOnlyGuard implements SingletonGuard {
  readonly remembers = false;
  private memory = NO_MEMORY;

  constructor(private readonly clock: Clock) {}

  async look(): Promise<number> {
    return 0;
  }

  async take(): Promise<TakenTask> {
    const { clock } = this;
    return {
      fencingToken: null,
      memory: this.memory,
      dueInMs: 0,
      lost: undefined,
      now: () => new Date(clock.now()),
      onLost: () => undefined,
      check: () => undefined,
      giveBack: async (after?: { readonly memory: TaskMemory }) => {
        if (after !== undefined) this.memory = after.memory;
        return true;
      },
      abandon: () => undefined,
    };
  }
}
