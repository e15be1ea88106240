import type { Clock } from '../../ambient/clock.js';
import { CLAIMS_KEPT_PER_ENTRY, type ClaimProtocolSettings, clockAheadError } from '../claim-protocol.js';
import type { Claim, ClaimAnswer, ClaimContext, Claimer, LastFire } from '../claimer.js';
import {
  asStoreBusy,
  immediately,
  insideApplicationsTransaction,
  insideTransaction,
  SQLITE_STORE,
} from './sqlite-client.js';
import type { OpenSession, SqliteSession } from './sqlite-session.js';
import type { SqliteStatements } from './sqlite-statements.js';

/** One claim of a batch, with its place in it. */
interface Ask {
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
  readonly granted: Map<number, Ask>;
}

/** What the store knows about an ask. */
interface Sight {
  readonly floorMs: number | null;
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
  readonly claim_id: string | null;
}

/** Claims in a SQLite database: what can be won is decided in one immediate transaction, a batch included. */
export class SqliteClaimer implements Claimer {
  readonly repeatable = true;

  constructor(
    private readonly session: OpenSession,
    private readonly clock: Clock,
  ) {}

  async claim(fireKey: string, context: ClaimContext): Promise<boolean> {
    const [answer] = await this.claimMany([{ fireKey, context }]);
    if (answer instanceof Error) throw answer;
    // `claim` has no word for superseded: nobody may run it, and that is what false says.
    return answer === true;
  }

  async claimMany(claims: readonly Claim[]): Promise<readonly ClaimAnswer[]> {
    const session = this.session('claim');
    // An application's transaction may roll back, and our claims with it.
    if (insideTransaction(session.database) === true) throw insideApplicationsTransaction('claim');
    const asks = claims
      .map(({ context }, place): Ask => ({ place, context, instantMs: context.scheduledAt.getTime() }))
      .sort(byEntryThenInstant);
    const answers: ClaimAnswer[] = new Array(claims.length);
    try {
      const open = lookForLosses(session, asks, this.clock, answers);
      if (open.length > 0) immediately(session.database, () => decide(session, open, this.clock, answers));
      return answers;
    } catch (cause) {
      throw asStoreBusy(cause, 'claim');
    }
  }

  async lastFire(namespace: string, entryKeys: readonly string[]): Promise<ReadonlyMap<string, LastFire>> {
    const { statements } = this.session('lastFire');
    try {
      const rows = statements.lastFires.all(JSON.stringify(entryKeys), namespace) as {
        entry_key: string;
        watermark_ms: number | bigint;
        schedule: string;
      }[];
      return new Map(
        rows.map((row) => [row.entry_key, { scheduledAt: new Date(Number(row.watermark_ms)), schedule: row.schedule }]),
      );
    } catch (cause) {
      throw asStoreBusy(cause, 'lastFire');
    }
  }
}

/**
 * Answers what a plain read can answer, and returns what is left. Losers write nothing and take no lock: another's claim and a floor that was reached stay, so a
 * `false` that was read cannot become wrong. A `true` is never read.
 */
function lookForLosses(session: SqliteSession, asks: readonly Ask[], clock: Clock, answers: ClaimAnswer[]): Ask[] {
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
): Exclude<ClaimAnswer, true> | undefined {
  const early = clockAheadError(SQLITE_STORE, ask.instantMs, nowMs, settings);
  if (early !== undefined) return early;
  if (sight.claimId !== null) return sight.claimId === ask.context.claimId ? undefined : false;
  return sight.floorMs !== null && ask.instantMs <= sight.floorMs ? 'superseded' : undefined;
}

/** The claim protocol, inside the transaction. */
function decide(session: SqliteSession, asks: readonly Ask[], clock: Clock, answers: ClaimAnswer[]): void {
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
      answers[ask.place] = sibling.context.claimId === ask.context.claimId;
      continue;
    }
    const loss = lossOf(ask, sight, nowMs, settings);
    answers[ask.place] = loss ?? true;
    if (loss === undefined && sight.claimId === null) grant(head, ask, nowMs);
  }
  write(statements, [...heads.values()], nowMs);
}

function grant(head: Head, ask: Ask, nowMs: number): void {
  head.granted.set(ask.instantMs, ask);
  head.claims += 1;
  head.oldestMadeMs = Math.min(head.oldestMadeMs ?? nowMs, nowMs);
  if (head.watermarkMs === null || ask.instantMs > head.watermarkMs) {
    head.watermarkMs = ask.instantMs;
    head.schedule = ask.context.schedule;
  }
}

function write(statements: SqliteStatements, heads: readonly Head[], nowMs: number): void {
  const changed = heads.filter((head) => head.granted.size > 0);
  if (changed.length === 0) return;
  const rows = changed.flatMap((head) =>
    [...head.granted.values()].map(({ context, instantMs }) => [
      context.namespace,
      context.entryKey,
      instantMs,
      context.claimId,
      context.instanceId,
      nowMs,
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

/** Lowest instant first, the floor rising with each. */
function removeBeyondNewest(statements: SqliteStatements, heads: readonly Head[]): void {
  for (const head of heads) {
    const { namespace, entryKey } = head;
    while (head.claims > CLAIMS_KEPT_PER_ENTRY) {
      const [removed] = statements.removeLowest.all(namespace, entryKey, namespace, entryKey) as {
        instant_ms: number | bigint;
      }[];
      if (removed === undefined) break;
      head.claims -= 1;
      head.floorMs = Math.max(head.floorMs ?? Number.NEGATIVE_INFINITY, Number(removed.instant_ms));
    }
  }
}

/** What is known about each ask, in the order of the asks. */
function look(statements: SqliteStatements, asks: readonly Ask[]): Sight[] {
  const rows = statements.look.all(
    JSON.stringify(asks.map(({ context, instantMs }) => [context.namespace, context.entryKey, instantMs])),
  ) as LookRow[];
  const sights: Sight[] = new Array(asks.length);
  for (const row of rows) {
    sights[Number(row.place)] = { floorMs: numberOrNull(row.floor_ms), claimId: row.claim_id, row };
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
function byEntryThenInstant(a: Ask, b: Ask): number {
  if (a.context.entryKey !== b.context.entryKey) return a.context.entryKey < b.context.entryKey ? -1 : 1;
  return a.instantMs - b.instantMs;
}
