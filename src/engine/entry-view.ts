import { type FireCounters, FireTally, type LastOutcome } from '../fire/fire-tally.js';
import type { Schedule } from '../schedule/schedule.js';
import type { Entry } from './entry.js';
import { nextInstant, previousInstant } from './next-instant.js';

/** What an operator sees of an entry. Plain data; counted and told since this replica started. */
export interface EntryView {
  readonly key: string;
  /** The expression as written, or what the schedule calls itself. */
  readonly expression: string;
  /** The zone of the instants; absent where the schedule depends on none. */
  readonly timeZone?: string;
  /** The instant that is armed now; `null`: none, the scheduler does not run, or the schedule failed. */
  readonly nextAt: Date | null;
  /** On this replica. */
  readonly paused: boolean;
  /** Over the fleet, as far as this replica knows: it learns so from a call of its own, or when it next asks for a claim. */
  readonly pausedOverFleet: boolean;
  /** Fires that hold a slot: they run, pause before they are tried again, or wait for their jitter or claim. */
  readonly underWay: number;
  /** Methods that run now. */
  readonly running: number;
  /** The schedule failed; the entry fires no more until it is updated. */
  readonly failed: boolean;
  readonly counters: FireCounters;
  /** When its method was last called on this replica; `null`: not yet. */
  readonly lastStartedAt: Date | null;
  /** How its last fire ended on this replica; `null`: none has. */
  readonly lastOutcome: LastOutcome | null;
}

/** An entry with the instants around now. */
export interface EntryDetails extends EntryView {
  /** The latest instant of the schedule that has passed, whether it ran or not; `null`: none, the schedule cannot look back, or it failed. */
  readonly previousAt: Date | null;
  /** The next five instants; fewer where the schedule ends, none where it failed. */
  readonly next: readonly Date[];
}

const SHOWN_INSTANTS = 5;

export function viewOf(entry: Entry, running: number): EntryView {
  const { timeZone, label } = entry.schedule;
  const { tally } = entry;
  const startedAtMs = tally?.lastStartedAtMs ?? null;
  return {
    key: entry.key,
    expression: label,
    ...(timeZone === undefined ? {} : { timeZone }),
    nextAt: entry.nextAtMs === null ? null : new Date(entry.nextAtMs),
    paused: entry.paused,
    pausedOverFleet: entry.pausedOverFleet,
    underWay: entry.slots,
    running,
    failed: entry.failed,
    counters: FireTally.of(entry),
    lastStartedAt: startedAtMs === null ? null : new Date(startedAtMs),
    lastOutcome: tally?.lastOutcome(entry.key) ?? null,
  };
}

type Around = Pick<EntryDetails, 'previousAt' | 'next'>;

/** The instants around one moment, computed once for each distinct schedule: many entries share one. */
export class InstantsAround {
  private readonly known = new Map<Schedule, Around>();

  constructor(private readonly nowMs: number) {}

  of(schedule: Schedule): Around {
    let around = this.known.get(schedule);
    if (around === undefined) {
      around = { previousAt: previousOf(schedule, this.nowMs), next: nextOf(schedule, this.nowMs) };
      this.known.set(schedule, around);
    }
    return around;
  }
}

/** A schedule is the user's code: one that throws has no instants to show, and takes no other entry's from the list. */
function nextOf(schedule: Schedule, nowMs: number): Date[] {
  try {
    return nextInstants(schedule, nowMs, SHOWN_INSTANTS);
  } catch {
    return [];
  }
}

function previousOf(schedule: Schedule, nowMs: number): Date | null {
  const { previous, label } = schedule;
  if (previous === undefined) return null;
  try {
    const atMs = previousInstant({ previous: previous.bind(schedule), label }, nowMs + 1);
    return atMs === null ? null : new Date(atMs);
  } catch {
    return null;
  }
}

/** At most `count` instants after `afterMs`. Throws what the schedule throws. */
export function nextInstants(schedule: Schedule, afterMs: number, count: number): Date[] {
  const instants: Date[] = [];
  let atMs: number | null = afterMs;
  while (instants.length < count) {
    atMs = nextInstant(schedule, atMs);
    if (atMs === null) break;
    instants.push(new Date(atMs));
  }
  return instants;
}
