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
    private readonly ready: () => Promise<void> | undefined,
  ) {}

  /** `null`: somebody else holds the lease. */
  async acquire(request: LeaseRequest): Promise<LeaseGrant | null> {
    const grant: LeaseGrant | null | undefined = await this.#ask('acquire', (signal) =>
      this.leases.acquire(request, signal),
    );
    if (grant === null || Number.isSafeInteger(grant?.token)) return grant as LeaseGrant | null;
    throw this.calls.unusable('acquire', 'neither null nor a grant with a token that is a whole number');
  }

  /** `false`: the hold is not this owner's any more. */
  async renew(lease: HeldLease, change: { readonly ttlMs: number; readonly value?: JsonValue }): Promise<boolean> {
    return this.#yesOrNo('renew', await this.#ask('renew', (signal) => this.leases.renew(lease, change, signal)));
  }

  /** `false`: the hold was not this owner's any more. */
  async release(lease: HeldLease, change: { readonly value?: JsonValue } = {}): Promise<boolean> {
    return this.#yesOrNo('release', await this.#ask('release', (signal) => this.leases.release(lease, change, signal)));
  }

  read(namespace: string, names: readonly string[]): Promise<ReadonlyMap<string, LeaseRecord>> {
    return this.#ask('read', (signal) => this.leases.read(namespace, names, signal));
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
