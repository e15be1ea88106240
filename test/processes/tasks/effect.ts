/** One act of a task's method, as the ledger keeps it. */
export interface Effect {
  readonly task: 'singleton' | 'parallel';
  /** The run's fencing token; a parallel task has none. */
  readonly token: number | null;
  readonly process: string;
  readonly phase: 'started' | 'ended';
  /** The host's clock. */
  readonly atMs: number;
  /** Of an end: the delay that the method returns next. */
  readonly nextInMs: number | null;
}

/** In the order in which the ledger was asked. */
export interface KeptEffect extends Effect {
  /** `false`: refused, a higher token was there before. */
  readonly accepted: boolean;
}
