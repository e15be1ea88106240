import type { FireBoard } from './fire-board';
import type { ExpectedFire } from './jobs';
import type { FireReport } from './messages';

/** A fire as the table shows it. */
export interface FireLine {
  readonly instant: string;
  readonly job: string;
  readonly ranOn: string;
  /** From the instant to the start. */
  readonly after: string;
  readonly work: string;
  readonly others: string;
}

export interface FireLineSources {
  readonly board: FireBoard;
  readonly replicas: readonly { readonly name: string; readonly killed: boolean }[];
  readonly workOf: (fire: ExpectedFire) => string;
}

const hasRun = (report: FireReport | undefined) =>
  report !== undefined && (report.kind === 'ran' || report.kind === 'failed' || report.kind === 'running');

export function fireLine(fire: ExpectedFire, { board, replicas, workOf }: FireLineSources): FireLine {
  const seen = replicas.map(({ name, killed }) => ({ name, killed, report: board.report(fire, name) }));
  const runners = seen.filter(({ report }) => hasRun(report));
  const others = new Map<string, string[]>();
  for (const { name, report } of seen) {
    if (report?.kind !== 'not-run') continue;
    const reason = report.error === undefined ? report.reason : `${report.reason} (${report.error})`;
    others.set(reason, [...(others.get(reason) ?? []), name]);
  }
  const lateness = runners.map(({ name }) => board.latenessMs(fire, name)).filter((ms) => ms !== undefined);
  return {
    instant: new Date(fire.instantMs).toISOString().slice(11, 19),
    job: fire.entryKey,
    ranOn: runners.length === 0 ? '-' : runners.map(({ name }) => name).join(', '),
    after: lateness.length === 0 ? '' : `${Math.min(...lateness)} ms`,
    // A fire that ran twice did its work twice; the shop knows only the sum.
    work: [...new Set(runners.map(({ killed, report }) => workOfRun(killed, report, () => workOf(fire))))].join(
      ' and ',
    ),
    others: [...others].map(([reason, names]) => `${names.join(', ')}: ${reason}`).join('; '),
  };
}

function workOfRun(killed: boolean, report: FireReport | undefined, work: () => string): string {
  if (report?.kind === 'failed') return `failed: ${report.error}`;
  if (report?.kind === 'ran') return work();
  return killed ? 'KILLED inside its transaction' : 'runs';
}
