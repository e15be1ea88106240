import type { Clock } from '../../ambient/clock.js';
import { CLAIMS_KEPT_PER_ENTRY, type ClaimProtocolSettings, clockAheadError } from '../claim-protocol.js';
import type { ClaimAnswer, ClaimContext, ClaimGrant } from '../claimer.js';
import { overlapLeaseName } from '../overlap-lease.js';
import { insideTransaction, SQLITE_STORE } from './sqlite-client.js';
import type { SqliteSession } from './sqlite-session.js';
import type { SqliteStatements } from './sqlite-statements.js';

/** One claim of a batch, with its place in it. */
export interface Ask {
  readonly place: number;
  readonly context: ClaimContext;
  readonly instantMs: number;
}

/** An entry's row as this transaction will leave it. */
interface Head {
  readonly namespace: string;
  readonly entryKey: string;
  floorMs: number | null;
  watermarkMs: number | null;
  schedule: string;
  claims: number;
  oldestMadeMs: number | null;
  /** Granted in this transaction, not written yet. */
  readonly granted: Map<number, Granted>;
}

interface Granted {
  readonly ask: Ask;
  /** 0: its pass was told `'overlap'`, and may be given the lease when it asks again. */
  readonly attempt: 0 | 1;
  /** When it lapses, where it is to be taken over then. */
  readonly expiresMs: number | null;
}

/** What the store knows about an ask. */
interface Sight {
  readonly floorMs: number | null;
  readonly paused: boolean;
  readonly claimId: string | null;
  readonly row: LookRow;
}

interface LookRow {
  readonly place: number | bigint;
  readonly floor_ms: number | bigint | null;
  readonly watermark_ms: number | bigint | null;
  readonly schedule: string | null;
  readonly claims: number | bigint | null;
  readonly oldest_made_ms: number | bigint | null;
  readonly paused_ms: number | bigint | null;
  readonly claim_id: string | null;
}

/**
 * Answers what a plain read can answer, and returns what is left. Losers write nothing and take no lock: another's claim and a floor that was reached stay, so a
 * `false` that was read cannot become wrong, and a pause that was read was there when it was asked. A `true` is never read.
 */
export function lookForLosses(
  session: SqliteSession,
  asks: readonly Ask[],
  clock: Clock,
  answers: ClaimAnswer[],
): Ask[] {
  // A handle that does not tell whether it is inside a transaction is not read: BEGIN will tell.
  if (insideTransaction(session.database) === undefined) return [...asks];
  const nowMs = clock.now();
  const sights = look(session.statements, asks);
  return asks.filter((ask, i) => {
    const answer = lossOf(ask, sights[i] as Sight, nowMs, session.settings);
    if (answer === undefined) return true;
    answers[ask.place] = answer;
    return false;
  });
}

/** The answer to an ask that cannot be won, or `undefined`. */
function lossOf(
  ask: Ask,
  sight: Sight,
  nowMs: number,
  settings: ClaimProtocolSettings,
): Exclude<ClaimAnswer, true | ClaimGrant> | undefined {
  const early = clockAheadError(SQLITE_STORE, ask.instantMs, nowMs, settings);
  if (early !== undefined) return early;
  if (sight.claimId !== null) return sight.claimId === ask.context.claimId ? undefined : false;
  if (sight.floorMs !== null && ask.instantMs <= sight.floorMs) return 'superseded';
  return sight.paused ? 'paused' : undefined;
}

/** The claim protocol, inside the transaction. */
export function decide(session: SqliteSession, asks: readonly Ask[], clock: Clock, answers: ClaimAnswer[]): void {
  const { settings, statements } = session;
  // Taken with the lock held: no other claim of this file is decided between this instant and the commit.
  const nowMs = clock.now();
  const cutoffMs = nowMs - settings.retentionMs;

  let sights = look(statements, asks);
  let heads = headsOf(asks, sights);
  const aged = [...heads.values()].filter((head) => head.oldestMadeMs !== null && head.oldestMadeMs < cutoffMs);
  if (aged.length > 0) {
    const entries = JSON.stringify(aged.map((head) => [head.namespace, head.entryKey]));
    statements.raiseFloorByAge.run(cutoffMs, cutoffMs, cutoffMs, entries);
    statements.removeByAge.run(cutoffMs, entries);
    sights = look(statements, asks);
    heads = headsOf(asks, sights);
  }

  for (const [i, ask] of asks.entries()) {
    const sight = sights[i] as Sight;
    const head = heads.get(headKey(ask.context)) as Head;
    const sibling = head.granted.get(ask.instantMs);
    if (sibling !== undefined) {
      answers[ask.place] = sibling.ask.context.claimId === ask.context.claimId && grantTo(ask, statements, nowMs);
      continue;
    }
    const loss = lossOf(ask, sight, nowMs, settings);
    const answer = loss ?? grantTo(ask, statements, nowMs);
    answers[ask.place] = answer;
    if (loss !== undefined) continue;
    if (sight.claimId === null) add(head, ask, answer, nowMs);
    else if (answer !== 'overlap') revive(statements, ask, nowMs);
  }
  write(statements, [...heads.values()], nowMs);
}

