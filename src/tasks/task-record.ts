import type { JsonValue } from '../coordination/lease-store.js';
import { NO_MEMORY, type TaskMemory } from './task-memory.js';

/** What the fleet keeps of a singleton task between its runs, as the value of its lease. */
export interface TaskRecord {
  /** By the store's clock; `null`: the task has never run to an end. */
  readonly dueAtMs: number | null;
  readonly memory: TaskMemory;
}

export const NO_RECORD: TaskRecord = Object.freeze({ dueAtMs: null, memory: NO_MEMORY });

export function recordValue({ dueAtMs, memory: { failures, previousRun } }: TaskRecord): JsonValue {
  return {
    dueAtMs,
    backoffStep: failures,
    previousRun: previousRun && {
      startedAtMs: previousRun.startedAt.getTime(),
      endedAtMs: previousRun.endedAt.getTime(),
      outcome: previousRun.outcome,
    },
  };
}

/** What another release, or another hand, wrote in a way that is not known here counts as never written: the task is due. */
export function readRecord(value: JsonValue): TaskRecord {
  if (!isObject(value)) return NO_RECORD;
  const { dueAtMs, backoffStep, previousRun } = value;
  const failures = Number.isSafeInteger(backoffStep) && (backoffStep as number) >= 0 ? (backoffStep as number) : 0;
  return {
    dueAtMs: isTime(dueAtMs) ? dueAtMs : null,
    memory: { failures, previousRun: isObject(previousRun) ? readRun(previousRun) : null },
  };
}

function readRun({ startedAtMs, endedAtMs, outcome }: { readonly [key: string]: JsonValue }) {
  if (!isTime(startedAtMs) || !isTime(endedAtMs) || (outcome !== 'completed' && outcome !== 'failed')) return null;
  return { startedAt: new Date(startedAtMs), endedAt: new Date(endedAtMs), outcome } as const;
}

function isObject(value: JsonValue | undefined): value is { readonly [key: string]: JsonValue } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The largest time a `Date` can hold. */
const MAX_TIME_MS = 8.64e15;

function isTime(value: JsonValue | undefined): value is number {
  return typeof value === 'number' && Math.abs(value) <= MAX_TIME_MS;
}
