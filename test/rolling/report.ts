import type { StoreName } from '../processes/open-store.js';
import { counts, list } from '../processes/report-list.js';
import type { RolloutVerdict } from './judge-rollout.js';

export interface RolloutReport {
  readonly store: StoreName;
  /** Old replicas that ended by themselves, with code 0. */
  readonly replaced: number;
  readonly verdict: RolloutVerdict;
  /** How long each took from SIGTERM to its end. */
  readonly drainsMs: readonly number[];
  /** What single replicas did not run, by reason. */
  readonly skips: ReadonlyMap<string, number>;
  readonly failures: readonly string[];
  /** Of processes: with another code, by themselves, or not in time. */
  readonly deaths: readonly string[];
  readonly beginMs: number;
}

export function reportLines({ verdict, drainsMs, skips, failures, deaths, beginMs }: RolloutReport): string[] {
  const seconds = (atMs: number) => `${((atMs - beginMs) / 1_000).toFixed(3)} s`;
  const [shortestMs, longestMs] = [Math.min(...drainsMs), Math.max(...drainsMs)];
  const lines = [`from SIGTERM to the end: ${shortestMs} to ${longestMs} ms`];
  counts(lines, 'not run by one replica', skips);
  list(lines, 'run more than once', verdict.duplicates, ({ fireKey, runs }) => {
    return `${fireKey}: ${runs.map(({ replica, atMs }) => `${replica} at ${seconds(atMs)}`).join('; ')}`;
  });
  list(lines, 'not run: it may not overlap, and every replica was at an earlier one', verdict.overlapped, (key) => key);
  list(lines, 'lost', verdict.lost, ({ fireKey, why }) => `${fireKey}: ${why}`);
  list(lines, 'a replica that was up said nothing of a fire', verdict.silent, (line) => line);
  list(lines, 'methods or schedules failed', failures, (line) => line);
  list(lines, 'processes that did not drain and end with 0', deaths, (line) => line);
  return lines;
}

/** Of all fires: more of them that could not overlap are no rollout of a fleet with idle replicas. */
const MOST_OVERLAPPED_PART = 0.02;

/** The last line. */
export function closingLine({ store, replaced, verdict }: RolloutReport): string {
  const { fires, runs, duplicates, lost } = verdict;
  return `rolling: store=${store} replaced=${replaced} fires=${fires} runs=${runs} duplicates=${duplicates.length} lost=${lost.length}`;
}

export function isFine({ verdict, replaced, failures, deaths }: RolloutReport, toReplace: number): boolean {
  const { fires, overlapped, duplicates, lost, silent } = verdict;
  const whole = fires > 0 && replaced === toReplace && overlapped.length <= MOST_OVERLAPPED_PART * fires;
  return whole && [duplicates, lost, silent, failures, deaths].every(({ length }) => length === 0);
}
