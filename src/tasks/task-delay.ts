import { durationMs } from '../domain/duration.js';
import { TaskDelayError } from './task-errors.js';

/** A task that asks for nothing still lets others run before it runs again. */
export const SHORTEST_WAIT_MS = 1;
/** More is taken for a mistake, such as microseconds. */
const LONGEST_WAIT_MS = 10 * 366 * 86_400_000;

/** The wait that a method's return value asks for. @throws TaskDelayError */
export function taskDelayMs(taskKey: string, returned: unknown): number {
  const delayMs = durationMs(returned);
  if (delayMs === undefined || delayMs > LONGEST_WAIT_MS) throw new TaskDelayError(taskKey, textOf(returned));
  return Math.max(SHORTEST_WAIT_MS, delayMs);
}

function textOf(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 40));
  return typeof value === 'number' || value === null ? String(value) : `a value of type ${typeof value}`;
}
