import { entryKeyFault } from '../../domain/entry-key.js';
import { isGranted } from '../claim-answer.js';
import { type ClaimProtocolSettings, clockAheadError, DEFAULT_CLAIM_PROTOCOL } from '../claim-protocol.js';
import type { Claim, ClaimAnswer, ClaimContext, Claimer, LastFire } from '../claimer.js';
import { CoordinationError, toCoordinationError } from '../coordination-error.js';
import { allOrNothing, byBucket, runInBatches, slices } from './redis-batches.js';
import {
  type Ask,
  byInstant,
  claimError,
  claimFault,
  holdingArguments,
  holdingKeys,
  inGroups,
  overlapLease,
  toAsk,
} from './redis-claim-ask.js';
import {
  CLAIM_CODE,
  CLAIM_SCRIPT,
  FORGET_SCRIPT,
  HOLDING_CLAIM_SCRIPT,
  LAST_FIRE_SCRIPT,
  PAUSE_SCRIPT,
  RESUME_SCRIPT,
} from './redis-claim-scripts.js';
import { REDIS_STORE } from './redis-client.js';
import { bucketOf, entryName, recoveryName, textFault } from './redis-keys.js';
import type { RedisScript } from './redis-scripts.js';
import type { RedisSession } from './redis-session.js';

/** So many claims hold the server for less than a millisecond. */
const CLAIMS_PER_SCRIPT = 200;
/** So many that take leases with them hold it about as long: each writes up to three keys. */
const HOLDING_CLAIMS_PER_SCRIPT = 100;
const READS_PER_SCRIPT = 500;

/** How claims are put to a script, and how it answers them: with a word each. */
interface ClaimCall {
  readonly script: RedisScript;
  keys(asks: readonly Ask[]): string[];
  args(asks: readonly Ask[]): string[];
  words(said: string): ArrayLike<string>;
}

/** What all scripts of one `claimMany` have in common. */
interface Turn {
  /** By place. */
  readonly answers: ClaimAnswer[];
  readonly askedAtMs: number;
  readonly signal: AbortSignal;
}

const PLAIN: ClaimCall = {
  script: CLAIM_SCRIPT,
  keys: (asks) => asks.map(({ name }) => name),
  args: inGroups,
  words: (said) => said,
};

const HOLDING: ClaimCall = {
  script: HOLDING_CLAIM_SCRIPT,
  keys: (asks) => asks.flatMap(holdingKeys),
  args: (asks) => asks.flatMap(holdingArguments),
  words: (said) => said.split(','),
};

/** Claims in Redis: a batch is one script on one server, decided by its clock. */
export class RedisClaimer implements Claimer {
  readonly repeatable = true;
  readonly holding = true;
  /** Set by the backend when it opens; a claimer that is used by itself has the defaults. */
  settings: ClaimProtocolSettings = DEFAULT_CLAIM_PROTOCOL;

  constructor(private readonly session: RedisSession) {}

  async claim(fireKey: string, context: ClaimContext): Promise<boolean> {
    const [answer] = await this.claimMany([{ fireKey, context }], context.signal);
    if (answer instanceof Error) throw answer;
    // `claim` has no word for superseded, paused and overlap: this pass may not run it, and that is what false says.
    return answer !== undefined && isGranted(answer);
  }

  /** A claim that cannot be asked is answered with an error and harms no other; so is one whose script failed, unless all did. */
  async claimMany(claims: readonly Claim[], signal: AbortSignal): Promise<readonly ClaimAnswer[]> {
    const answers: ClaimAnswer[] = new Array(claims.length);
    const asks: Ask[] = [];
    const holders = new Set<string>();
    for (const [place, { context }] of claims.entries()) {
      const fault = claimFault(context);
      if (fault !== undefined) {
        answers[place] = fault;
        continue;
      }
      const ask = toAsk(context, place);
      asks.push(ask);
      if (context.holds !== undefined) holders.add(ask.name);
    }
    asks.sort(byInstant);

    const turn: Turn = { answers, askedAtMs: this.session.monotonicMs(), signal };
    const outcomes =
      holders.size === 0 ? await this.#claimPlain(asks, turn) : await this.#claimApart(asks, holders, turn);
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

  async pause(namespace: string, entryKey: string, signal: AbortSignal): Promise<void> {
    const { bucket, name } = placeOf('pause', namespace, entryKey);
    await this.session.run({ script: PAUSE_SCRIPT, keys: [name], args: [], bucket, operation: 'pause', signal });
  }

  async resume(
    namespace: string,
    entryKey: string,
    { keepWatermark }: { readonly keepWatermark: boolean },
    signal: AbortSignal,
  ): Promise<Date | null> {
    const { bucket, name } = placeOf('resume', namespace, entryKey);
    const args = keepWatermark ? ['1'] : [];
    const ask = { script: RESUME_SCRIPT, keys: [name], args, bucket, operation: 'resume', signal };
    const { said } = await this.session.run(ask);
    return said === '' ? null : new Date(Number(said));
  }

  async forget(namespace: string, entryKey: string, signal: AbortSignal): Promise<void> {
    const { bucket, name } = placeOf('forget', namespace, entryKey);
    const keys = [name, recoveryName(namespace, bucket)];
    await this.session.run({ script: FORGET_SCRIPT, keys, args: [entryKey], bucket, operation: 'forget', signal });
  }

  #claimPlain(asks: readonly Ask[], turn: Turn) {
    return runInBatches(this.session, asks, CLAIMS_PER_SCRIPT, (batch, bucket) =>
      this.#decide(PLAIN, batch, bucket, turn),
    );
  }

