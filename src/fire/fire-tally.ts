import type { Fire, FireOrigin } from '../domain/fire.js';
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

type Counts<T> = { -readonly [K in keyof T]: T[K] extends number ? number : Record<keyof T[K], number> };

function noCounts(): Counts<FireCounters> {
  return {
    started: 0,
    completed: 0,
    failed: 0,
    retried: 0,
    canceled: 0,
    missed: 0,
    abandoned: 0,
    skipped: { 'not-leader': 0, 'election-error': 0, 'already-claimed': 0, 'claim-error': 0 },
    rejected: { overlap: 0, 'concurrency-limit': 0, paused: 0, guard: 0 },
  };
}

function copyOf(counts: FireCounters): FireCounters {
  return { ...counts, skipped: { ...counts.skipped }, rejected: { ...counts.rejected } };
}

/** What one entry's fires came to. */
export class EntryTally {
  readonly counts = noCounts();
  /** Wall clock when a method of it was last called. */
  lastStartedAtMs: number | null = null;
  private lastFire: Fire | undefined;
  private lastAtMs = 0;
  private lastKind: LastOutcome['kind'] = 'completed';
  private lastReason: string | undefined;
  private lastError: string | undefined;
  private lastDurationMs: number | undefined;

  /** What the fire's end said, in its own fields: the outcome itself holds what the method returned, which is not ours to keep. */
  ended(fire: Fire, outcome: Outcome | { readonly kind: 'abandoned' }, atMs: number): void {
    this.lastFire = fire;
    this.lastAtMs = atMs;
    this.lastKind = outcome.kind;
    this.lastReason = 'reason' in outcome ? outcome.reason : undefined;
    this.lastError = 'error' in outcome ? shownError(outcome.error) : undefined;
    this.lastDurationMs = 'durationMs' in outcome ? outcome.durationMs : undefined;
  }

  get lastOutcome(): LastOutcome | null {
    const { lastFire: fire } = this;
    if (fire === undefined) return null;
    return {
      fireKey: fire.fireKey,
      scheduledAt: fire.scheduledAt,
      origin: fire.origin,
      kind: this.lastKind,
      ...(this.lastReason === undefined ? {} : { reason: this.lastReason }),
      ...(this.lastError === undefined ? {} : { error: this.lastError }),
      atMs: this.lastAtMs,
      ...(this.lastDurationMs === undefined ? {} : { durationMs: this.lastDurationMs }),
    };
  }
}

/** One for all entries that never fired, of which there may be very many. */
const NOTHING: FireCounters = noCounts();
for (const part of [NOTHING, NOTHING.skipped, NOTHING.rejected]) Object.freeze(part);

/** Counts what becomes of fires, per entry and for the replica, whether or not anybody watches their events. An entry of which nothing was told has no tally. */
export class FireTally {
  private readonly all = noCounts();

  /** Of all entries since the start, also of those that were removed. A copy. */
  get totals(): FireCounters {
    return copyOf(this.all);
  }

  /** Of one entry, as they are now. */
  static of({ tally }: FireEntry): FireCounters {
    return tally === undefined ? NOTHING : copyOf(tally.counts);
  }

  started(entry: FireEntry, atMs: number): void {
    const tally = tallyOf(entry);
    tally.counts.started += 1;
    tally.lastStartedAtMs = atMs;
    this.all.started += 1;
  }

  retried(entry: FireEntry): void {
    tallyOf(entry).counts.retried += 1;
    this.all.retried += 1;
  }

  ended({ entry, fire }: Pass, outcome: Outcome, atMs: number): void {
    const tally = tallyOf(entry);
    count(tally.counts, outcome);
    count(this.all, outcome);
    tally.ended(fire, outcome, atMs);
  }

  /** `entry`: absent if it was removed meanwhile. */
  missed(entry: FireEntry | undefined, instants: number): void {
    if (entry !== undefined) tallyOf(entry).counts.missed += instants;
    this.all.missed += instants;
  }

  /** `entry`: absent if it was removed meanwhile. */
  abandoned(entry: FireEntry | undefined, fire: Fire, atMs: number): void {
    this.all.abandoned += 1;
    if (entry === undefined) return;
    const tally = tallyOf(entry);
    tally.counts.abandoned += 1;
    tally.ended(fire, { kind: 'abandoned' }, atMs);
  }
}

function tallyOf(entry: FireEntry): EntryTally {
  entry.tally ??= new EntryTally();
  return entry.tally;
}

function count(counts: Counts<FireCounters>, outcome: Outcome): void {
  switch (outcome.kind) {
    case 'completed':
    case 'failed':
    case 'canceled':
      counts[outcome.kind] += 1;
      return;
    case 'skipped':
      counts.skipped[outcome.reason] += 1;
      return;
    case 'rejected':
      counts.rejected[outcome.reason] += 1;
      return;
    default:
      outcome satisfies never;
  }
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
