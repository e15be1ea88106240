import { equal } from 'node:assert/strict';
import { DEFAULT_CLAIM_PROTOCOL } from '../coordination/claim-protocol.js';
import type { HeldClaim, RecoveryStore } from '../coordination/recovery-store.js';
import { LONG_MS, signal } from './asking.js';
import { ruleIn } from './conformance-rule.js';

export const rule = ruleIn('recovery', ['repeatable', 'claimMany', 'holding', 'recovery']);
export const { retentionMs: RETENTION } = DEFAULT_CLAIM_PROTOCOL;
export const long = { recoveryTtlMs: LONG_MS };

export const renew = (recovery: RecoveryStore | undefined, held: HeldClaim, ttlMs = LONG_MS) =>
  recovery?.renew(held, ttlMs, signal);
export const finish = (recovery: RecoveryStore | undefined, held: HeldClaim) => recovery?.finish(held, signal);
export const release = (recovery: RecoveryStore | undefined, held: HeldClaim) => recovery?.release(held, signal);

/** It is not the owner's: whatever that asks is answered false. */
export async function isNotHeld(recovery: RecoveryStore | undefined, held: HeldClaim): Promise<void> {
  equal(await renew(recovery, held), false);
  equal(await release(recovery, held), false);
  equal(await finish(recovery, held), false);
}

export const taken = (atMs: number, attempt: number, entryKey = 'report') => ({
  entryKey,
  atMs,
  attempt,
  abandoned: false,
});
export const abandoned = (atMs: number, attempt: number) => ({ ...taken(atMs, attempt), abandoned: true });
