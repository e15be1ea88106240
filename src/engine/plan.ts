import type { EntryPolicies } from '../domain/entry.js';
import type { Schedule } from '../schedule/schedule.js';
import { nextInstant, previousInstant, ScheduleAnswerError } from './next-instant.js';

/** Instants that do not run are counted one by one up to this; beyond it the count is a lower bound. */
export const COUNTED_INSTANTS = 10_000;

/** The most missed instants that `run-all` runs in one plan: the newest; the rest are reported. */
export const RUN_ALL_CAP = 1_000;

export interface PlannedFire {
  readonly atMs: number;
  readonly origin: 'schedule' | 'catch-up';
}

export interface MissedInstants {
  readonly firstMs: number;
  readonly lastMs: number;
  readonly count: number;
  readonly atLeast: boolean;
}

/** What to do with an entry that came due. */
export interface Plan {
  /** Oldest first. */
  readonly fires: readonly PlannedFire[];
  /** Instants that will not run; `undefined` if every due one does. */
  readonly missed: MissedInstants | undefined;
  /** The newest instant that was due. The entry's next one is asked after it, not after now: a late turn skips nothing. */
  readonly reachedMs: number;
}

/**
 * Decides which of the instants from `dueMs` to `untilMs` run, which is not after `nowMs`. Pure. The newest runs as an ordinary fire when it is reached within the tolerance; every
 * other due instant is missed, and the policy says which of those are made up for. Throws what the schedule throws.
 */
export function plan(
  schedule: Schedule,
  dueMs: number,
  nowMs: number,
  policies: EntryPolicies,
  untilMs: number = nowMs,
): Plan {
  if (isOnlyFire(schedule, dueMs, nowMs, policies)) return onlyFire(dueMs);
  const due = dueInstants(schedule, dueMs, untilMs, policies.missed === 'run-all' ? RUN_ALL_KEPT : NEWEST_KEPT);

  const newestMs = due.newest[due.newest.length - 1]!;
  const newestOnTime = nowMs - newestMs <= policies.missedToleranceMs;
  const missed = newestOnTime ? due.newest.slice(0, -1) : due.newest;
  const fires: PlannedFire[] = madeUpFor(missed, newestOnTime, nowMs, policies).map((atMs) => ({
    atMs,
    origin: 'catch-up',
  }));
  if (newestOnTime) fires.push({ atMs: newestMs, origin: 'schedule' });
  return { fires, missed: reported(dueMs, due, fires), reachedMs: newestMs };
}

/**
 * Decides what becomes of the instants in (`afterMs`, `untilMs`] that nobody may have reached: those a replica finds at its start. Instants older than `catchUpWithin` are not
 * looked for, and none that is still to come. `undefined`: there is none. Throws what the schedule throws.
 */
export function planMissed(
  schedule: Schedule,
  afterMs: number,
  untilMs: number,
  nowMs: number,
  policies: EntryPolicies,
): Plan | undefined {
  const fromMs = Math.max(afterMs, nowMs - policies.catchUpWithinMs);
  const endMs = Math.min(untilMs, nowMs);
  if (fromMs >= endMs) return undefined;
  const firstMs = nextInstant(schedule, fromMs);
  return firstMs === null || firstMs > endMs ? undefined : plan(schedule, firstMs, nowMs, policies, endMs);
}

/** Whether `dueMs` is on time and, as far as can be told without asking the schedule, the only instant that is due. So are nearly all. */
export function isOnlyFire(schedule: Schedule, dueMs: number, nowMs: number, policies: EntryPolicies): boolean {
  const lateMs = nowMs - dueMs;
  return lateMs <= policies.missedToleranceMs && lateMs < (schedule.minIntervalMs ?? 1);
}

function onlyFire(dueMs: number): Plan {
  return { fires: [{ atMs: dueMs, origin: 'schedule' }], missed: undefined, reachedMs: dueMs };
}

