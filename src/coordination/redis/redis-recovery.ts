import { CoordinationError } from '../coordination-error.js';
import type { HeldClaim, LapsedClaim, RecoveryStore, TakeLapsedRequest } from '../recovery-store.js';
import { allOrNothing, runInBatches } from './redis-batches.js';
import { REDIS_STORE } from './redis-client.js';
import { bucketOf, entryName, percentEncoded, recoveryMember, recoveryName, textFault } from './redis-keys.js';
import {
  EXTEND_CLAIM_SCRIPT,
  FINISH_CLAIM_SCRIPT,
  LAPSED_SCRIPT,
  TAKE_CODE,
  TAKE_LAPSED_SCRIPT,
} from './redis-recovery-scripts.js';
import type { RedisSession } from './redis-session.js';

/** Members of one index that a script reads at once. */
const LOOKED_AT_PER_SCRIPT = 100;
/** So many hold the server for less than a millisecond. */
const TAKEN_PER_SCRIPT = 100;

/** A claim of an entry that was asked for, which had lapsed when its index was read. */
interface Candidate {
  readonly bucket: number;
  readonly index: Index;
  readonly member: string;
  readonly instant: string;
  readonly entryKey: string;
  readonly lapsedAtMs: number;
}

/** The index of one bucket, as far as a request has read it: longest lapsed first. */
interface Index {
  readonly bucket: number;
  readonly name: string;
  /** Members that were looked at and lie there still: of entries that nobody asked for, or not to be taken now. */
  passed: number;
  ended: boolean;
  found: Candidate[];
}

/**
 * Claims that are leases too. A request first reads the indexes, which lists what has lapsed, of whatever entries; then it takes, each with the claim looked at again, what it may have. So a request costs
 * one short read while nothing has lapsed, however many entries it asks for; what has lapsed of other entries is passed over, page by page, and keeps nothing else waiting.
 */
export class RedisRecovery implements RecoveryStore {
  constructor(private readonly session: RedisSession) {}

  async renew(claim: HeldClaim, ttlMs: number, signal: AbortSignal): Promise<boolean> {
    const ask = { ...heldAsk('renew', claim, [String(Math.round(ttlMs))]), script: EXTEND_CLAIM_SCRIPT, signal };
    return (await this.session.run(ask)).said === '1';
  }

  async finish(claim: HeldClaim, signal: AbortSignal): Promise<boolean> {
    const ask = { ...heldAsk('finish', claim, []), script: FINISH_CLAIM_SCRIPT, signal, evenIfLate: true };
    return (await this.session.run(ask)).said === '1';
  }

  async release(claim: HeldClaim, signal: AbortSignal): Promise<boolean> {
    const ask = { ...heldAsk('release', claim, ['0']), script: EXTEND_CLAIM_SCRIPT, signal, evenIfLate: true };
    return (await this.session.run(ask)).said === '1';
  }

  /** Where a store fails in the middle of it, what was taken until then is answered: nobody else will run that. */
  async takeLapsed(request: TakeLapsedRequest, signal: AbortSignal): Promise<readonly LapsedClaim[]> {
    const fault = [request.namespace, request.claimId, request.instanceId].map(textFault).find(Boolean);
    if (fault !== undefined) throw refused('takeLapsed', `namespace, claimId and instanceId must be ${fault}.`);
    const mostAttempts = new Map(
      request.entries
        .filter(({ entryKey }) => textFault(entryKey) === undefined)
        .map(({ entryKey, maxAttempts }) => [entryKey, maxAttempts]),
    );
    const indexes = indexesOf(request.namespace, mostAttempts.keys());
    const taken: LapsedClaim[] = [];
    const askedAtMs = this.session.monotonicMs();
    try {
      while (taken.length < request.limit) {
        const wanted = request.limit - taken.length;
        await this.#read(indexes, wanted, mostAttempts, signal);
        const candidates = longestLapsed(indexes, wanted);
        if (candidates.length === 0) break;
        taken.push(...(await this.#take(candidates, request, mostAttempts, askedAtMs, signal)));
      }
    } catch (cause) {
      if (taken.length === 0) throw cause;
    }
    return taken;
  }

  /** Reads on until each index has as many candidates as are wanted in all, or has no more: then the longest lapsed of all are among them. */
  async #read(
    indexes: readonly Index[],
    wanted: number,
    asked: ReadonlyMap<string, unknown>,
    signal: AbortSignal,
  ): Promise<void> {
    for (;;) {
      const open = indexes.filter(({ ended, found }) => !ended && found.length < wanted);
      if (open.length === 0) return;
      const outcomes = await runInBatches(this.session, open, open.length, async (batch, bucket) => {
        const { said } = await this.session.run({
          script: LAPSED_SCRIPT,
          keys: batch.map(({ name }) => name),
          args: [String(LOOKED_AT_PER_SCRIPT), ...batch.map(({ passed }) => String(passed))],
          ...{ bucket, operation: 'takeLapsed', signal, evenIfLate: true },
        });
        const pages = JSON.parse(said) as (false | string[])[];
        for (const [i, index] of batch.entries()) readPage(index, pages[i] || [], asked);
      });
      allOrNothing(outcomes);
    }
  }

  async #take(
    candidates: readonly Candidate[],
    { namespace, claimId, instanceId, ttlMs }: TakeLapsedRequest,
    mostAttempts: ReadonlyMap<string, number>,
    askedAtMs: number,
    signal: AbortSignal,
  ): Promise<LapsedClaim[]> {
    const words = new Map<Candidate, string>();
    const shared = [percentEncoded(claimId), percentEncoded(instanceId), String(Math.round(ttlMs))];
    const outcomes = await runInBatches(this.session, candidates, TAKEN_PER_SCRIPT, async (batch, bucket) => {
      const { said } = await this.session.run({
        script: TAKE_LAPSED_SCRIPT,
        keys: batch.flatMap(({ entryKey, index }) => [entryName(namespace, entryKey), index.name]),
        args: [...shared, ...batch.flatMap((one) => [one.instant, one.member, String(mostAttempts.get(one.entryKey))])],
        ...{ bucket, operation: 'takeLapsed', signal, askedAtMs },
      });
      const answered = said.split(',');
      for (const [i, candidate] of batch.entries()) words.set(candidate, answered[i] as string);
    });
    if (words.size === 0) allOrNothing(outcomes);
    return candidates.flatMap((candidate) => lapsedClaim(candidate, words.get(candidate)));
  }
}

