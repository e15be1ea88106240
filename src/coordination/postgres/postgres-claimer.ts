import { clockAheadError } from '../claim-protocol.js';
import type { Claim, ClaimAnswer, ClaimContext, Claimer, ClaimHolds, LastFire } from '../claimer.js';
import { CoordinationError } from '../coordination-error.js';
import { overlapLeaseName } from '../overlap-lease.js';
import { type ClaimRow, LEASE_TAKEN_MEANWHILE } from './postgres-claim-text.js';
import { integerArray, POSTGRES_STORE, requireText, sqlStateOf, textArray, textFault } from './postgres-client.js';
import { ask, type OpenSession, type PostgresSession } from './postgres-session.js';
import { PostgresSweeper } from './postgres-sweeper.js';

/** Claims in one statement. */
const LARGEST_STATEMENT = 1_000;

/** Times that a statement is sent which finds an overlap lease made by another in between. Each time a lease is there that was not before, so twice is enough but for ill luck. */
const MOST_SENDS = 5;
/** Times that an entry is found written while it is removed. */
const MOST_REMOVALS = 10;

/** One claim of a batch, with its place in it. */
interface Ask {
  readonly place: number;
  readonly context: ClaimContext;
  readonly instantMs: number;
}

/** Claims in PostgreSQL: one statement decides a batch. */
export class PostgresClaimer implements Claimer {
  readonly repeatable = true;
  readonly holding = true;
  readonly #sweeper = new PostgresSweeper();

  /** `session` throws while the backend is not open. */
  constructor(private readonly session: OpenSession) {}

  async claim(fireKey: string, context: ClaimContext): Promise<boolean> {
    const [answer] = await this.claimMany([{ fireKey, context }]);
    if (answer instanceof Error) throw answer;
    // `claim` has no word for superseded, paused or overlap: the pass may not run it, and that is what false says.
    return typeof answer === 'object' ? answer.granted : answer === true;
  }

  // The signal is not used: a pool cannot be told that nobody waits any more, and a claim that is granted late is granted to the same pass when it asks again.
  async claimMany(claims: readonly Claim[]): Promise<readonly ClaimAnswer[]> {
    const session = this.session('claim');
    const answers: ClaimAnswer[] = new Array(claims.length);
    const asks: Ask[] = [];
    for (const [place, { context }] of claims.entries()) {
      const fault = contextFault(context);
      if (fault === undefined) asks.push({ place, context, instantMs: context.scheduledAt.getTime() });
      else answers[place] = fault;
    }
    for (const batch of statementBatches(asks)) await this.#decide(session, batch, answers);
    return answers;
  }

  async lastFire(namespace: string, entryKeys: readonly string[]): Promise<ReadonlyMap<string, LastFire>> {
    // A key that PostgreSQL cannot keep has no history in it.
    const keys = entryKeys.filter((key) => textFault(key) === undefined);
    const rows = await ask<{ entry_key: string; watermark_ms: number | string | bigint; schedule: string }>(
      this.session('lastFire'),
      'lastFires',
      [namespace, textArray(keys)],
      'lastFire',
    );
    return new Map(
      rows.map((row) => [row.entry_key, { scheduledAt: new Date(Number(row.watermark_ms)), schedule: row.schedule }]),
    );
  }

  async pause(namespace: string, entryKey: string): Promise<void> {
    await ask(this.session('pause'), 'pause', entryValues(namespace, entryKey, 'pause'), 'pause');
  }

  async resume(
    namespace: string,
    entryKey: string,
    { keepWatermark }: { readonly keepWatermark: boolean },
  ): Promise<Date | null> {
    const values = [...entryValues(namespace, entryKey, 'resume'), keepWatermark ? '1' : '0'];
    const [row] = await ask<{ paused_ms: number | string | bigint }>(
      this.session('resume'),
      'resume',
      values,
      'resume',
    );
    return row === undefined ? null : new Date(Number(row.paused_ms));
  }

  async forget(namespace: string, entryKey: string): Promise<void> {
    const values = entryValues(namespace, entryKey, 'forget');
    for (let removals = 0; removals < MOST_REMOVALS; removals += 1) {
      const [row] = await ask<{ changed: number | string | bigint }>(
        this.session('forget'),
        'forget',
        values,
        'forget',
      );
      if (Number(row?.changed) !== 1) return;
    }
    throw busy('forget', 'the entry is claimed all the time; stop what schedules it first.');
  }

  /** Resolves when no sweep is on its way. */
  idle(): Promise<void> {
    return this.#sweeper.idle();
  }

  async #decide(session: PostgresSession, asks: readonly Ask[], answers: ClaimAnswer[]): Promise<void> {
    const { settings } = session;
    const texts = (read: (context: ClaimContext) => string) => textArray(asks.map(({ context }) => read(context)));
    const values = [
      texts(({ namespace }) => namespace),
      texts(({ entryKey }) => entryKey),
      integerArray(asks.map(({ instantMs }) => instantMs)),
      texts(({ claimId }) => claimId),
      texts(({ instanceId }) => instanceId),
      texts(({ schedule }) => schedule),
      String(settings.maxClockSkewMs),
      String(settings.retentionMs),
    ];
    // A turn in which nothing is held is not planned for it.
    const rows = asks.some(({ context }) => context.holds !== undefined)
      ? await askHolding(session, [...values, ...holdValues(asks)])
      : await ask<ClaimRow>(session, 'claim', values, 'claim');
    const overgrown: ClaimContext[] = [];
    for (const row of rows) {
      const asked = asks[Number(row.place) - 1];
      if (asked === undefined) continue;
      answers[asked.place] = answerOf(row, asked, session);
      if (Number(row.sweep) === 1) overgrown.push(asked.context);
    }
    for (const { place } of asks) answers[place] ??= noAnswer('no row for this claim');
    // Not awaited: the claims are decided, and the methods wait to run.
    if (overgrown.length > 0) this.#sweeper.sweep(session, overgrown);
  }
}

