import type { HeldLease, JsonValue, LeaseGrant, LeaseRecord, LeaseRequest, LeaseStore } from './lease-store.js';
import type { StoreCalls } from './store-calls.js';

/**
 * Leases as the engine asks for them: the backend is opened first, a busy store is asked again, every call ends within `coordinationTimeout`, and whatever went
 * wrong is a `CoordinationError`. An answer that is none, such as a grant without a token, is one too: a hold must not rest on it.
 *
 * Asking `acquire` again is safe, since each grant to one owner raises the token and ends the hold of the lower one.
 */
export class GuardedLeases {
  constructor(
    private readonly leases: LeaseStore,
    private readonly calls: StoreCalls,
  ) {}

  /** `null`: somebody else holds the lease. */
  async acquire(request: LeaseRequest): Promise<LeaseGrant | null> {
    const grant: LeaseGrant | null | undefined = await this.calls.onceOpen('acquire', (signal) =>
      this.leases.acquire(request, signal),
    );
    if (grant === null || Number.isSafeInteger(grant?.token)) return grant as LeaseGrant | null;
    throw this.calls.unusable('acquire', 'neither null nor a grant with a token that is a whole number');
  }

  /** `false`: the hold is not this owner's any more. */
  renew(lease: HeldLease, change: { readonly ttlMs: number; readonly value?: JsonValue }): Promise<boolean> {
    return this.calls.yesOrNo('renew', (signal) => this.leases.renew(lease, change, signal));
  }

  /** `false`: the hold was not this owner's any more. */
  release(lease: HeldLease, change: { readonly value?: JsonValue } = {}): Promise<boolean> {
    return this.calls.yesOrNo('release', (signal) => this.leases.release(lease, change, signal));
  }

  read(namespace: string, names: readonly string[]): Promise<ReadonlyMap<string, LeaseRecord>> {
    return this.calls.onceOpen('read', (signal) => this.leases.read(namespace, names, signal));
  }
}
