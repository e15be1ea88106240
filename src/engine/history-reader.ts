import type { Clock } from '../ambient/clock.js';
import { nextLoopTurn } from '../ambient/event-loop.js';
import type { Random } from '../ambient/random.js';
import { failureWaitMs } from '../coordination/ask-again.js';
import type { LastFire } from '../coordination/claimer.js';
import type { GuardedBackend } from '../coordination/guarded-backend.js';
import type { CronEvent } from '../events/cron-event.js';
import type { FireMissedEvent } from '../events/fire-event.js';
import type { Alarms } from '../fire/fire-services.js';
import type { HistoryGate } from '../fire/history-gate.js';
import type { Entry } from './entry.js';
import type { LastRuns } from './last-runs.js';

export type FoundBy = FireMissedEvent['foundBy'];

export interface HistoryParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly alarms: Alarms;
  readonly emit: (event: CronEvent) => void;
  readonly instanceId: string;
  readonly lastRuns: LastRuns;
  /** Whether what was missed is this replica's to make up for. */
  readonly mayCatchUp: () => boolean;
  /** Plans what the entry missed in (`afterMs`, `untilMs`], and sends it off. Answers how many instants that were. */
  readonly catchUp: (entry: Entry, afterMs: number, untilMs: number, foundBy: FoundBy) => number;
}

/** What is to be found out of an entry. Entries that started together share one. */
export interface HistoryQuestion {
  /** Its instants up to here are looked at; later ones are the wake loop's. */
  readonly untilMs: number;
  readonly foundBy: FoundBy;
}

/** Planned in one stretch of the event loop: so many entries, or as many instants of fewer. */
const ENTRIES_PER_STRETCH = 1_000;
const INSTANTS_PER_STRETCH = 10_000;

/** A store that just failed is not looked at again for this long, whoever waits. */
const REST_MS = 50;

const NO_FIRES: ReadonlyMap<string, LastFire> = new Map();

/**
 * Finds out when entries last ran, by one store: all that are asked about in one turn are one read. A read that fails is told once, and made again until it succeeds. The entries' scheduled
 * fires wait here meanwhile.
 */
export class HistoryReader implements HistoryGate {
  private readonly unread = new Map<Entry, HistoryQuestion>();
  /** The store has no history of them; the application is asked. */
  private readonly unanswered = new Map<Entry, HistoryQuestion>();
  private readonly waiting = new Map<Entry, Set<() => void>>();
  private looking: Promise<void> | undefined;
  private alarm: object | undefined;
  private announced = false;
  private failures = 0;
  private restUntilMs = Number.NEGATIVE_INFINITY;
  private stopped = false;

  /** `store`: absent for entries that no store remembers. */
  constructor(
    private readonly store: Pick<GuardedBackend, 'lastFire'> | undefined,
    private readonly parts: HistoryParts,
  ) {}

  /** To be found out with the next read. Answers whether the caller has to announce it: that `look` is called when the turn is over. */
  add(entry: Entry, question: HistoryQuestion): boolean {
    this.unanswered.delete(entry);
    this.unread.set(entry, question);
    entry.history = this;
    if (this.announced || this.alarm !== undefined || this.looking !== undefined) return false;
    this.announced = true;
    return true;
  }

  /** Nothing is to be found out of it any more. */
  drop(entry: Entry): void {
    this.unread.delete(entry);
    this.unanswered.delete(entry);
    this.known(entry);
  }

  onKnown(entry: Entry, callback: () => void): () => void {
    const callbacks = this.waiting.get(entry) ?? new Set();
    this.waiting.set(entry, callbacks.add(callback));
    return () => {
      callbacks.delete(callback);
      if (callbacks.size === 0 && this.waiting.get(entry) === callbacks) this.waiting.delete(entry);
    };
  }

  look(): Promise<void> {
    if (this.looking !== undefined) return this.looking;
    if (this.stopped || this.unread.size === 0 || this.parts.clock.monotonic() < this.restUntilMs)
      return Promise.resolve();
    this.clearAlarm();
    this.announced = false;
    this.looking = this.lookOnce().finally(() => {
      this.looking = undefined;
      if (this.alarm === undefined) void this.look();
    });
    return this.looking;
  }

