import { AsyncResource } from 'node:async_hooks';
import type { GuardedBackend } from '../coordination/guarded-backend.js';
import type { Entry } from './entry.js';
import { type FoundBy, type HistoryParts, type HistoryQuestion, HistoryReader } from './history-reader.js';

/** Finds out what entries missed before this replica reached their instants itself: at its start, when they are added, and when it comes to lead. */
export class History {
  /** By store; `undefined` for entries that no store remembers, of which the application may know. */
  private readonly readers = new Map<GuardedBackend | undefined, HistoryReader>();
  private stopped = false;
  /** Reads, and what they make run, belong to the scheduler, not to the request or the fire that added an entry. */
  private readonly inOwnContext = AsyncResource.bind((act: () => void) => act());

  constructor(private readonly parts: HistoryParts) {}

  /** Entries are armed already. Those of which nobody can know when they last ran have missed nothing. */
  begin(entries: Iterable<Entry>, foundBy: FoundBy): void {
    if (this.stopped) return;
    let question: HistoryQuestion | undefined;
    for (const entry of entries) {
      const store = entry.claims?.remembers === true ? entry.claims : undefined;
      if (entry.failed || (store === undefined && entry.policies.lastRun === null)) continue;
      // The instant that is armed is the loop's, and all that come after it.
      const untilMs = entry.askedAfterMs;
      if (question?.untilMs !== untilMs) question = { untilMs, foundBy };
      const reader = this.readerOf(store);
      if (reader.add(entry, question)) this.whenTurnIsOver(() => void reader.look());
    }
  }

  /** Nothing of the entry is made up for any more, where that was not done yet. */
  drop(entry: Entry): void {
    entry.history?.drop(entry);
  }

  /** Nothing is read or sent any more, and no timer is left. */
  stop(): void {
    this.stopped = true;
    for (const reader of this.readers.values()) reader.stop();
    this.parts.lastRuns.stop();
  }

  private readerOf(store: GuardedBackend | undefined): HistoryReader {
    let reader = this.readers.get(store);
    if (reader === undefined) {
      reader = new HistoryReader(store, this.parts);
      this.readers.set(store, reader);
    }
    return reader;
  }

  private whenTurnIsOver(act: () => void): void {
    void Promise.resolve().then(() => this.inOwnContext(act));
  }
}
