import type { Clock } from '../ambient/clock.js';

/** How long a reading of the store's clock is carried on by this replica's monotonic time. */
const READ_AGAIN_MS = 60_000;

/**
 * The store's time, so that replicas whose wall clocks differ mean the same moment by a due time. Read now and then and carried on in monotonic time, which no step of a
 * local clock changes. A store without a clock leaves the replicas' own: then a task can be as early or late after a handover as they differ.
 */
export class StoreTime {
  private read: { readonly storeMs: number; readonly monotonicMs: number } | undefined;
  private reading: Promise<void> | undefined;

  constructor(
    private readonly clock: Clock,
    /** How far the store's clock is ahead of ours; `undefined` if it has none. Rejects if the store cannot be asked. */
    private readonly offsetMs: () => Promise<number | undefined>,
  ) {}

  /** Milliseconds since the epoch. Rejects with `CoordinationError` if the store has to be asked and does not answer. */
  async now(): Promise<number> {
    const { read } = this;
    if (read === undefined || this.clock.monotonic() - read.monotonicMs > READ_AGAIN_MS) {
      this.reading ??= this.readStore().finally(() => {
        this.reading = undefined;
      });
      await this.reading;
    }
    return this.sinceRead();
  }

  /** As `now`, from the last reading however old it is. */
  sinceRead(): number {
    if (this.read === undefined) return this.clock.now();
    return this.read.storeMs + this.clock.monotonic() - this.read.monotonicMs;
  }

  private async readStore(): Promise<void> {
    const offsetMs = (await this.offsetMs()) ?? 0;
    this.read = { storeMs: this.clock.now() + offsetMs, monotonicMs: this.clock.monotonic() };
  }
}
