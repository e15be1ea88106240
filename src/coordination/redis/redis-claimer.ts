import { entryKeyFault } from '../../domain/entry-key.js';
import { type ClaimProtocolSettings, clockAheadError, DEFAULT_CLAIM_PROTOCOL } from '../claim-protocol.js';
import type { Claim, ClaimAnswer, ClaimContext, Claimer, LastFire } from '../claimer.js';
import { CoordinationError, toCoordinationError } from '../coordination-error.js';
import { allOrNothing, runInBatches } from './redis-batches.js';
import { REDIS_STORE } from './redis-client.js';
import { bucketOf, entryName, percentEncoded, textFault } from './redis-keys.js';
import { CLAIM_CODE, CLAIM_SCRIPT, LAST_FIRE_SCRIPT } from './redis-scripts.js';
import type { RedisSession } from './redis-session.js';

/** So many claims hold the server for less than a millisecond. */
const CLAIMS_PER_SCRIPT = 200;
const READS_PER_SCRIPT = 500;

/** One claim of a batch, with its place in it. */
interface Ask {
  readonly place: number;
  readonly bucket: number;
  readonly name: string;
  readonly instantMs: number;
  /** Percent-encoded, like the instance id, so that a row of the hash has a colon between them and nowhere else. */
  readonly claimId: string;
  /** What most claims of a turn have in common. */
  readonly shared: readonly [instant: string, schedule: string, instanceId: string, claimIdLength: string];
}

/** Claims in Redis: a batch is one script on one server, decided by its clock. */
export class RedisClaimer implements Claimer {
  readonly repeatable = true;
  /** Set by the backend when it opens; a claimer that is used by itself has the defaults. */
  settings: ClaimProtocolSettings = DEFAULT_CLAIM_PROTOCOL;

  constructor(private readonly session: RedisSession) {}

  async claim(fireKey: string, context: ClaimContext): Promise<boolean> {
    const [answer] = await this.claimMany([{ fireKey, context }], context.signal);
    if (answer instanceof Error) throw answer;
    // `claim` has no word for superseded: nobody may run it, and that is what false says.
    return answer === true;
  }

  /** A claim that cannot be asked is answered with an error and harms no other; so is one whose script failed, unless all did. */
  async claimMany(claims: readonly Claim[], signal: AbortSignal): Promise<readonly ClaimAnswer[]> {
    const answers: ClaimAnswer[] = new Array(claims.length);
    const asks: Ask[] = [];
    for (const [place, { context }] of claims.entries()) {
      const fault = claimFault(context);
      if (fault === undefined) asks.push(toAsk(context, place));
      else answers[place] = fault;
    }
    asks.sort(byInstant);

    const outcomes = await runInBatches(this.session, asks, CLAIMS_PER_SCRIPT, (batch, bucket) =>
      this.#decide(batch, bucket, answers, signal),
    );
    const failed = outcomes.find((outcome) => outcome.status === 'rejected');
    if (failed === undefined) return answers;
    if (outcomes.every(({ status }) => status === 'rejected') && asks.length === claims.length) throw failed.reason;
    const error = toCoordinationError(failed.reason, { store: REDIS_STORE, operation: 'claim' });
    for (const { place } of asks) answers[place] ??= error;
    return answers;
  }

