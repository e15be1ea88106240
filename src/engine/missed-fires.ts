import type { Clock } from '../ambient/clock.js';
import type { Random } from '../ambient/random.js';
import type { LeaseElector } from '../coordination/lease-elector.js';
import type { CronEvent } from '../events/cron-event.js';
import type { Alarms } from '../fire/fire-services.js';
import type { Entry } from './entry.js';
import { History } from './history.js';
import type { FoundBy } from './history-reader.js';
import { LastRuns } from './last-runs.js';

export interface MissedFiresParts {
  readonly clock: Clock;
  readonly random: Random;
  readonly alarms: Alarms;
  readonly emit: (event: CronEvent) => void;
  readonly instanceId: string;
  readonly coordinationTimeoutMs: number;
  /** The lease that decides which replica's fires go on to their claim, where the library's own does. */
  readonly leadership: Pick<LeaseElector, 'leads' | 'onGained'> | undefined;
  readonly entries: () => Iterable<Entry>;
  /** Started, and not draining. */
  readonly firing: () => boolean;
  /** Plans what the entry missed in (`afterMs`, `untilMs`], and sends it off. Answers how many instants that were. */
  readonly plan: (entry: Entry, afterMs: number, untilMs: number, foundBy: FoundBy) => number;
}

/** When entries are asked what they missed, other than by a late turn of the loop: at the start, when they are added, when leadership is gained, and after a pause. */
export class MissedFires {
  private readonly history: History;

  constructor(private readonly parts: MissedFiresParts) {
    const { alarms, leadership, coordinationTimeoutMs } = parts;
    this.history = new History({
      ...parts,
      lastRuns: new LastRuns(alarms, coordinationTimeoutMs),
      mayCatchUp: () => leadership?.leads ?? true,
      // What was looked at once is not looked at again, as by a second term of one leader.
      catchUp: (entry, afterMs, untilMs, foundBy) =>
        this.makeUp(entry, Math.max(afterMs, entry.settledUntilMs), untilMs, foundBy),
    });
    leadership?.onGained(() => this.history.begin(parts.entries(), 'leadership'));
  }

  /** Who does not lead makes up for nothing: leadership that is gained begins it. */
  started(): void {
    if (this.parts.leadership === undefined) this.history.begin(this.parts.entries(), 'start');
  }

  added(entry: Entry): void {
    if (this.parts.leadership?.leads ?? true) this.history.begin([entry], 'start');
  }

  /** Applies the missed policy to a pause that began after `afterMs`. */
  resumed(entry: Entry, afterMs: number): void {
    this.makeUp(entry, afterMs, entry.askedAfterMs, 'resume');
  }

  /** Nothing of the entry is made up for any more, where that was not done yet. */
  drop(entry: Entry): void {
    this.history.drop(entry);
  }

  /** Nothing is read or sent any more, and no timer is left. */
  stop(): void {
    this.history.stop();
  }

  /** The instant that is armed is the loop's, and all that come after it. */
  private makeUp(entry: Entry, afterMs: number, untilMs: number, foundBy: FoundBy): number {
    if (!this.parts.firing() || entry.removed || entry.failed) return 0;
    entry.settledUntilMs = Math.max(entry.settledUntilMs, Math.min(untilMs, this.parts.clock.now()));
    return this.parts.plan(entry, afterMs, untilMs, foundBy);
  }
}
