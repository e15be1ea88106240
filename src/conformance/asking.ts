import { deepStrictEqual, equal, ok } from 'node:assert/strict';
import type { Claim, ClaimAnswer, Claimer, ClaimHolds } from '../coordination/claimer.js';
import { toCoordinationError } from '../coordination/coordination-error.js';
import type { LeaseRecord, LeaseStore } from '../coordination/lease-store.js';
import { overlapLeaseName } from '../coordination/overlap-lease.js';
import type { RecoveryStore } from '../coordination/recovery-store.js';
import { fireKey } from '../domain/fire-key.js';

export const MINUTE = 60_000;
/** Longer than any run of a rule. */
export const LONG_MS = 600_000;
export const signal: AbortSignal = new AbortController().signal;

export interface Asked {
  readonly entryKey?: string;
  readonly namespace?: string;
  readonly instanceId?: string;
  readonly schedule?: string;
  readonly holds?: ClaimHolds;
}

/** A claim as a pass asks for it; what is left out is the same for all. */
export function ask(atMs: number, claimId: string, asked: Asked = {}): Claim {
  const { entryKey = 'report', namespace = 'shop', instanceId = 'replica-1', schedule = 'every-minute', holds } = asked;
  const scheduledAt = new Date(atMs);
  const context = { namespace, entryKey, scheduledAt, claimId, instanceId, schedule, signal };
  return { fireKey: fireKey(entryKey, atMs), context: holds === undefined ? context : { ...context, holds } };
}

export const claim = (claimer: Claimer, { fireKey, context }: Claim) => claimer.claim(fireKey, context);

/** One round trip where the claimer takes batches, else one call each. */
export async function claimMany(claimer: Claimer, claims: readonly Claim[]): Promise<readonly ClaimAnswer[]> {
  if (claimer.claimMany !== undefined) return claimer.claimMany(claims, signal);
  const subject = { store: 'the backend', operation: 'claim' };
  const answer = (asked: Claim) => claim(claimer, asked).catch((error) => toCoordinationError(error, subject));
  return Promise.all(claims.map(answer));
}

/** An answer as a word: `granted` for a grant with a lease, its code for an error. */
export function wordOf(answer: ClaimAnswer | undefined) {
  if (answer instanceof Error) return answer.code;
  return typeof answer === 'object' && answer.granted === true ? 'granted' : answer;
}

/** What a claim comes to where a refusal tells its reason. */
export async function outcome(claimer: Claimer, asked: Claim) {
  const [answer] = await claimMany(claimer, [asked]);
  return wordOf(answer);
}

/** A claim that must be granted together with its overlap lease; the lease's token. */
export async function grantedToken(claimer: Claimer, asked: Claim): Promise<number> {
  const [answer] = await claimMany(claimer, [asked]);
  ok(typeof answer === 'object' && !(answer instanceof Error), `${JSON.stringify(answer)} is no grant with a token`);
  equal(answer.granted, true);
  ok(Number.isSafeInteger(answer.overlapToken), `${answer.overlapToken} is a whole number`);
  return answer.overlapToken;
}

/** Only a batch has a word for it. */
export async function isSuperseded(claimer: Claimer, asked: Claim): Promise<void> {
  equal(await outcome(claimer, asked), claimer.claimMany === undefined ? false : 'superseded');
}

export async function lastFireOf(claimer: Claimer, entryKey = 'report', namespace = 'shop') {
  return (await claimer.lastFire?.(namespace, [entryKey], signal))?.get(entryKey);
}

/** Says nothing of a claimer that remembers no last fire. */
export async function lastFireIs(
  claimer: Claimer,
  entryKey: string,
  expected: readonly [atMs: number, schedule: string] | undefined,
  namespace = 'shop',
): Promise<void> {
  if (claimer.lastFire === undefined) return;
  const last = await lastFireOf(claimer, entryKey, namespace);
  deepStrictEqual(last === undefined ? undefined : [last.scheduledAt.getTime(), last.schedule], expected);
}

export const pause = (claimer: Claimer, entryKey = 'report', namespace = 'shop') =>
  claimer.pause?.(namespace, entryKey, signal);

export const resume = async (claimer: Claimer, keepWatermark = false, entryKey = 'report', namespace = 'shop') =>
  claimer.resume?.(namespace, entryKey, { keepWatermark }, signal);

export const forget = (claimer: Claimer, entryKey = 'report', namespace = 'shop') =>
  claimer.forget?.(namespace, entryKey, signal);

/** The record of an entry's overlap lease. */
export async function overlapLease(
  leases: LeaseStore | undefined,
  entryKey = 'report',
  namespace = 'shop',
): Promise<LeaseRecord | undefined> {
  const name = overlapLeaseName(entryKey);
  return (await leases?.read(namespace, [name], signal))?.get(name);
}

/** A recoverable claim as its owner names it. */
export const heldClaim = (atMs: number, claimId: string, entryKey = 'report', namespace = 'shop') => ({
  namespace,
  entryKey,
  scheduledAt: new Date(atMs),
  claimId,
});

export interface TakeAsked {
  readonly by?: string;
  readonly claimId?: string;
  readonly entries?: readonly string[];
  readonly namespace?: string;
  readonly maxAttempts?: number;
  readonly limit?: number;
  readonly ttlMs?: number;
}

/** Takes what has lapsed, as another instance than that of `ask`, with many attempts, unless told otherwise. */
export async function takeLapsed(recovery: RecoveryStore | undefined, asked: TakeAsked = {}) {
  const { by = 'replica-2', claimId = `scan of ${by}`, entries = ['report'], namespace = 'shop' } = asked;
  const { maxAttempts = 9, limit = 100, ttlMs = LONG_MS } = asked;
  const request = {
    namespace,
    entries: entries.map((entryKey) => ({ entryKey, maxAttempts })),
    claimId,
    instanceId: by,
    ttlMs,
    limit,
  };
  const taken = (await recovery?.takeLapsed(request, signal)) ?? [];
  return taken.map(({ entryKey, scheduledAt, attempt, abandoned }) => ({
    entryKey,
    atMs: scheduledAt.getTime(),
    attempt,
    abandoned,
  }));
}

/** Keys that a careless store would truncate, fold, split or merge. */
export const ODD_KEYS: readonly string[] = [
  ...[`${'x'.repeat(299)}1`, `${'x'.repeat(299)}2`, 'x'.repeat(299), 'Job', 'job', 'é', 'e\u0301'],
  ...['__proto__', 'constructor', '@{ }*./', "it's", '"quoted"', '%_', '\\', '}{', 'a b', 'a:b', 'null', '0'],
  ...['😀', '👩‍👩‍👧', '日本'],
];
