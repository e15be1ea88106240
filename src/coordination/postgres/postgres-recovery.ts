import type { HeldClaim, LapsedClaim, RecoveryStore, TakeLapsedRequest } from '../recovery-store.js';
import { integerArray, requireText, textArray, textFault, wholeMs } from './postgres-client.js';
import { ask, type OpenSession } from './postgres-session.js';
import type { LapsedRow } from './postgres-statements.js';

/** Recovery of claims in PostgreSQL: an unfinished claim is one whose row has a time to lapse at, and a partial index holds those alone. */
export class PostgresRecovery implements RecoveryStore {
  /** `session` throws while the backend is not open. */
  constructor(private readonly session: OpenSession) {}

  async renew(claim: HeldClaim, ttlMs: number): Promise<boolean> {
    return this.#change('renewClaim', [...claimValues(claim, 'renew'), wholeMs(ttlMs, 'ttlMs', 'renew')], 'renew');
  }

  async finish(claim: HeldClaim): Promise<boolean> {
    return this.#change('finishClaim', claimValues(claim, 'finish'), 'finish');
  }

  async release(claim: HeldClaim): Promise<boolean> {
    return this.#change('releaseClaim', claimValues(claim, 'release'), 'release');
  }

  async takeLapsed(request: TakeLapsedRequest): Promise<readonly LapsedClaim[]> {
    const { namespace, claimId, instanceId, ttlMs, limit } = request;
    const operation = 'takeLapsed';
    for (const [what, text] of Object.entries({ namespace, claimId, instanceId })) requireText(text, what, operation);
    // A statement meets an entry once. A key that PostgreSQL cannot keep has no claim in it.
    const most = new Map(request.entries.map(({ entryKey, maxAttempts }) => [entryKey, maxAttempts]));
    const keys = [...most.keys()].filter((entryKey) => textFault(entryKey) === undefined);
    if (keys.length === 0) return [];
    const rows = await ask<LapsedRow>(
      this.session(operation),
      'takeLapsed',
      [
        namespace,
        textArray(keys),
        integerArray(keys.map((entryKey) => attemptsAtMost(most.get(entryKey) as number))),
        claimId,
        instanceId,
        wholeMs(ttlMs, 'ttlMs', operation),
        wholeMs(limit, 'limit', operation),
      ],
      operation,
    );
    return rows.map(({ entry_key, instant_ms, attempt, abandoned }) => ({
      entryKey: entry_key,
      scheduledAt: new Date(Number(instant_ms)),
      attempt: Number(attempt),
      abandoned: Number(abandoned) === 1,
    }));
  }

  async #change(
    statement: 'renewClaim' | 'finishClaim' | 'releaseClaim',
    values: readonly string[],
    operation: string,
  ): Promise<boolean> {
    return (await ask(this.session(operation), statement, values, operation)).length > 0;
  }
}

function claimValues({ namespace, entryKey, scheduledAt, claimId }: HeldClaim, operation: string): string[] {
  for (const [what, text] of Object.entries({ namespace, entryKey, claimId })) requireText(text, what, operation);
  return [namespace, entryKey, wholeMs(scheduledAt.getTime(), 'scheduledAt', operation), claimId];
}

/** No column counts further, so it stands for no bound as well. */
function attemptsAtMost(most: number): number {
  return Math.min(Math.floor(most), 2 ** 31 - 1);
}