/** The answer to a pass that has the claim: with the overlap lease, where it asks for that. Asks ascend in their instants, so of one batch the earliest gets it. */
function grantTo({ context }: Ask, { acquireLease }: SqliteStatements, nowMs: number): true | ClaimGrant | 'overlap' {
  const { namespace, entryKey, claimId, holds } = context;
  if (holds?.overlapTtlMs === undefined) return true;
  const name = overlapLeaseName(entryKey);
  const [row] = acquireLease.all(namespace, name, claimId, null, nowMs + holds.overlapTtlMs, null, nowMs) as {
    token: number | bigint;
  }[];
  return row === undefined ? 'overlap' : { granted: true, overlapToken: Number(row.token) };
}

/** A claim whose pass was told `'overlap'` before can be taken over from now on, as it had asked. */
function revive({ reviveClaim }: SqliteStatements, { context, instantMs }: Ask, nowMs: number): void {
  const { namespace, entryKey, claimId, holds } = context;
  if (holds?.recoveryTtlMs !== undefined)
    reviveClaim.run(nowMs + holds.recoveryTtlMs, namespace, entryKey, instantMs, claimId);
}

function add(head: Head, ask: Ask, answer: ClaimAnswer, nowMs: number): void {
  const recoveryTtlMs = ask.context.holds?.recoveryTtlMs;
  const attempt = answer === 'overlap' ? 0 : 1;
  const expiresMs = attempt === 0 || recoveryTtlMs === undefined ? null : nowMs + recoveryTtlMs;
  head.granted.set(ask.instantMs, { ask, attempt, expiresMs });
  head.claims += 1;
  // What may be taken over is not removed by its age: the head hears of it when it is done.
  if (expiresMs === null) head.oldestMadeMs = Math.min(head.oldestMadeMs ?? nowMs, nowMs);
  if (head.watermarkMs === null || ask.instantMs > head.watermarkMs) {
    head.watermarkMs = ask.instantMs;
    head.schedule = ask.context.schedule;
  }
}

function write(statements: SqliteStatements, heads: readonly Head[], nowMs: number): void {
  const changed = heads.filter((head) => head.granted.size > 0);
  if (changed.length === 0) return;
  const rows = changed.flatMap((head) =>
    [...head.granted.values()].map(({ ask: { context, instantMs }, attempt, expiresMs }) => [
      context.namespace,
      context.entryKey,
      instantMs,
      context.claimId,
      context.instanceId,
      nowMs,
      attempt,
      expiresMs,
    ]),
  );
  statements.addClaims.run(JSON.stringify(rows));
  removeBeyondNewest(statements, changed);
  statements.writeHeads.run(
    JSON.stringify(
      changed.map((head) => [
        head.namespace,
        head.entryKey,
        head.floorMs,
        head.watermarkMs,
        head.schedule,
        head.claims,
        head.oldestMadeMs,
      ]),
    ),
  );
}

/** The floor rises over what is removed; what may be taken over stays beyond the bound until it is done. */
function removeBeyondNewest(statements: SqliteStatements, heads: readonly Head[]): void {
  for (const head of heads) {
    const { namespace, entryKey } = head;
    const beyond = head.claims - CLAIMS_KEPT_PER_ENTRY;
    if (beyond <= 0) continue;
    const removed = statements.removeLowest.all(namespace, entryKey, namespace, entryKey, beyond) as {
      instant_ms: number | bigint;
    }[];
    head.claims -= removed.length;
    for (const { instant_ms } of removed)
      head.floorMs = Math.max(head.floorMs ?? Number.NEGATIVE_INFINITY, Number(instant_ms));
  }
}

/** What is known about each ask, in the order of the asks. */
function look(statements: SqliteStatements, asks: readonly Ask[]): Sight[] {
  const rows = statements.look.all(
    JSON.stringify(asks.map(({ context, instantMs }) => [context.namespace, context.entryKey, instantMs])),
  ) as LookRow[];
  const sights: Sight[] = new Array(asks.length);
  for (const row of rows) {
    const paused = row.paused_ms !== null;
    sights[Number(row.place)] = { floorMs: numberOrNull(row.floor_ms), paused, claimId: row.claim_id, row };
  }
  return sights;
}

function headsOf(asks: readonly Ask[], sights: readonly Sight[]): Map<string, Head> {
  const heads = new Map<string, Head>();
  for (const [i, { context }] of asks.entries()) {
    const key = headKey(context);
    if (heads.has(key)) continue;
    const { row, floorMs } = sights[i] as Sight;
    heads.set(key, {
      namespace: context.namespace,
      entryKey: context.entryKey,
      floorMs,
      watermarkMs: numberOrNull(row.watermark_ms),
      schedule: row.schedule ?? '',
      claims: Number(row.claims ?? 0),
      oldestMadeMs: numberOrNull(row.oldest_made_ms),
      granted: new Map(),
    });
  }
  return heads;
}

/** Injective: the length of the first part tells where the second begins. */
function headKey({ namespace, entryKey }: { readonly namespace: string; readonly entryKey: string }): string {
  return `${namespace.length}:${namespace}${entryKey}`;
}

/** A handle can be set to answer with BigInts; milliseconds since the epoch fit a number. */
function numberOrNull(value: number | bigint | null): number | null {
  return value === null ? null : Number(value);
}

/** One order for all, so that batches meet entries in the same order; instants ascend, so that the floor never passes an ask of its own batch. */
export function byEntryThenInstant(a: Ask, b: Ask): number {
  if (a.context.entryKey !== b.context.entryKey) return a.context.entryKey < b.context.entryKey ? -1 : 1;
  return a.instantMs - b.instantMs;
}