function indexesOf(namespace: string, entryKeys: Iterable<string>): Index[] {
  const buckets = new Set(Array.from(entryKeys, bucketOf));
  return Array.from(buckets, (bucket) => ({
    ...{ bucket, name: recoveryName(namespace, bucket) },
    ...{ passed: 0, ended: false, found: [] },
  }));
}

function readPage(index: Index, page: readonly string[], asked: ReadonlyMap<string, unknown>): void {
  const count = page.length / 2;
  index.passed += count;
  index.ended = count < LOOKED_AT_PER_SCRIPT;
  for (let i = 0; i < page.length; i += 2) {
    const [member, lapsedAt] = [page[i] as string, page[i + 1] as string];
    const colon = member.indexOf(':');
    const entryKey = member.slice(colon + 1);
    if (!asked.has(entryKey)) continue;
    const lapsedAtMs = Number(lapsedAt);
    index.found.push({ bucket: index.bucket, index, member, instant: member.slice(0, colon), entryKey, lapsedAtMs });
  }
}

/** Removes from what was found, and answers, those that lapsed first. */
function longestLapsed(indexes: readonly Index[], count: number): readonly Candidate[] {
  const all = indexes.flatMap(({ found }) => found).sort((a, b) => a.lapsedAtMs - b.lapsedAtMs);
  const first = all.slice(0, count);
  const gone = new Set(first);
  for (const index of indexes) index.found = index.found.filter((candidate) => !gone.has(candidate));
  return first;
}

/** None if it was not to be had. What has left its index makes the next page begin earlier. */
function lapsedClaim({ index, entryKey, instant }: Candidate, word: string | undefined): LapsedClaim[] {
  if (word === undefined || word === TAKE_CODE.stays) return [];
  index.passed -= 1;
  if (word === TAKE_CODE.gone) return [];
  const abandoned = word.startsWith(TAKE_CODE.abandoned);
  const attempt = Number(abandoned ? word.slice(1) : word);
  return [{ entryKey, scheduledAt: new Date(Number(instant)), attempt, abandoned }];
}

function heldAsk(operation: string, claim: HeldClaim, args: readonly string[]) {
  const { namespace, entryKey, scheduledAt, claimId } = claim;
  const fault = [namespace, entryKey, claimId].map(textFault).find(Boolean);
  if (fault !== undefined) throw refused(operation, `namespace, entry key and claimId must be ${fault}.`);
  const instantMs = scheduledAt.getTime();
  const bucket = bucketOf(entryKey);
  return {
    ...{ keys: [entryName(namespace, entryKey), recoveryName(namespace, bucket)], bucket, operation },
    args: [String(instantMs), percentEncoded(claimId), recoveryMember(instantMs, entryKey), ...args],
  };
}

function refused(operation: string, message: string): CoordinationError {
  return new CoordinationError('COORDINATION_FAILED', { store: REDIS_STORE, operation }, message);
}