  async lastFire(
    namespace: string,
    entryKeys: readonly string[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, LastFire>> {
    const found = new Map<string, LastFire>();
    const asks = entryKeys
      .filter((entryKey) => textFault(entryKey) === undefined)
      .map((entryKey) => ({ entryKey, bucket: bucketOf(entryKey), name: entryName(namespace, entryKey) }));
    const outcomes = await runInBatches(this.session, asks, READS_PER_SCRIPT, async (batch, bucket) => {
      const keys = batch.map(({ name }) => name);
      const answer = await this.session.run({
        ...{ script: LAST_FIRE_SCRIPT, keys, args: [], bucket, operation: 'lastFire', signal },
        evenIfLate: true,
      });
      const heads = JSON.parse(answer.said) as (false | [watermark: string, schedule: string])[];
      for (const [i, { entryKey }] of batch.entries()) {
        const head = heads[i];
        if (head) found.set(entryKey, { scheduledAt: new Date(Number(head[0])), schedule: head[1] });
      }
    });
    allOrNothing(outcomes);
    return found;
  }

  async #decide(batch: readonly Ask[], bucket: number, answers: ClaimAnswer[], signal: AbortSignal): Promise<void> {
    const { maxClockSkewMs, retentionMs } = this.settings;
    let open = batch;
    while (open.length > 0) {
      const { storeMs, said } = await this.session.run({
        script: CLAIM_SCRIPT,
        keys: open.map(({ name }) => name),
        args: [String(maxClockSkewMs), String(retentionMs), ...inGroups(open)],
        ...{ bucket, operation: 'claim', signal },
      });
      const later: Ask[] = [];
      for (const [i, ask] of open.entries()) {
        if (said[i] === CLAIM_CODE.later) later.push(ask);
        else answers[ask.place] = this.#answer(said[i], ask, storeMs);
      }
      // Claims that a script put off, so as not to hold the server, go in the next one, which gets further.
      if (later.length === open.length) throw claimError('COORDINATION_ANSWER', 'the script decided nothing.');
      open = later;
    }
  }

  #answer(code: string | undefined, { instantMs, name }: Ask, storeMs: number): ClaimAnswer {
    switch (code) {
      case CLAIM_CODE.granted:
        return true;
      case CLAIM_CODE.refused:
        return false;
      case CLAIM_CODE.superseded:
        return 'superseded';
      case CLAIM_CODE.early:
        return (
          clockAheadError(REDIS_STORE, instantMs, storeMs, this.settings) ??
          claimError('COORDINATION_ANSWER', 'the script called a fire early that is not.')
        );
      case CLAIM_CODE.unusable:
        return claimError(
          'COORDINATION_FAILED',
          `the key ${JSON.stringify(name)} holds something that is no hash. Use a namespace of your own.`,
        );
      default:
        return claimError('COORDINATION_ANSWER', 'the script answered fewer claims than it was asked.');
    }
  }
}

function toAsk({ namespace, entryKey, scheduledAt, claimId, instanceId, schedule }: ClaimContext, place: number): Ask {
  const id = percentEncoded(claimId);
  return {
    place,
    bucket: bucketOf(entryKey),
    name: entryName(namespace, entryKey),
    instantMs: scheduledAt.getTime(),
    claimId: id,
    shared: [String(scheduledAt.getTime()), schedule, percentEncoded(instanceId), String(id.length)],
  };
}

/** What claims have in common is sent once for all that follow each other. */
function inGroups(asks: readonly Ask[]): string[] {
  const args: string[] = [];
  let from = 0;
  while (from < asks.length) {
    const { shared } = asks[from] as Ask;
    let to = from + 1;
    while (to < asks.length && compare((asks[to] as Ask).shared, shared) === 0) to += 1;
    const ids = asks.slice(from, to).map(({ claimId }) => claimId);
    args.push(...shared, ids.join(''));
    from = to;
  }
  return args;
}

/** What cannot be asked is refused before the call: a key that the store would keep in another form could meet another's. */
function claimFault(context: ClaimContext): CoordinationError | undefined {
  const { entryKey, scheduledAt } = context;
  const keyFault = entryKeyFault(entryKey);
  if (keyFault !== undefined) return claimError('COORDINATION_FAILED', `the entry key must be ${keyFault}.`);
  if (context.claimId === '') return claimError('COORDINATION_FAILED', 'claimId must not be empty.');
  for (const name of ['namespace', 'claimId', 'instanceId', 'schedule'] as const) {
    const fault = textFault(context[name]);
    if (fault !== undefined) return claimError('COORDINATION_FAILED', `${name} must be ${fault}.`);
  }
  if (Number.isFinite(scheduledAt.getTime())) return undefined;
  return claimError('COORDINATION_FAILED', `scheduledAt of entry "${entryKey}" is no instant.`);
}

function claimError(code: 'COORDINATION_ANSWER' | 'COORDINATION_FAILED', message: string): CoordinationError {
  return new CoordinationError(code, { store: REDIS_STORE, operation: 'claim' }, message);
}

/** Instants ascend, so that a batch that brings many of one entry raises no floor above one of its own; then what is alike lies together. */
function byInstant(a: Ask, b: Ask): number {
  return a.instantMs - b.instantMs || compare(a.shared, b.shared);
}

function compare(a: readonly string[], b: readonly string[]): number {
  for (const [i, text] of a.entries()) {
    const other = b[i] as string;
    if (text !== other) return text < other ? -1 : 1;
  }
  return 0;
}
