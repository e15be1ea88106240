import type { Claimer } from '../coordination/claimer.js';
import type { GuardedBackend } from '../coordination/guarded-backend.js';
import type { EntryPolicies } from '../domain/entry.js';
import type { FireContext } from '../fire/fire-context.js';
import type { EntryTally } from '../fire/fire-tally.js';
import type { FireEntry } from '../fire/pass.js';
import type { Schedule } from '../schedule/schedule.js';
import type { HistoryReader } from './history-reader.js';
import type { HeapItem } from './timer-heap.js';

/** What an entry is made of. */
export interface EntryDefinition {
  readonly key: string;
  readonly schedule: Schedule;
  readonly policies: EntryPolicies;
  readonly run: (context: FireContext) => unknown;
  /** A claimer of its own; `null`: none, every replica runs its fires; left out: the scheduler's store. */
  readonly claimer?: Claimer | null | undefined;
}

/** One scheduled method, its place in the timer heap, and what runs of it now. */
export class Entry implements FireEntry, HeapItem {
  readonly key: string;
  schedule: Schedule;
  policies: EntryPolicies;
  run: (context: FireContext) => unknown;
  claims: GuardedBackend | undefined;
  generation = 0;
  removed = false;
  paused = false;
  pausedOverFleet = false;
  slots = 0;
  /** Where its last fire is read, until it is known what was missed. */
  history: HistoryReader | undefined;
  /** Up to here it is settled on this replica what was missed. */
  settledUntilMs = Number.NEGATIVE_INFINITY;
  /** The instant that the armed one was asked after when it was paused: from there on, nothing was reached that ran. */
  pausedAfterMs = Number.NaN;
  tally: EntryTally | undefined;
  /** Its schedule failed: it fires no more until it is updated. */
  failed = false;
  /** The instant that the armed one was asked after. Ahead of the wall clock only if that was set back. */
  askedAfterMs: number;
  dueAtMs = Number.POSITIVE_INFINITY;
  heapIndex = -1;

  constructor(definition: EntryDefinition, claims: GuardedBackend | undefined, nowMs: number) {
    this.key = definition.key;
    this.schedule = definition.schedule;
    this.policies = definition.policies;
    this.run = definition.run;
    this.claims = claims;
    this.askedAfterMs = nowMs;
  }

  get scheduleFingerprint(): string {
    return this.schedule.fingerprint;
  }

  get nextAtMs(): number | null {
    return this.heapIndex === -1 ? null : this.dueAtMs;
  }
}
