import { types } from 'node:util';
import type { HeldClaim, LapsedClaim, RecoveryStore, TakeLapsedRequest } from './recovery-store.js';
import type { StoreCalls } from './store-calls.js';

/**
 * Recovery as the engine asks for it: behind the same guard as leases. `takeLapsed` is not asked again after a lost reply: what it took lapses once more, and is then another attempt's.
 */
export class GuardedRecovery {
  constructor(
    private readonly recovery: RecoveryStore,
    private readonly calls: StoreCalls,
    private readonly ready: () => Promise<void> | undefined,
  ) {}

  /** `false`: it is not this owner's any more. */
  async renew(claim: HeldClaim, ttlMs: number): Promise<boolean> {
    return this.#yesOrNo('renew', await this.#ask('renew', (signal) => this.recovery.renew(claim, ttlMs, signal)));
  }

  /** `false`: it was not this owner's any more. */
  async finish(claim: HeldClaim): Promise<boolean> {
    return this.#yesOrNo('finish', await this.#ask('finish', (signal) => this.recovery.finish(claim, signal)));
  }

  /** `false`: it was not this owner's any more. */
  async release(claim: HeldClaim): Promise<boolean> {
    return this.#yesOrNo('release', await this.#ask('release', (signal) => this.recovery.release(claim, signal)));
  }

  async takeLapsed(request: TakeLapsedRequest): Promise<readonly LapsedClaim[]> {
    const taken: unknown = await this.#ask('takeLapsed', (signal) => this.recovery.takeLapsed(request, signal));
    if (Array.isArray(taken) && taken.every(isLapsedClaim)) return taken;
    throw this.calls.unusable('takeLapsed', 'no list of { entryKey, scheduledAt, attempt, abandoned }');
  }

  #yesOrNo(operation: string, answer: unknown): boolean {
    if (typeof answer === 'boolean') return answer;
    throw this.calls.unusable(operation, `a value of type ${typeof answer}, expected true or false`);
  }

  async #ask<T>(operation: string, ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
    await this.ready();
    return this.calls.untilFree(operation, ask);
  }
}

function isLapsedClaim(value: unknown): value is LapsedClaim {
  const { entryKey, scheduledAt, attempt, abandoned } = Object(value) as Partial<LapsedClaim>;
  return (
    typeof entryKey === 'string' &&
    // Not `instanceof`: a date of another realm is one too.
    types.isDate(scheduledAt) &&
    !Number.isNaN(scheduledAt.getTime()) &&
    Number.isSafeInteger(attempt) &&
    typeof abandoned === 'boolean'
  );
}
