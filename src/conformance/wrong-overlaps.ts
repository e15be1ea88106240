import type { ClaimAnswer, ClaimContext } from '../coordination/claimer.js';
import type { LeaseGrant, LeaseRequest } from '../coordination/lease-store.js';
import { overlapLeaseName } from '../coordination/overlap-lease.js';
import type { Row } from './wrong-entries.js';

/** The ways to be wrong that let two runs of an entry overlap, or keep one out for nothing. */
export const OVERLAP_FAULTS = [
  'takes no overlap lease',
  'takes the overlap lease for the instance',
  'drops the claim that found the lease held',
  'tells a pass overlap for ever',
  'refuses a pass that was told overlap',
  'leaves the lease as it is where its pass asks again',
  'gives the lease to the first of a batch',
  'takes the lease before it looks for the claim',
  'has one overlap lease for all entries',
  'has one overlap lease for all namespaces',
  'grants without a token',
  'takes the lease for every claim',
  'never lets an overlap lease expire',
  'writes a value with the overlap lease',
  'is true to a claim that was refused the lease',
  'names the lease of its own accord',
] as const;

export type OverlapFault = (typeof OVERLAP_FAULTS)[number];

/** The answer to a pass that has its claim: with the overlap lease, where it asks for that. `row`: of a claim that was there already. */
export function takeOverlap(
  { namespace, entryKey, claimId, instanceId, holds }: ClaimContext,
  row: Row | undefined,
  take: (request: LeaseRequest) => LeaseGrant | null,
  fault: OverlapFault | undefined,
): ClaimAnswer {
  const is = (asked: OverlapFault) => fault === asked;
  let ttlMs = is('takes the lease for every claim') ? 600_000 : undefined;
  ttlMs = holds?.overlapTtlMs ?? ttlMs;
  if (ttlMs === undefined) return true;
  if (is('takes no overlap lease')) return { granted: true, overlapToken: 1 };
  if (row?.toldOverlap && is('tells a pass overlap for ever')) return 'overlap';
  if (row?.toldOverlap && is('refuses a pass that was told overlap')) return false;
  if (row?.toldOverlap === false && is('leaves the lease as it is where its pass asks again'))
    return { granted: true, overlapToken: 1 };
  let name = overlapLeaseName(is('has one overlap lease for all entries') ? '' : entryKey);
  if (is('names the lease of its own accord')) name = `running:${entryKey}`;
  const grant = take({
    namespace: is('has one overlap lease for all namespaces') ? 'shop' : namespace,
    name,
    owner: is('takes the overlap lease for the instance') ? instanceId : claimId,
    ttlMs: is('never lets an overlap lease expire') ? 1e12 : ttlMs,
    ...(is('writes a value with the overlap lease') ? { value: claimId } : {}),
  });
  if (holds?.overlapTtlMs === undefined) return true;
  if (grant === null) return 'overlap';
  return is('grants without a token') ? true : { granted: true, overlapToken: grant.token };
}
