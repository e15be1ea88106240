import { type Random, systemRandom } from '../ambient/random.js';
import { VirtualClock } from '../testing/virtual-clock.js';
import type { ClaimOutcome, ClaimRequest } from './claim-request.js';
import type { Claim, ClaimAnswer, Claimer } from './claimer.js';
import type { CoordinationBackend } from './coordination-backend.js';
import { GuardedBackend, type GuardedBackendSettings } from './guarded-backend.js';

export const SETTINGS: GuardedBackendSettings = {
  namespace: 'shop',
  instanceId: 'replica-1',
  coordinationTimeoutMs: 5_000,
  claimPatienceMs: 30_000,
  maxClockSkewMs: 10_000,
  retentionMs: 3_600_000,
};

/** Chance that is not: waits are the same in every run. */
export const middle: Random = { fraction: () => 0.5, uuid: () => systemRandom.uuid() };

export function guarded(
  backend: Partial<CoordinationBackend> & { readonly claimer: Claimer },
  settings: Partial<GuardedBackendSettings> = {},
) {
  const clock = new VirtualClock();
  const guard = new GuardedBackend(
    { store: 'fake', ...backend },
    { ...SETTINGS, ...settings },
    { clock, random: middle },
  );
  return { clock, guard };
}

/** A request nobody gives up on, for an entry of its own. */
export function request(entryKey: string, change: Partial<ClaimRequest> = {}): ClaimRequest {
  const scheduledAt = change.scheduledAt ?? new Date('2026-01-01T00:00:00Z');
  return {
    entryKey,
    fireKey: `${entryKey}@${scheduledAt.toISOString()}`,
    scheduledAt,
    claimId: `pass of ${entryKey}`,
    schedule: 'every-minute',
    untilMs: Number.POSITIVE_INFINITY,
    ...change,
  };
}

/** What a claim came to, in a word a test can compare. */
export function word(outcome: ClaimOutcome): string {
  if (outcome.kind === 'error') return outcome.error.code;
  if (outcome.kind === 'refused') return outcome.superseded ? 'superseded' : 'refused';
  return outcome.kind;
}

/** Follows a promise without waiting for it. */
export function follow<T>(promise: Promise<T>) {
  const followed: { value?: T; reason?: unknown; settled: boolean } = { settled: false };
  promise.then(
    (value) => Object.assign(followed, { value, settled: true }),
    (reason) => Object.assign(followed, { reason, settled: true }),
  );
  return followed;
}

/** A promise that is settled by hand. */
export function held<T>() {
  let answer!: (value: T) => void;
  let fail!: (reason: unknown) => void;
  const promise = new Promise<T>((resolve, reject) => {
    answer = resolve;
    fail = reject;
  });
  return { promise, answer, fail };
}

/** A repeatable claimer that takes batches, and keeps what it was asked. */
export function batchClaimer(
  answer: (claims: readonly Claim[], signal: AbortSignal) => Promise<readonly ClaimAnswer[]>,
) {
  const batches: (readonly Claim[])[] = [];
  const claimer: Claimer = {
    repeatable: true,
    claim: () => Promise.reject(new Error('a batch was expected')),
    claimMany: (claims, signal) => {
      batches.push(claims);
      return answer(claims, signal);
    },
  };
  return { claimer, batches, keys: () => batches.map((batch) => batch.map(({ context }) => context.entryKey)) };
}
