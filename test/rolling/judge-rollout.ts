import { fireKeyOf } from '../processes/fire-key.js';
import type { Account, Life } from '../processes/life.js';
import { type ExpectedFire, runMoreThanOnce } from '../processes/verdict.js';
import type { PhasedRun } from './run-record.js';

export interface RolloutEvidence {
  readonly fires: readonly ExpectedFire[];
  /** Every line of the ledgers, those of other fires too. */
  readonly runs: readonly PhasedRun[];
  readonly lives: readonly Life[];
  /** Whether the fire is one of the life's version: where an entry's instants changed, the other version has nothing to say of them. */
  readonly concerns: (life: Life, fire: ExpectedFire) => boolean;
}

export interface RolloutVerdict {
  readonly fires: number;
  /** Runs that began, of these fires. */
  readonly runs: number;
  /** Fire keys that began more than once, expected or not, with who ran them. */
  readonly duplicates: readonly { readonly fireKey: string; readonly runs: readonly PhasedRun[] }[];
  /**
   * Fire keys that nobody ran because the entry may not overlap and every replica was still at an earlier fire of it, which its records show: on a machine so busy that a claim takes longer than the
   * interval. No other reason counts.
   */
  readonly overlapped: readonly string[];
  /** Not run to an end by anybody, with what was said of them. */
  readonly lost: readonly { readonly fireKey: string; readonly why: string }[];
  /** Replica and fire, where a replica that was up has no word of it. */
  readonly silent: readonly string[];
}

/** A replica that is told to drain so shortly after an instant need not have reached it: on a busy machine its timer, or the signal, comes late. */
export const EDGE_MS = 1_000;

/** Counts come from the ledgers alone. Pure. */
export function judgeRollout({ fires, runs, lives, concerns }: RolloutEvidence): RolloutVerdict {
  const began = runsByFire(runs, 'began');
  const ended = runsByFire(runs, 'ended');
  const lost: { fireKey: string; why: string }[] = [];
  const overlapped: string[] = [];
  const silent: string[] = [];
  let count = 0;
  for (const fire of fires) {
    const begun = began.get(fire.fireKey) ?? [];
    count += begun.length;
    if (begun.length === 0 && wasOverlapped(fire, lives, runs)) overlapped.push(fire.fireKey);
    else if (begun.length === 0) lost.push({ fireKey: fire.fireKey, why: wordsOn(fire, lives) });
    else if (!ended.has(fire.fireKey))
      lost.push({
        fireKey: fire.fireKey,
        why: `began on ${begun.map(({ replica }) => replica).join(' and ')}, never ended`,
      });
    for (const life of lives) {
      if (!hadToSpeak(life, fire) || !concerns(life, fire) || begun.some(({ replica }) => replica === life.name))
        continue;
      if (accountsOf(life, fire).length === 0) silent.push(`${life.name}: ${fire.fireKey}`);
    }
  }
  return {
    fires: fires.length,
    runs: count,
    duplicates: runMoreThanOnce(began),
    overlapped,
    lost,
    silent,
  };
}

/** So far back an earlier fire is looked for that was not over. */
const LOOK_BACK_S = 30;
/** From a run's last line to the end of its fire. */
const AFTER_LAST_LINE_MS = 50;

/** Whether each replica that was up rejected it for an earlier fire of the entry that was under way there, or had begun to drain. */
function wasOverlapped(fire: ExpectedFire, lives: readonly Life[], runs: readonly PhasedRun[]): boolean {
  const words = lives.flatMap((life) => {
    const accounts = accountsOf(life, fire);
    return accounts.length > 0 || hadToSpeak(life, fire) ? [{ life, accounts }] : [];
  });
  const isOverlap = ({ kind, reason }: Account) => kind === 'rejected' && reason === 'overlap';
  if (!words.some(({ accounts }) => accounts.some(isOverlap))) return false;
  return words.every(({ life, accounts }) => {
    const [account, another] = accounts;
    if (account === undefined || another !== undefined) return false;
    return isOverlap(account) ? wasBusy(life, fire, account.atMs, runs) : account.kind === 'canceled';
  });
}

function wasBusy(life: Life, { entryKey, instantMs }: ExpectedFire, atMs: number, runs: readonly PhasedRun[]): boolean {
  return Array.from({ length: LOOK_BACK_S }, (_, i) => instantMs - (i + 1) * 1_000).some((earlierMs) => {
    const fireKey = fireKeyOf(entryKey, earlierMs);
    if (life.accountsOf(fireKey, entryKey, earlierMs).some((account) => account.atMs >= atMs)) return true;
    const mine = runs.filter((run) => run.fireKey === fireKey && run.replica === life.name);
    const isOver = mine.some((run) => run.phase === 'ended' && run.atMs < atMs - AFTER_LAST_LINE_MS);
    return mine.length > 0 && !isOver;
  });
}

const accountsOf = (life: Life, { fireKey, entryKey, instantMs }: ExpectedFire) =>
  life.accountsOf(fireKey, entryKey, instantMs);

function hadToSpeak(life: Life, { entryKey, instantMs }: ExpectedFire): boolean {
  if (!life.mustAccountFor(entryKey, instantMs)) return false;
  return life.end === undefined || instantMs <= life.end.atMs - EDGE_MS;
}

function wordsOn(fire: ExpectedFire, lives: readonly Life[]): string {
  const words = lives.flatMap((life) => {
    const said = accountsOf(life, fire).map(({ kind, reason }) => (kind === 'missed' ? kind : `${kind} ${reason}`));
    if (said.length === 0 && !life.mustAccountFor(fire.entryKey, fire.instantMs)) return [];
    return [`${life.name}: ${said.length === 0 ? 'silent' : said.join(', ')}`];
  });
  return words.length === 0 ? 'nobody was up' : words.join('; ');
}

function runsByFire(runs: readonly PhasedRun[], wanted: PhasedRun['phase']): Map<string, PhasedRun[]> {
  const byFire = new Map<string, PhasedRun[]>();
  for (const run of runs) {
    if (run.phase !== wanted) continue;
    const known = byFire.get(run.fireKey);
    if (known === undefined) byFire.set(run.fireKey, [run]);
    else known.push(run);
  }
  return byFire;
}
