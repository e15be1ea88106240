import type { MissedPolicy } from 'nestjs-distributed-cron';
import { fireKeyOf } from '../processes/fire-key.js';
import type { ExpectedFire } from '../processes/verdict.js';

/** The entries of the fleet, written once as options for the library and once as arithmetic for the judge, who must not ask the library what is due. */
export interface ChaosEntry {
  readonly key: string;
  readonly periodMs: number;
  /** Its instants are the multiples of the period since the epoch, whole minutes included. */
  readonly expression: string;
  readonly missed: MissedPolicy;
  readonly jitterMs: number;
}

const LONGEST_PERIOD_S = 10;
const MISSED: readonly MissedPolicy[] = ['run-once', 'skip', 'run-all'];
const JITTER_MS = 200;

export function chaosEntries(count: number): ChaosEntry[] {
  return Array.from({ length: count }, (_, i) => {
    const seconds = 1 + (i % LONGEST_PERIOD_S);
    const round = Math.floor(i / LONGEST_PERIOD_S);
    return {
      key: `entry-${i}`,
      periodMs: seconds * 1_000,
      // In a field, a step that does not divide the minute starts anew with each.
      expression: 60 % seconds === 0 ? `*/${seconds} * * * * *` : `@every ${seconds}s`,
      missed: MISSED[round % MISSED.length] as MissedPolicy,
      // The others meet on all replicas in one turn, and go to the store in one batch.
      jitterMs: i % 3 === 0 ? JITTER_MS : 0,
    };
  });
}

/** All fires whose instant lies after `fromMs` and not after `untilMs`. */
export function expectedFires(entries: readonly ChaosEntry[], fromMs: number, untilMs: number): ExpectedFire[] {
  return entries.flatMap(({ key, periodMs }) => {
    const fires: ExpectedFire[] = [];
    for (let atMs = (Math.floor(fromMs / periodMs) + 1) * periodMs; atMs <= untilMs; atMs += periodMs) {
      fires.push({ entryKey: key, instantMs: atMs, fireKey: fireKeyOf(key, atMs) });
    }
    return fires;
  });
}
