import type { Fire, FireOrigin } from '../domain/fire.js';
import { fireKey } from '../domain/fire-key.js';
import type { RejectReason, SkipReason } from '../domain/skip-reason.js';
import type { FireEntry, Outcome, Pass } from './pass.js';

/** What became of fires on this replica since it started. Numbers only grow. */
export interface FireCounters {
  /** Fires whose method was called; a retry is no further one. */
  readonly started: number;
  readonly completed: number;
  readonly failed: number;
  /** Attempts that failed and were to be followed by another one within their fire. */
  readonly retried: number;
  readonly canceled: number;
  /** Instants that did not run because the replica reached them late; a lower bound where an event said `atLeast`. */
  readonly missed: number;
  /** Fires with `recovery: 'rerun'` that this replica found to have had all their attempts. */
  readonly abandoned: number;
  readonly skipped: Readonly<Record<SkipReason, number>>;
  readonly rejected: Readonly<Record<RejectReason, number>>;
}

/** How a fire of an entry ended on this replica. */
export interface LastOutcome {
  readonly fireKey: string;
  readonly scheduledAt: Date;
  readonly origin: FireOrigin;
  readonly kind: Outcome['kind'] | 'abandoned';
  /** Why it did not run. */
  readonly reason?: string;
  /** Message of the error, its first 1,000 characters. */
  readonly error?: string;
  /** Wall clock at its end, milliseconds since the epoch. */
  readonly atMs: number;
  /** From the first call of its method, retries included; absent where that was not called. */
  readonly durationMs?: number;
}

/**
 * Numbers that are counted up. Flat, and with no part that was not needed yet: ten thousand entries that fire in one turn for the first time make as many of these, and what is kept for each of them
 * is what the collector then spends its time on.
 */
class Counts {
  started = 0;
  completed = 0;
  failed = 0;
  retried = 0;
  canceled = 0;
  missed = 0;
  abandoned = 0;
  private skipped: Record<SkipReason, number> | undefined;
  private rejected: Record<RejectReason, number> | undefined;

  end(outcome: Outcome): void {
    switch (outcome.kind) {
      case 'completed':
      case 'failed':
      case 'canceled':
        this[outcome.kind] += 1;
        return;
      case 'skipped':
        this.skipped ??= { ...NONE_SKIPPED };
        this.skipped[outcome.reason] += 1;
        return;
      case 'rejected':
        this.rejected ??= { ...NONE_REJECTED };
        this.rejected[outcome.reason] += 1;
        return;
      default:
        outcome satisfies never;
    }
  }

  get copy(): FireCounters {
    const { started, completed, failed, retried, canceled, missed, abandoned } = this;
    const [skipped, rejected] = [{ ...(this.skipped ?? NONE_SKIPPED) }, { ...(this.rejected ?? NONE_REJECTED) }];
    return { started, completed, failed, retried, canceled, missed, abandoned, skipped, rejected };
  }
}

const NONE_SKIPPED = Object.freeze({ 'not-leader': 0, 'election-error': 0, 'already-claimed': 0, 'claim-error': 0 });
const NONE_REJECTED = Object.freeze({ overlap: 0, 'concurrency-limit': 0, paused: 0, guard: 0 });

/** What one entry's fires came to. Nothing of a fire is kept but numbers and words: a fire that is kept outlives its turn, and very many then cost more than they did to run. */
export class EntryTally extends Counts {
  /** Wall clock when a method of it was last called; NaN: never. */
  private startedAtMs = Number.NaN;
  private lastScheduledAtMs = Number.NaN;
  private lastAtMs = Number.NaN;
  private lastDurationMs = Number.NaN;
  private lastOrigin: FireOrigin = 'schedule';
  private lastKind: LastOutcome['kind'] | undefined;
  private lastReason: string | undefined;
  private lastError: string | undefined;
  /** Of a manual fire: any other's follows from its instant. */
  private lastManualKey: string | undefined;

