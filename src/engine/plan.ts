import type { EntryPolicies } from '../domain/entry.js';
import type { Schedule } from '../schedule/schedule.js';
import { nextInstant } from './next-instant.js';

/** Missed instants are counted one by one up to this; beyond it the count is a lower bound. */
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
  const onTime = nowMs - dueMs <= policies.missedToleranceMs;
  if (onTime && nowMs - dueMs < (schedule.minIntervalMs ?? 1)) return onlyFire(dueMs);
  const due = dueInstants(schedule, dueMs, nowMs);
  if (onTime && due.count === 1) return onlyFire(dueMs);

  const newestMs = due.newest[due.newest.length - 1]!;
  const newestOnTime = nowMs - newestMs <= policies.missedToleranceMs;
  const missed = newestOnTime ? due.newest.slice(0, -1) : due.newest;
  const fires: PlannedFire[] = madeUpFor(missed, newestOnTime, nowMs, policies).map((atMs) => ({
    atMs,
    origin: 'catch-up',
  }));
  if (newestOnTime) fires.push({ atMs: newestMs, origin: 'schedule' });
  return { fires, missed: reported(due, fires), reachedMs: newestMs };
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
  readonly firstMs: number;
  readonly count: number;
  readonly atLeast: boolean;
  /** The newest of them in ascending order, without a gap: enough for what `run-all` runs, the ordinary fire, and the last that is reported. */
  readonly newest: readonly number[];
}

const NEWEST_KEPT = RUN_ALL_CAP + 2;

function dueInstants(schedule: Schedule, dueMs: number, nowMs: number): DueInstants {
  const counted = [dueMs];
  for (let atMs = nextInstant(schedule, dueMs); atMs !== null && atMs <= nowMs; atMs = nextInstant(schedule, atMs)) {
    if (counted.length === COUNTED_INSTANTS) {
      return { firstMs: dueMs, count: counted.length, atLeast: true, newest: newestInstants(schedule, dueMs, nowMs) };
    }
    counted.push(atMs);
  }
  return { firstMs: dueMs, count: counted.length, atLeast: false, newest: counted.slice(-NEWEST_KEPT) };
}

/** Looks back from now. Only called when there is an instant in (`afterMs`, `nowMs`]. */
function newestInstants(schedule: Schedule, afterMs: number, nowMs: number): readonly number[] {
  if (schedule.previous === undefined) return newestByWindow(schedule, afterMs, nowMs);
  const newest: number[] = [];
  let beforeMs = schedule.previous(nowMs + 1);
  while (beforeMs !== null && beforeMs > afterMs && newest.length < NEWEST_KEPT) {
    newest.push(beforeMs);
    beforeMs = schedule.previous(beforeMs);
  }
  return newest.reverse();
}

/** A schedule that cannot look back is asked from ever further before now until it answers an instant that is due. */
function newestByWindow(schedule: Schedule, afterMs: number, nowMs: number): readonly number[] {
  for (let windowMs = 1_000; ; windowMs *= 8) {
    const fromMs = Math.max(afterMs, nowMs - windowMs);
    const newest: number[] = [];
    for (let atMs = nextInstant(schedule, fromMs); atMs !== null && atMs <= nowMs; atMs = nextInstant(schedule, atMs))
      newest.push(atMs);
    if (newest.length > 0 || fromMs === afterMs) return newest.slice(-NEWEST_KEPT);
  }
}

function reported(due: DueInstants, fires: readonly PlannedFire[]): MissedInstants | undefined {
  const count = due.count - (due.atLeast ? 0 : fires.length);
  if (count === 0) return undefined;
  const run = new Set(fires.map((fire) => fire.atMs));
  const lastMs = due.newest.findLast((atMs) => !run.has(atMs)) ?? due.firstMs;
  return { firstMs: due.firstMs, lastMs, count, atLeast: due.atLeast };
}
