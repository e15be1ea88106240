import type { RunRecord } from '../processes/records.js';
import { counts, list } from '../processes/report-list.js';
import type { Verdict } from '../processes/verdict.js';
import { countByKind, describeFault, FAULT_KINDS, type FaultKind, type StoreName } from './fault-plan.js';
import type { InjectedFault } from './faults.js';

export interface Report {
  readonly store: StoreName;
  readonly verdict: Verdict;
  readonly runs: readonly RunRecord[];
  readonly skips: ReadonlyMap<string, number>;
  readonly faults: readonly InjectedFault[];
  readonly beginMs: number;
}

/** How long after a fault is healed its consequences are looked for. */
const AFTERMATH_MS = 10_000;

export function reportLines({ verdict, runs, skips, faults, beginMs }: Report): string[] {
  const times = runs.map(({ atMs }) => atMs).sort((a, b) => a - b);
  const lines = [`${verdict.fires} fires, ${verdict.runs} runs`];
  counts(lines, 'not run by one replica', skips);
  counts(lines, 'not run at all, because', verdict.explained);
  lines.push('', 'longest time without any run, from each fault to 10 s after it was healed');
  for (const { fault, fromMs, toMs } of [...faults].sort((a, b) => a.fromMs - b.fromMs)) {
    const gapMs = longestGapMs(times, fromMs, toMs + AFTERMATH_MS);
    lines.push(`  ${(gapMs / 1_000).toFixed(1).padStart(5)} s  ${describeFault({ ...fault, atMs: fromMs - beginMs })}`);
  }
  list(lines, 'run more than once', verdict.duplicates, ({ fireKey, runs: ran }) => {
    return `${fireKey}: ${ran.map(({ replica, atMs }) => `${replica} at ${((atMs - beginMs) / 1_000).toFixed(3)} s`).join('; ')}`;
  });
  list(lines, 'not run, unexplained', verdict.unexplained, ({ fireKey, why }) => `${fireKey}: ${why}`);
  list(lines, 'granted by the store to two passes', verdict.grantedTwice, (fireKey) => fireKey);
  return lines;
}

/** Between two runs, or a run and one of the ends. */
export function longestGapMs(sortedTimes: readonly number[], fromMs: number, toMs: number): number {
  const within = [fromMs, ...sortedTimes.filter((atMs) => atMs > fromMs && atMs < toMs), toMs];
  return within.reduce((longestMs, atMs, i) => Math.max(longestMs, atMs - (within[i - 1] ?? atMs)), 0);
}

/** The last line. */
export function closingLine({ store, verdict, faults }: Report): string {
  const byKind = countByKind(faults.map(({ fault }) => fault));
  const kinds = FAULT_KINDS.filter((kind) => byKind.has(kind)).map((kind) => `${kind}:${byKind.get(kind)}`);
  const { fires, runs, duplicates, unexplained } = verdict;
  return `chaos: store=${store} fires=${fires} runs=${runs} duplicates=${duplicates.length} unexplained=${unexplained.length} faults=${kinds.join(',')}`;
}

export function neverInjected(wanted: readonly FaultKind[], faults: readonly InjectedFault[]): FaultKind[] {
  const injected = countByKind(faults.map(({ fault }) => fault));
  return wanted.filter((kind) => !injected.has(kind));
}
