import { clockAheadError } from '../claim-protocol.js';
import type { Claim, ClaimAnswer, ClaimContext, Claimer, LastFire } from '../claimer.js';
import { CoordinationError } from '../coordination-error.js';
import { integerArray, POSTGRES_STORE, textArray, textFault } from './postgres-client.js';
import { ask, type OpenSession, type PostgresSession } from './postgres-session.js';
import type { ClaimRow } from './postgres-statements.js';
import { PostgresSweeper } from './postgres-sweeper.js';

/** Claims in one statement. */
const LARGEST_STATEMENT = 1_000;

/** One claim of a batch, with its place in it. */
interface Ask {
  readonly place: number;
  readonly context: ClaimContext;
  readonly instantMs: number;
}

/** Claims in PostgreSQL: one statement decides a batch. */
export class PostgresClaimer implements Claimer {
  readonly repeatable = true;
  readonly #sweeper = new PostgresSweeper();

  /** `session` throws while the backend is not open. */
  constructor(private readonly session: OpenSession) {}

  async claim(fireKey: string, context: ClaimContext): Promise<boolean> {
    const [answer] = await this.claimMany([{ fireKey, context }]);
    if (answer instanceof Error) throw answer;
    // `claim` has no word for superseded: nobody may run it, and that is what false says.
    return answer === true;
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

  /** Resolves when no sweep is on its way. */
  idle(): Promise<void> {
    return this.#sweeper.idle();
  }

  async #decide(session: PostgresSession, asks: readonly Ask[], answers: ClaimAnswer[]): Promise<void> {
    const { settings } = session;
    const texts = (read: (context: ClaimContext) => string) => textArray(asks.map(({ context }) => read(context)));
    const rows = await ask<ClaimRow>(
      session,
      'claim',
      [
        texts(({ namespace }) => namespace),
        texts(({ entryKey }) => entryKey),
        integerArray(asks.map(({ instantMs }) => instantMs)),
        texts(({ claimId }) => claimId),
        texts(({ instanceId }) => instanceId),
        texts(({ schedule }) => schedule),
        String(settings.maxClockSkewMs),
        String(settings.retentionMs),
      ],
      'claim',
    );
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

function answerOf({ answer, now_ms }: ClaimRow, { instantMs }: Ask, { settings }: PostgresSession): ClaimAnswer {
  switch (answer) {
    case 'granted':
      return true;
    case 'refused':
      return false;
    case 'superseded':
      return 'superseded';
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
  return Number.isSafeInteger(scheduledAt.getTime()) ? undefined : refusal('the instant is no valid date');
}

function refusal(what: string): CoordinationError {
  const subject = { store: POSTGRES_STORE, operation: 'claim' };
  return new CoordinationError('COORDINATION_FAILED', subject, `not asked, because it cannot be kept: ${what}.`);
}

/** At most 1,000 claims each, and an instant of an entry at most once: a statement writes a row once. Sorted, as the statement itself does again for its locks. */
function* statementBatches(asks: readonly Ask[]): Generator<Ask[]> {
  let left = [...asks].sort(byEntryThenInstant);
  while (left.length > 0) {
    const batch: Ask[] = [];
    const later: Ask[] = [];
    for (const asked of left) {
      const before = batch.at(-1);
      const again = before !== undefined && byEntryThenInstant(before, asked) === 0;
      if (again || batch.length === LARGEST_STATEMENT) later.push(asked);
      else batch.push(asked);
    }
    yield batch;
    left = later;
  }
}

function byEntryThenInstant(a: Ask, b: Ask): number {
  if (a.context.namespace !== b.context.namespace) return a.context.namespace < b.context.namespace ? -1 : 1;
  if (a.context.entryKey !== b.context.entryKey) return a.context.entryKey < b.context.entryKey ? -1 : 1;
  return a.instantMs - b.instantMs;
}
