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
 * Decides which of the instants from `dueMs` to `nowMs` run. Pure. The newest runs as an ordinary fire when it is reached within the tolerance; every
 * other due instant is missed, and the policy says which of those are made up for. Throws what the schedule throws.
 */
export function plan(schedule: Schedule, dueMs: number, nowMs: number, policies: EntryPolicies): Plan {
  if (isOnlyFire(schedule, dueMs, nowMs, policies)) return onlyFire(dueMs);
  const due = dueInstants(schedule, dueMs, nowMs);

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
  /** Exact up to `WALKED_INSTANTS`; from there on a lower bound. */
  readonly count: number;
  /** The newest of them in ascending order, without a gap: enough for what `run-all` runs, the ordinary fire, and the last that is reported. */
  readonly newest: readonly number[];
}

const NEWEST_KEPT = RUN_ALL_CAP + 2;

/** Far enough that the instants which do not run can be counted up to `COUNTED_INSTANTS`, however many do. */
const WALKED_INSTANTS = COUNTED_INSTANTS + NEWEST_KEPT;

function dueInstants(schedule: Schedule, dueMs: number, nowMs: number): DueInstants {
  const walked = [dueMs];
  for (let atMs = nextInstant(schedule, dueMs); atMs !== null && atMs <= nowMs; atMs = nextInstant(schedule, atMs)) {
    if (walked.length === WALKED_INSTANTS)
      return { count: walked.length, newest: newestInstants(schedule, dueMs, nowMs) };
    walked.push(atMs);
  }
  return { count: walked.length, newest: walked.slice(-NEWEST_KEPT) };
}

/** Looks back from now. Only called when there are more than enough instants in (`afterMs`, `nowMs`]. */
function newestInstants(schedule: Schedule, afterMs: number, nowMs: number): readonly number[] {
  const { previous, label } = schedule;
  if (previous === undefined) return newestByWindow(schedule, afterMs, nowMs);
  const backwards = { previous: previous.bind(schedule), label };
  const newest: number[] = [];
  let beforeMs = nowMs + 1;
  while (newest.length < NEWEST_KEPT) {
    const atMs = previousInstant(backwards, beforeMs);
    if (atMs === null || atMs <= afterMs) throw new ScheduleAnswerError(label, `previous(${beforeMs})`, WALKED, atMs);
    newest.push(atMs);
    beforeMs = atMs;
  }
  return newest.reverse();
}

const WALKED = 'one of the instants that next() answered';

/** A schedule that cannot look back is asked forward from ever further before now, until that yields enough. */
function newestByWindow(schedule: Schedule, afterMs: number, nowMs: number): readonly number[] {
  for (let windowMs = 1_000; ; windowMs *= 2) {
    const fromMs = Math.max(afterMs, nowMs - windowMs);
    let newest: number[] = [];
    for (let atMs = nextInstant(schedule, fromMs); atMs !== null && atMs <= nowMs; atMs = nextInstant(schedule, atMs)) {
      newest.push(atMs);
      if (newest.length === 2 * NEWEST_KEPT) newest = newest.slice(-NEWEST_KEPT);
    }
    if (newest.length >= NEWEST_KEPT || fromMs === afterMs) return newest.slice(-NEWEST_KEPT);
  }
}

/** What does not run is always the oldest part: every policy runs the newest. */
function reported(firstMs: number, due: DueInstants, fires: readonly PlannedFire[]): MissedInstants | undefined {
  const count = due.count - fires.length;
  if (count === 0) return undefined;
  const lastMs = due.newest[due.newest.length - fires.length - 1]!;
  return { firstMs, lastMs, count: Math.min(count, COUNTED_INSTANTS), atLeast: count > COUNTED_INSTANTS };
}
