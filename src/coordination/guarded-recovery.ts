import { isValidDate } from '../domain/valid-date.js';
import type { HeldClaim, LapsedClaim, RecoveryStore, TakeLapsedRequest } from './recovery-store.js';
import type { StoreCalls } from './store-calls.js';

/**
 * Recovery as the engine asks for it: behind the same guard as leases. `takeLapsed` is not asked again after a lost reply: what it took lapses once more, and is then another attempt's.
 */
export class GuardedRecovery {
  constructor(
    private readonly recovery: RecoveryStore,
    private readonly calls: StoreCalls,
  ) {}

  /** `false`: it is not this owner's any more. */
  renew(claim: HeldClaim, ttlMs: number): Promise<boolean> {
    return this.calls.yesOrNo('renew', (signal) => this.recovery.renew(claim, ttlMs, signal));
  }

  /** `false`: it was not this owner's any more. */
  finish(claim: HeldClaim): Promise<boolean> {
    return this.calls.yesOrNo('finish', (signal) => this.recovery.finish(claim, signal));
  }

  /** `false`: it was not this owner's any more. */
  release(claim: HeldClaim): Promise<boolean> {
    return this.calls.yesOrNo('release', (signal) => this.recovery.release(claim, signal));
  }

  async takeLapsed(request: TakeLapsedRequest): Promise<readonly LapsedClaim[]> {
    const taken: unknown = await this.calls.onceOpen('takeLapsed', (signal) =>
      this.recovery.takeLapsed(request, signal),
    );
    if (Array.isArray(taken) && taken.every(isLapsedClaim)) return taken;
    throw this.calls.unusable('takeLapsed', 'no list of { entryKey, scheduledAt, attempt, abandoned }');
  }
}

function isLapsedClaim(value: unknown): value is LapsedClaim {
  const { entryKey, scheduledAt, attempt, abandoned } = Object(value) as Partial<LapsedClaim>;
  return (
    typeof entryKey === 'string' &&
    isValidDate(scheduledAt) &&
    Number.isSafeInteger(attempt) &&
    typeof abandoned === 'boolean'
  );
}
