import type { HeldLease, JsonValue, LeaseGrant, LeaseRecord, LeaseRequest, LeaseStore } from '../lease-store.js';
import { leaseValueText } from '../lease-value.js';
import { isHeld, type MemoryLease, takeLease } from './memory-lease.js';
import { MEMORY_STORE, type MemoryStore } from './memory-store.js';

/** Leases of the replicas that share a `MemoryStore`. A method is one step of the event loop, which makes it atomic. */
export class MemoryLeases implements LeaseStore {
  constructor(private readonly store: MemoryStore) {}

  async acquire({ namespace, name, owner, ttlMs, value }: LeaseRequest): Promise<LeaseGrant | null> {
    const valueText = value === undefined ? undefined : leaseValueText(value, MEMORY_STORE);
    const lease = takeLease(this.store.leasesOf(namespace), { name, owner, ttlMs, valueText }, this.store.clock.now());
    if (lease === undefined) return null;
    return { token: lease.token, value: JSON.parse(lease.valueText) as JsonValue };
  }

  async renew(
    held: HeldLease,
    { ttlMs, value }: { readonly ttlMs: number; readonly value?: JsonValue },
  ): Promise<boolean> {
    const lease = this.holdOf(held);
    if (lease === undefined) return false;
    if (value !== undefined) lease.valueText = leaseValueText(value, MEMORY_STORE);
    lease.expiresAtMs = this.store.clock.now() + ttlMs;
    return true;
  }

  async release(held: HeldLease, { value }: { readonly value?: JsonValue }): Promise<boolean> {
    const lease = this.holdOf(held);
    if (lease === undefined) return false;
    if (value !== undefined) lease.valueText = leaseValueText(value, MEMORY_STORE);
    lease.owner = null;
    return true;
  }

  async read(namespace: string, names: readonly string[]): Promise<ReadonlyMap<string, LeaseRecord>> {
    const nowMs = this.store.clock.now();
    const records = new Map<string, LeaseRecord>();
    for (const name of names) {
      const lease = this.store.leasesOf(namespace).get(name);
      if (lease === undefined) continue;
      const held = isHeld(lease, nowMs);
      records.set(name, {
        owner: held ? lease.owner : null,
        token: lease.token,
        value: JSON.parse(lease.valueText) as JsonValue,
        expiresInMs: held ? lease.expiresAtMs - nowMs : 0,
      });
    }
    return records;
  }

  private holdOf({ namespace, name, owner, token }: HeldLease): MemoryLease | undefined {
    const lease = this.store.leasesOf(namespace).get(name);
    const theirs = lease !== undefined && lease.owner === owner && lease.token === token;
    return theirs && isHeld(lease, this.store.clock.now()) ? lease : undefined;
  }
}
