import { CoordinationError } from '../coordination-error.js';
import type { HeldLease, JsonValue, LeaseGrant, LeaseRecord, LeaseRequest, LeaseStore } from '../lease-store.js';
import { leaseValueText } from '../lease-value.js';
import { allOrNothing, runInBatches } from './redis-batches.js';
import { REDIS_STORE } from './redis-client.js';
import { bucketOfLease, leaseName, textFault } from './redis-keys.js';
import { ACQUIRE_SCRIPT, READ_LEASES_SCRIPT, RELEASE_SCRIPT, RENEW_SCRIPT } from './redis-scripts.js';
import type { RedisSession } from './redis-session.js';

const READS_PER_SCRIPT = 200;

/** Leases in Redis, a hash each. No record has a TTL: the token must outlive the hold. */
export class RedisLeases implements LeaseStore {
  constructor(private readonly session: RedisSession) {}

  async acquire(request: LeaseRequest, signal: AbortSignal): Promise<LeaseGrant | null> {
    const { owner, ttlMs } = request;
    const { said } = await this.session.run({
      script: ACQUIRE_SCRIPT,
      ...placeOf(request),
      args: [owner, String(Math.round(ttlMs)), ...valueArguments(request)],
      operation: 'acquire',
      signal,
    });
    if (said === '') return null;
    const space = said.indexOf(' ');
    return { token: Number(said.slice(0, space)), value: JSON.parse(said.slice(space + 1)) as JsonValue };
  }

  async renew(
    lease: HeldLease,
    change: { readonly ttlMs: number; readonly value?: JsonValue },
    signal: AbortSignal,
  ): Promise<boolean> {
    const { said } = await this.session.run({
      script: RENEW_SCRIPT,
      ...placeOf(lease),
      args: [lease.owner, String(lease.token), String(Math.round(change.ttlMs)), ...valueArguments(change)],
      operation: 'renew',
      signal,
    });
    return said === '1';
  }

  async release(lease: HeldLease, change: { readonly value?: JsonValue }, signal: AbortSignal): Promise<boolean> {
    const { said } = await this.session.run({
      script: RELEASE_SCRIPT,
      ...placeOf(lease),
      args: [lease.owner, String(lease.token), ...valueArguments(change)],
      operation: 'release',
      signal,
      evenIfLate: true,
    });
    return said === '1';
  }

  async read(
    namespace: string,
    names: readonly string[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, LeaseRecord>> {
    const records = new Map<string, LeaseRecord>();
    const asks = names.map((name) => ({ name, ...placeOf({ namespace, name }) }));
    const outcomes = await runInBatches(this.session, asks, READS_PER_SCRIPT, async (batch, bucket) => {
      const keys = batch.flatMap((ask) => ask.keys);
      const answer = await this.session.run({
        ...{ script: READ_LEASES_SCRIPT, keys, args: [], bucket, operation: 'read', signal },
        evenIfLate: true,
      });
      const found = JSON.parse(answer.said) as (false | [string | false, string, string, string])[];
      for (const [i, { name }] of batch.entries()) {
        const lease = found[i];
        if (!lease) continue;
        const [owner, token, valueText, expiresInMs] = lease;
        records.set(name, {
          owner: owner === false ? null : owner,
          token: Number(token),
          value: JSON.parse(valueText) as JsonValue,
          expiresInMs: Number(expiresInMs),
        });
      }
    });
    allOrNothing(outcomes);
    return records;
  }
}

const valueArguments = ({ value }: { readonly value?: JsonValue }) =>
  value === undefined ? [] : [leaseValueText(value, REDIS_STORE)];

function placeOf(lease: { readonly namespace: string; readonly name: string; readonly owner?: string }) {
  for (const field of ['namespace', 'name', 'owner'] as const) {
    const fault = field === 'owner' && lease.owner === undefined ? undefined : textFault(lease[field]);
    if (fault === undefined) continue;
    throw new CoordinationError(
      'COORDINATION_FAILED',
      { store: REDIS_STORE, operation: 'lease' },
      `${field} must be ${fault}.`,
    );
  }
  return { keys: [leaseName(lease.namespace, lease.name)], bucket: bucketOfLease(lease.name) };
}
