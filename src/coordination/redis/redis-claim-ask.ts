import { entryKeyFault } from '../../domain/entry-key.js';
import type { ClaimContext, ClaimHolds } from '../claimer.js';
import { CoordinationError } from '../coordination-error.js';
import { overlapLeaseName } from '../overlap-lease.js';
import { REDIS_STORE } from './redis-client.js';
import {
  bucketOf,
  entryName,
  leaseName,
  percentEncoded,
  recoveryMember,
  recoveryName,
  textFault,
} from './redis-keys.js';

/** One claim of a batch, with its place in it. */
export interface Ask {
  readonly place: number;
  readonly bucket: number;
  readonly name: string;
  readonly instantMs: number;
  /** Percent-encoded, like the instance id, so that a row of the hash has a colon between them and nowhere else. */
  readonly claimId: string;
  /** What most claims of a turn have in common. */
  readonly shared: readonly [instant: string, schedule: string, instanceId: string, claimIdLength: string];
  readonly context: ClaimContext;
}

export function toAsk(context: ClaimContext, place: number): Ask {
  const { namespace, entryKey, scheduledAt, claimId, instanceId, schedule } = context;
  const id = percentEncoded(claimId);
  return {
    place,
    bucket: bucketOf(entryKey),
    name: entryName(namespace, entryKey),
    instantMs: scheduledAt.getTime(),
    claimId: id,
    shared: [String(scheduledAt.getTime()), schedule, percentEncoded(instanceId), String(id.length)],
    context,
  };
}

/** Instants ascend, so that a batch that brings many of one entry raises no floor above one of its own; then what is alike lies together. */
export function byInstant(a: Ask, b: Ask): number {
  return a.instantMs - b.instantMs || compare(a.shared, b.shared);
}

function compare(a: readonly string[], b: readonly string[]): number {
  for (const [i, text] of a.entries()) {
    const other = b[i] as string;
    if (text !== other) return text < other ? -1 : 1;
  }
  return 0;
}

/** What claims have in common is sent once for all that follow each other. */
export function inGroups(asks: readonly Ask[]): string[] {
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

/** The keys of a claim that takes leases with it: all in one bucket. */
export function holdingKeys({ name, bucket, context: { namespace, entryKey } }: Ask): string[] {
  return [name, overlapLease(namespace, entryKey), recoveryName(namespace, bucket)];
}

export const overlapLease = (namespace: string, entryKey: string) => leaseName(namespace, overlapLeaseName(entryKey));

export function holdingArguments({ instantMs, claimId, shared, context }: Ask): string[] {
  const [instant, schedule, instanceId] = shared;
  const { overlapTtlMs, recoveryTtlMs }: ClaimHolds = context.holds ?? {};
  return [
    ...[instant, schedule, instanceId, claimId, context.claimId],
    ...[life(overlapTtlMs), life(recoveryTtlMs), recoveryMember(instantMs, context.entryKey)],
  ];
}

const life = (ttlMs: number | undefined) => (ttlMs === undefined ? '' : String(Math.round(ttlMs)));

/** What cannot be asked is refused before the call: a key that the store would keep in another form could meet another's. */
export function claimFault(context: ClaimContext): CoordinationError | undefined {
  const { entryKey, scheduledAt, holds } = context;
  const keyFault = entryKeyFault(entryKey);
  if (keyFault !== undefined) return claimError('COORDINATION_FAILED', `the entry key must be ${keyFault}.`);
  if (context.claimId === '') return claimError('COORDINATION_FAILED', 'claimId must not be empty.');
  for (const name of ['namespace', 'claimId', 'instanceId', 'schedule'] as const) {
    const fault = textFault(context[name]);
    if (fault !== undefined) return claimError('COORDINATION_FAILED', `${name} must be ${fault}.`);
  }
  if (!Number.isFinite(scheduledAt.getTime())) {
    return claimError('COORDINATION_FAILED', `scheduledAt of entry "${entryKey}" is no instant.`);
  }
  return holds === undefined ? undefined : holdsFault(holds);
}

function holdsFault(holds: ClaimHolds): CoordinationError | undefined {
  for (const name of ['overlapTtlMs', 'recoveryTtlMs'] as const) {
    if (holds[name] === undefined || Number.isFinite(holds[name])) continue;
    return claimError('COORDINATION_FAILED', `${name} must be a number of milliseconds.`);
  }
  return undefined;
}

export function claimError(code: 'COORDINATION_ANSWER' | 'COORDINATION_FAILED', message: string): CoordinationError {
  return new CoordinationError(code, { store: REDIS_STORE, operation: 'claim' }, message);
}