  start(atMs: number): void {
    this.started += 1;
    this.startedAtMs = atMs;
  }

  /** What the fire's end said, in fields of its own: the outcome itself holds what the method returned, which is not ours to keep. */
  keep(fire: Fire, outcome: Outcome | { readonly kind: 'abandoned' }, atMs: number): void {
    this.lastScheduledAtMs = fire.scheduledAt.getTime();
    this.lastOrigin = fire.origin;
    this.lastManualKey = fire.origin === 'manual' ? fire.fireKey : undefined;
    this.lastAtMs = atMs;
    this.lastKind = outcome.kind;
    this.lastReason = 'reason' in outcome ? outcome.reason : undefined;
    this.lastError = 'error' in outcome ? shownError(outcome.error) : undefined;
    this.lastDurationMs = 'durationMs' in outcome ? outcome.durationMs : Number.NaN;
  }

  get lastStartedAtMs(): number | null {
    return Number.isNaN(this.startedAtMs) ? null : this.startedAtMs;
  }

  lastOutcome(entryKey: string): LastOutcome | null {
    if (this.lastKind === undefined) return null;
    return {
      fireKey: this.lastManualKey ?? fireKey(entryKey, this.lastScheduledAtMs),
      scheduledAt: new Date(this.lastScheduledAtMs),
      origin: this.lastOrigin,
      kind: this.lastKind,
      ...(this.lastReason === undefined ? {} : { reason: this.lastReason }),
      ...(this.lastError === undefined ? {} : { error: this.lastError }),
      atMs: this.lastAtMs,
      ...(Number.isNaN(this.lastDurationMs) ? {} : { durationMs: this.lastDurationMs }),
    };
  }
}

/** One for all entries that never fired, of which there may be very many. */
const NOTHING: FireCounters = new Counts().copy;
for (const part of [NOTHING, NOTHING.skipped, NOTHING.rejected]) Object.freeze(part);

/** Counts what becomes of fires, per entry and for the replica, whether or not anybody watches their events. An entry of which nothing was told has no tally. */
export class FireTally {
  private readonly all = new Counts();

  /** Of all entries since the start, also of those that were removed. A copy. */
  get totals(): FireCounters {
    return this.all.copy;
  }

  /** Of one entry, as they are now. */
  static of({ tally }: FireEntry): FireCounters {
    return tally === undefined ? NOTHING : tally.copy;
  }

  started(entry: FireEntry, atMs: number): void {
    tallyOf(entry).start(atMs);
    this.all.started += 1;
  }

  retried(entry: FireEntry): void {
    tallyOf(entry).retried += 1;
    this.all.retried += 1;
  }

  ended({ entry, fire }: Pass, outcome: Outcome, atMs: number): void {
    const tally = tallyOf(entry);
    tally.end(outcome);
    tally.keep(fire, outcome, atMs);
    this.all.end(outcome);
  }

  /** `entry`: absent if it was removed meanwhile. */
  missed(entry: FireEntry | undefined, instants: number): void {
    if (entry !== undefined) tallyOf(entry).missed += instants;
    this.all.missed += instants;
  }

  /** `entry`: absent if it was removed meanwhile. */
  abandoned(entry: FireEntry | undefined, fire: Fire, atMs: number): void {
    this.all.abandoned += 1;
    if (entry === undefined) return;
    const tally = tallyOf(entry);
    tally.abandoned += 1;
    tally.keep(fire, { kind: 'abandoned' }, atMs);
  }
}

function tallyOf(entry: FireEntry): EntryTally {
  entry.tally ??= new EntryTally();
  return entry.tally;
}

const SHOWN_CHARACTERS = 1_000;

/** What a method threw is anything at all, and to read it may throw in turn. */
function shownError(error: unknown): string {
  try {
    const text = error instanceof Error ? error.message : error;
    return String(text).slice(0, SHOWN_CHARACTERS);
  } catch {
    return 'an error that cannot be read';
  }
}
