import type { Account, Life } from './life.js';
import type { RunRecord } from './records.js';

export interface ExpectedFire {
  readonly fireKey: string;
  readonly entryKey: string;
  readonly instantMs: number;
}

/** A claim as the store had it. */
export interface ClaimRow {
  readonly fireKey: string;
  readonly claimId: string;
  readonly instanceId: string;
  /** The store's clock. */
  readonly madeMs: number;
}

export interface Evidence {
  /** What the schedules say, computed by whoever judges. */
  readonly fires: readonly ExpectedFire[];
  /** Every line of the ledger, those of other fires too. */
  readonly runs: readonly RunRecord[];
  /** All that were ever seen in the store, which removes old ones. */
  readonly claims: readonly ClaimRow[];
  readonly lives: readonly Life[];
  readonly retentionMs: number;
  /** The longest that a replica which is awake may take from an instant, or from a claim, to a run or a word. */
  readonly accountWithinMs: number;
}

export interface Verdict {
  readonly fires: number;
  /** Lines of the ledger for these fires. */
  readonly runs: number;
  /** Fire keys with more than one line, expected or not, with who ran them. */
  readonly duplicates: readonly { readonly fireKey: string; readonly runs: readonly RunRecord[] }[];
  readonly unexplained: readonly { readonly fireKey: string; readonly why: string }[];
  /** Explanation → fires. */
  readonly explained: ReadonlyMap<string, number>;
  /** Fire keys that the store granted to two passes. */
  readonly grantedTwice: readonly string[];
}

/** What explains a fire without a run, if every replica that was up has one of these. `already-claimed` is none: somebody else has to explain it. */
const EXPLAINS = new Set(['claim-error', 'election-error', 'missed', 'canceled']);

/** Judges from the ledger, from what the store showed and from what the replicas said; counts come from the ledger alone. Pure. */
export function judge(evidence: Evidence): Verdict {
  const runsOf = groupBy(evidence.runs, ({ fireKey }) => fireKey);
  const claimsOf = groupBy(evidence.claims, ({ fireKey }) => fireKey);
  const lifeOf = new Map(evidence.lives.map((life) => [life.instanceId, life]));
  const explained = new Map<string, number>();
  const unexplained: { fireKey: string; why: string }[] = [];
  let runs = 0;
  for (const fire of evidence.fires) {
    const count = runsOf.get(fire.fireKey)?.length ?? 0;
    runs += count;
    if (count > 0) continue;
    const claim = claimsOf.get(fire.fireKey)?.at(-1);
    const found =
      claim === undefined
        ? explainUnclaimed(fire, evidence)
        : explainClaimed(fire, claim, lifeOf.get(claim.instanceId), evidence);
    if ('why' in found) unexplained.push({ fireKey: fire.fireKey, why: found.why });
    else explained.set(found.because, (explained.get(found.because) ?? 0) + 1);
  }
  return {
    fires: evidence.fires.length,
    runs,
    duplicates: runMoreThanOnce(runsOf),
    unexplained,
    explained,
    grantedTwice: [...claimsOf]
      .filter(([, rows]) => new Set(rows.map(({ claimId }) => claimId)).size > 1)
      .map(([fireKey]) => fireKey),
  };
}

type Finding = { readonly because: string } | { readonly why: string };

/** Whoever has the claim has to explain why nothing ran. */
function explainClaimed(
  { fireKey, entryKey, instantMs }: ExpectedFire,
  { madeMs }: ClaimRow,
  holder: Life | undefined,
  { accountWithinMs }: Evidence,
): Finding {
  if (holder === undefined) return { why: 'its claim is that of no replica' };
  const error = holder
    .accountsOf(fireKey, entryKey, instantMs)
    .find(({ reason, atMs }) => reason === 'claim-error' && atMs >= madeMs - accountWithinMs);
  if (error !== undefined) {
    // It holds a claim that it never heard of in time, and says so. Under way was the answer, or even the question, which a paused store reads when it goes on.
    if (error.atMs < madeMs) return { because: 'the winner had given up when its claim was made, claim-error' };
    const how = holder.wasStoppedIn(madeMs, error.atMs) ? 'stopped' : 'not told';
    return { because: `the winner was ${how}, claim-error` };
  }
  if (holder.diedWithin(accountWithinMs, madeMs)) return { because: 'the winner was killed' };
  if (holder.diedBefore(accountWithinMs, madeMs)) return { because: 'the winner was killed while it asked' };
  const end = holder.end === undefined ? '' : `, ${holder.end.how} ${holder.end.atMs - madeMs} ms after it`;
  return { why: `${holder.name} has its claim and neither ran it nor said why${end}` };
}

