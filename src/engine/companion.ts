/** What starts and ends with a scheduler beside its entries: tasks that schedule themselves. */
export interface Companion {
  /** Methods that run now. */
  readonly running: number;
  start(): void;
  /** Nothing begins from here on. Resolves when nothing is under way, with how many methods were aborted. Never rejects. */
  drain(): Promise<number>;
  /** Brings the deadline of the drain forward to now. */
  hurry(): void;
}