function madeUpFor(
  missed: readonly number[],
  newestOnTime: boolean,
  nowMs: number,
  policies: EntryPolicies,
): readonly number[] {
  const young = missed.filter((atMs) => nowMs - atMs <= policies.catchUpWithinMs);
  switch (policies.missed) {
    case 'skip':
      return [];
    case 'run-once':
      return newestOnTime ? [] : young.slice(-1);
    case 'run-all':
      return young.slice(-RUN_ALL_CAP);
    default:
      return policies.missed satisfies never;
  }
}

interface DueInstants {
  /** Exact up to what is walked; from there on a lower bound. */
  readonly count: number;
  /** The newest of them in ascending order, without a gap: enough for what runs, and the last that is reported. */
  readonly newest: readonly number[];
}

/** Of `skip` and `run-once` at most the newest runs, and the one before it is the last that is reported: a long outage costs no more than two looks back. */
const NEWEST_KEPT = 2;

/** What `run-all` runs, the ordinary fire, and the last that is reported. */
const RUN_ALL_KEPT = RUN_ALL_CAP + 2;

function dueInstants(schedule: Schedule, dueMs: number, untilMs: number, kept: number): DueInstants {
  // Far enough that the instants which do not run can be counted up to `COUNTED_INSTANTS`, however many do.
  const furthest = COUNTED_INSTANTS + kept;
  const walked = [dueMs];
  for (let atMs = nextInstant(schedule, dueMs); atMs !== null && atMs <= untilMs; atMs = nextInstant(schedule, atMs)) {
    if (walked.length === furthest)
      return { count: walked.length, newest: newestInstants(schedule, dueMs, untilMs, kept) };
    walked.push(atMs);
  }
  return { count: walked.length, newest: walked.slice(-kept) };
}

/** Looks back from `untilMs`. Only called when there are more than enough instants in (`afterMs`, `untilMs`]. */
function newestInstants(schedule: Schedule, afterMs: number, untilMs: number, kept: number): readonly number[] {
  const { previous, label } = schedule;
  if (previous === undefined) return newestByWindow(schedule, afterMs, untilMs, kept);
  const backwards = { previous: previous.bind(schedule), label };
  const newest: number[] = [];
  let beforeMs = untilMs + 1;
  while (newest.length < kept) {
    const atMs = previousInstant(backwards, beforeMs);
    if (atMs === null || atMs <= afterMs) throw new ScheduleAnswerError(label, `previous(${beforeMs})`, WALKED, atMs);
    newest.push(atMs);
    beforeMs = atMs;
  }
  return newest.reverse();
}

const WALKED = 'one of the instants that next() answered';

/** A schedule that cannot look back is asked forward from ever further before `untilMs`, until that yields enough. */
function newestByWindow(schedule: Schedule, afterMs: number, untilMs: number, kept: number): readonly number[] {
  for (let windowMs = 1_000; ; windowMs *= 2) {
    const fromMs = Math.max(afterMs, untilMs - windowMs);
    let newest: number[] = [];
    for (
      let atMs = nextInstant(schedule, fromMs);
      atMs !== null && atMs <= untilMs;
      atMs = nextInstant(schedule, atMs)
    ) {
      newest.push(atMs);
      if (newest.length === 2 * RUN_ALL_KEPT) newest = newest.slice(-RUN_ALL_KEPT);
    }
    if (newest.length >= kept || fromMs === afterMs) return newest.slice(-kept);
  }
}

/** What does not run is always the oldest part: every policy runs the newest. */
function reported(firstMs: number, due: DueInstants, fires: readonly PlannedFire[]): MissedInstants | undefined {
  const count = due.count - fires.length;
  if (count === 0) return undefined;
  const lastMs = due.newest[due.newest.length - fires.length - 1]!;
  return { firstMs, lastMs, count: Math.min(count, COUNTED_INSTANTS), atLeast: count > COUNTED_INSTANTS };
}