  /** Nothing is read or sent any more, and no timer is left. */
  stop(): void {
    this.stopped = true;
    this.clearAlarm();
    this.unread.clear();
    this.unanswered.clear();
  }

  /** Never rejects. */
  private async lookOnce(): Promise<void> {
    const asked = [...this.unread.keys()];
    let fires: ReadonlyMap<string, LastFire>;
    try {
      const read = this.parts.mayCatchUp() ? await this.store?.lastFire(asked.map(({ key }) => key)) : undefined;
      fires = read ?? NO_FIRES;
    } catch (error) {
      this.failed(error);
      return;
    }
    this.failures = 0;
    await this.settle(asked, fires);
  }

  private failed(error: unknown): void {
    if (this.stopped) return;
    const { clock, random, alarms } = this.parts;
    if (this.failures === 0) this.tell(error);
    this.failures += 1;
    this.restUntilMs = clock.monotonic() + REST_MS;
    this.alarm = alarms.set(Math.max(REST_MS, failureWaitMs(this.failures, random)), () => {
      this.alarm = undefined;
      void this.look();
    });
  }

  private async settle(entries: readonly Entry[], fires: ReadonlyMap<string, LastFire>): Promise<void> {
    let settled = 0;
    let instants = 0;
    for (const entry of entries) {
      if (settled === ENTRIES_PER_STRETCH || instants >= INSTANTS_PER_STRETCH) {
        settled = 0;
        instants = 0;
        await nextLoopTurn();
      }
      const question = this.unread.get(entry);
      // Removed or changed while it was read.
      if (question === undefined) continue;
      this.unread.delete(entry);
      settled += 1;
      instants += this.read(entry, question, fires.get(entry.key));
    }
  }

  /** Answers how many instants were planned. */
  private read(entry: Entry, question: HistoryQuestion, last: LastFire | undefined): number {
    const { lastRun } = entry.policies;
    if (last === undefined && lastRun !== null && this.parts.mayCatchUp()) {
      this.unanswered.set(entry, question);
      this.parts.lastRuns.ask(entry.key, lastRun).then(
        (lastRunMs) => this.answered(entry, question, lastRunMs),
        (error: unknown) => {
          if (this.unanswered.get(entry) === question) this.tell(error, entry);
          this.answered(entry, question, undefined);
        },
      );
      return 0;
    }
    // Claimed under another schedule: which of the instants since were this one's to run cannot be told.
    const unchanged = last !== undefined && last.schedule === entry.scheduleFingerprint;
    return this.found(entry, question, unchanged ? last.scheduledAt.getTime() : undefined);
  }

  private answered(entry: Entry, question: HistoryQuestion, lastRunMs: number | undefined): void {
    if (this.unanswered.get(entry) !== question) return;
    this.unanswered.delete(entry);
    this.found(entry, question, lastRunMs);
  }

  /** What was missed is sent before anybody who waits goes on. */
  private found(entry: Entry, { untilMs, foundBy }: HistoryQuestion, lastMs: number | undefined): number {
    let instants = 0;
    if (lastMs !== undefined && this.parts.mayCatchUp()) {
      entry.history = undefined;
      instants = this.parts.catchUp(entry, lastMs, untilMs, foundBy);
    }
    this.known(entry);
    return instants;
  }

  private known(entry: Entry): void {
    if (entry.history === this) entry.history = undefined;
    const callbacks = this.waiting.get(entry);
    if (callbacks === undefined) return;
    this.waiting.delete(entry);
    for (const callback of callbacks) callback();
  }

  private tell(error: unknown, entry?: Entry): void {
    const { clock, instanceId, emit } = this.parts;
    const about = entry === undefined ? {} : { entryKey: entry.key };
    emit({ type: 'history.unreachable', atMs: clock.now(), instanceId, error, ...about });
  }

  private clearAlarm(): void {
    if (this.alarm !== undefined) this.parts.alarms.cancel(this.alarm);
    this.alarm = undefined;
  }
}