/** Nobody has the claim, so every replica that was up has to explain why it has not. */
function explainUnclaimed(fire: ExpectedFire, { lives, retentionMs, accountWithinMs }: Evidence): Finding {
  const { fireKey, entryKey, instantMs } = fire;
  const kinds = new Set<string>();
  const open: string[] = [];
  for (const life of lives) {
    const accounts = life.accountsOf(fireKey, entryKey, instantMs);
    if (accounts.length === 0 && !life.mustAccountFor(entryKey, instantMs)) continue;
    const said = accounts.find(({ kind, reason }) => EXPLAINS.has(reason) || EXPLAINS.has(kind));
    // The store has forgotten the instant, as it may once it is older than the retention; an earlier ask must never be told that.
    const forgotten = accounts.find(({ superseded, atMs }) => superseded && atMs - instantMs > retentionMs);
    if (accounts.some(({ reason, superseded }) => reason === 'already-claimed' && !superseded)) {
      open.push(`${life.name}: already-claimed, by nobody`);
    } else if (said !== undefined) kinds.add(wordOf(said));
    else if (forgotten !== undefined) kinds.add('superseded');
    else if (life.diedWithin(accountWithinMs, life.reachedAtMs(instantMs))) kinds.add('killed');
    else open.push(`${life.name}: ${accounts.length === 0 ? 'silent' : accounts.map(wordOf).join(', ')}`);
  }
  if (open.length > 0) return { why: open.join('; ') };
  return { because: kinds.size === 0 ? 'no replica was up' : `on every replica: ${[...kinds].sort().join(' or ')}` };
}

function wordOf({ kind, reason, superseded }: Account): string {
  if (superseded) return 'superseded';
  return kind === 'skipped' ? reason : kind;
}

/** Fires that a replica which was up said nothing of, though somebody ran them: nothing is silent, not even a loser. */
export function silences({ fires, runs, lives, accountWithinMs }: Evidence): string[] {
  const ranBy = groupBy(runs, ({ fireKey }) => fireKey);
  const silent: string[] = [];
  for (const life of lives) {
    for (const { fireKey, entryKey, instantMs } of fires) {
      if (!life.mustAccountFor(entryKey, instantMs)) continue;
      if (life.accountsOf(fireKey, entryKey, instantMs).length > 0) continue;
      if (ranBy.get(fireKey)?.some(({ replica }) => replica === life.name)) continue;
      if (!life.diedWithin(accountWithinMs, life.reachedAtMs(instantMs))) silent.push(`${life.name}: ${fireKey}`);
    }
  }
  return silent;
}

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const group = groups.get(keyOf(item));
    if (group === undefined) groups.set(keyOf(item), [item]);
    else group.push(item);
  }
  return groups;
}

/** Fire keys that were run more than once, with who ran them, in the order of their first runs. */
export function runMoreThanOnce<R extends { readonly atMs: number }>(
  runsOf: ReadonlyMap<string, readonly R[]>,
): { readonly fireKey: string; readonly runs: readonly R[] }[] {
  return [...runsOf]
    .filter(([, runs]) => runs.length > 1)
    .map(([fireKey, runs]) => ({ fireKey, runs }))
    .sort((a, b) => (a.runs[0]?.atMs ?? 0) - (b.runs[0]?.atMs ?? 0));
}
