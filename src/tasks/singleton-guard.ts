import type { LeaseLoss } from '../fire/lease-hold.js';
import type { TaskMemory } from './task-memory.js';

/** What keeps a singleton task from running on two replicas, and remembers it between its runs. */
export interface SingletonGuard {
  /** Whether a due time survives a change of homes. */
  readonly remembers: boolean;
  /** How the task stands, without a change to it: how long until it is due, or until it is worth asking again because another replica runs it. */
  look(): Promise<number>;
  /** `null`: another replica runs it. */
  take(): Promise<TakenTask | null>;
}

/** A task that only this replica may run now. */
export interface TakenTask {
  readonly fencingToken: number | null;
  readonly memory: TaskMemory;
  /** 0 or less: due. */
  readonly dueInMs: number;
  /** Set once it is no longer ours. */
  readonly lost: LeaseLoss | undefined;
  /** The time that is kept with the task. */
  now(): Date;
  /** Is told once if it is lost. */
  onLost(tell: (loss: LeaseLoss) => void): void;
  /** Looks whether it is still ours, and tells if not. */
  check(): void;
  /** Lets others have it; with what follows from a run, where there was one. `false`: that is not known to have been kept. */
  giveBack(after?: { readonly memory: TaskMemory; readonly nextInMs: number }): Promise<boolean>;
  /** Its method goes on, but nobody is left to keep it ours. */
  abandon(): void;
}