  /** All in one turn. Claims of an entry that holds stay together and in their order, whatever each of them asks for. */
  async #claimApart(
    asks: readonly Ask[],
    holders: ReadonlySet<string>,
    turn: Turn,
  ): Promise<PromiseSettledResult<void>[]> {
    const plain = asks.filter(({ name }) => !holders.has(name));
    const holding = byBucket(asks.filter(({ name }) => holders.has(name))).map(async (group) => {
      // One after the other: through a pool the later script could overtake, and the later instant would have the lease.
      for (const batch of slices(group, HOLDING_CLAIMS_PER_SCRIPT)) {
        await this.#decide(HOLDING, batch, (batch[0] as Ask).bucket, turn);
      }
    });
    const [ofPlain, ofHolding] = await Promise.all([
      plain.length === 0 ? [] : this.#claimPlain(plain, turn),
      Promise.allSettled(holding),
    ]);
    return [...ofPlain, ...ofHolding];
  }

  async #decide(
    call: ClaimCall,
    batch: readonly Ask[],
    bucket: number,
    { answers, askedAtMs, signal }: Turn,
  ): Promise<void> {
    const { maxClockSkewMs, retentionMs } = this.settings;
    let open = batch;
    while (open.length > 0) {
      const { storeMs, said } = await this.session.run({
        script: call.script,
        keys: call.keys(open),
        args: [String(maxClockSkewMs), String(retentionMs), ...call.args(open)],
        ...{ bucket, operation: 'claim', signal, askedAtMs },
      });
      const words = call.words(said);
      const later: Ask[] = [];
      for (const [i, ask] of open.entries()) {
        if (words[i] === CLAIM_CODE.later) later.push(ask);
        else answers[ask.place] = this.#answer(words[i], ask, storeMs);
      }
      // Claims that a script put off, so as not to hold the server, go in the next one, which gets further.
      if (later.length === open.length) throw claimError('COORDINATION_ANSWER', 'the script decided nothing.');
      open = later;
    }
  }

  #answer(word: string | undefined, { instantMs, name, context }: Ask, storeMs: number): ClaimAnswer {
    switch (word) {
      case CLAIM_CODE.granted:
        return true;
      case CLAIM_CODE.refused:
        return false;
      case CLAIM_CODE.superseded:
        return 'superseded';
      case CLAIM_CODE.paused:
        return 'paused';
      case CLAIM_CODE.overlap:
        return 'overlap';
      case CLAIM_CODE.early:
        return (
          clockAheadError(REDIS_STORE, instantMs, storeMs, this.settings) ??
          claimError('COORDINATION_ANSWER', 'the script called a fire early that is not.')
        );
      case CLAIM_CODE.unusable:
        return noHash(name);
      case `${CLAIM_CODE.unusable}:lease`:
        return noHash(overlapLease(context.namespace, context.entryKey));
      case undefined:
        return claimError('COORDINATION_ANSWER', 'the script answered fewer claims than it was asked.');
      default: {
        const token = /^1:(\d+)$/.exec(word)?.[1];
        if (token !== undefined) return { granted: true, overlapToken: Number(token) };
        return claimError('COORDINATION_ANSWER', `the script answered ${JSON.stringify(word.slice(0, 20))}.`);
      }
    }
  }
}

function noHash(name: string): CoordinationError {
  return claimError(
    'COORDINATION_FAILED',
    `the key ${JSON.stringify(name)} holds something that is no hash. Use a namespace of your own.`,
  );
}

function placeOf(operation: string, namespace: string, entryKey: string) {
  const fault = entryKeyFault(entryKey) ?? textFault(namespace);
  if (fault === undefined) return { bucket: bucketOf(entryKey), name: entryName(namespace, entryKey) };
  throw new CoordinationError(
    'COORDINATION_FAILED',
    { store: REDIS_STORE, operation },
    `namespace and entry key must be ${fault}.`,
  );
}
