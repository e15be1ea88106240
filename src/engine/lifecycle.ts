/** `idle` has never started; `draining` lets what was asked or runs come to its end; `stopped` is final. */
export type LifecycleState = 'idle' | 'started' | 'draining' | 'stopped';

const TRANSITIONS: Readonly<Record<LifecycleState, readonly LifecycleState[]>> = {
  idle: ['started', 'draining'],
  started: ['draining'],
  draining: ['stopped'],
  stopped: [],
};

/** Where a scheduler is between its start and its end. */
export class Lifecycle {
  private current: LifecycleState = 'idle';

  get state(): LifecycleState {
    return this.current;
  }

  /** Draining or stopped: nothing new is taken. */
  get ending(): boolean {
    return this.current === 'draining' || this.current === 'stopped';
  }

  /** Answers whether the step was taken: a second start, drain or stop is no step. */
  enter(next: LifecycleState): boolean {
    if (!TRANSITIONS[this.current].includes(next)) return false;
    this.current = next;
    return true;
  }
}