function holdValues(asks: readonly Ask[]): string[] {
  const lives = (read: (holds: ClaimHolds) => number | undefined) =>
    integerArray(
      asks.map(({ context: { holds } }) =>
        holds && read(holds) !== undefined ? Math.round(read(holds) as number) : null,
      ),
    );
  return [
    textArray(asks.map(({ context }) => (asksOverlap(context) ? overlapLeaseName(context.entryKey) : null))),
    lives(({ overlapTtlMs }) => overlapTtlMs),
    lives(({ recoveryTtlMs }) => recoveryTtlMs),
  ];
}

async function askHolding(session: PostgresSession, values: readonly string[]): Promise<ClaimRow[]> {
  for (let sends = 1; ; sends += 1) {
    try {
      return await ask<ClaimRow>(session, 'claimHolding', values, 'claim');
    } catch (cause) {
      if (sqlStateOf(cause) !== LEASE_TAKEN_MEANWHILE || cause instanceof CoordinationError) throw cause;
      if (sends === MOST_SENDS)
        throw busy('claim', 'overlap leases of its entries were made by others meanwhile.', cause);
    }
  }
}

function asksOverlap({ holds }: ClaimContext): boolean {
  return holds?.overlapTtlMs !== undefined;
}

function entryValues(namespace: string, entryKey: string, operation: string): [string, string] {
  requireText(namespace, 'namespace', operation);
  requireText(entryKey, 'entryKey', operation);
  return [namespace, entryKey];
}

function busy(operation: string, message: string, cause?: unknown): CoordinationError {
  return new CoordinationError('STORE_BUSY', { store: POSTGRES_STORE, operation }, message, { cause });
}

function answerOf(row: ClaimRow, { instantMs }: Ask, { settings }: PostgresSession): ClaimAnswer {
  const { answer, now_ms, overlap_token } = row;
  switch (answer) {
    case 'granted':
      return overlap_token === undefined || overlap_token === null
        ? true
        : { granted: true, overlapToken: Number(overlap_token) };
    case 'refused':
      return false;
    case 'superseded':
    case 'paused':
    case 'overlap':
      return answer;
    case 'early':
      return clockAheadError(POSTGRES_STORE, instantMs, Number(now_ms), settings) ?? noAnswer('early and not early');
    default:
      return noAnswer(JSON.stringify(answer satisfies never));
  }
}

function noAnswer(got: string): CoordinationError {
  return new CoordinationError(
    'COORDINATION_ANSWER',
    { store: POSTGRES_STORE, operation: 'claim' },
    `query(text, values) answered ${got}.`,
  );
}

/** What keeps a claim from being asked: it would be another, or spoil its batch. */
function contextFault(context: ClaimContext): CoordinationError | undefined {
  const { namespace, entryKey, claimId, instanceId, schedule, scheduledAt } = context;
  for (const [what, text] of Object.entries({ namespace, entryKey, claimId, instanceId, schedule })) {
    const expected = textFault(text);
    if (expected !== undefined)
      return refusal(`the ${what} ${JSON.stringify(text.slice(0, 40))}: expected ${expected}`);
  }
  for (const [what, ms] of Object.entries({ ...context.holds })) {
    if (ms !== undefined && !Number.isFinite(ms)) return refusal(`${what} is ${ms}, expected milliseconds`);
  }
  return Number.isSafeInteger(scheduledAt.getTime()) ? undefined : refusal('the instant is no valid date');
}

function refusal(what: string): CoordinationError {
  const subject = { store: POSTGRES_STORE, operation: 'claim' };
  return new CoordinationError('COORDINATION_FAILED', subject, `not asked, because it cannot be kept: ${what}.`);
}

/**
 * At most 1,000 claims each; an instant of an entry at most once, and its overlap lease: a statement writes a row once. So the earlier of two instants has the lease when the later asks. Sorted, as the
 * statement itself does again for its locks.
 */
function* statementBatches(asks: readonly Ask[]): Generator<Ask[]> {
  let left = [...asks].sort(byEntryThenInstant);
  while (left.length > 0) {
    const batch: Ask[] = [];
    const later: Ask[] = [];
    /** The last that takes its entry's lease. */
    let taking: Ask | undefined;
    for (const asked of left) {
      const before = batch.at(-1);
      const again = before !== undefined && byEntryThenInstant(before, asked) === 0;
      const takes = asksOverlap(asked.context);
      const leaseAgain = takes && taking !== undefined && byEntry(taking, asked) === 0;
      if (again || leaseAgain || batch.length === LARGEST_STATEMENT) later.push(asked);
      else {
        batch.push(asked);
        if (takes) taking = asked;
      }
    }
    yield batch;
    left = later;
  }
}

function byEntryThenInstant(a: Ask, b: Ask): number {
  return byEntry(a, b) || a.instantMs - b.instantMs;
}

function byEntry(a: Ask, b: Ask): number {
  if (a.context.namespace !== b.context.namespace) return a.context.namespace < b.context.namespace ? -1 : 1;
  if (a.context.entryKey !== b.context.entryKey) return a.context.entryKey < b.context.entryKey ? -1 : 1;
  return 0;
}
