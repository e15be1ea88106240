import type { Member, MembershipStore } from './membership-store.js';
import type { StoreCalls } from './store-calls.js';

/** Membership as the engine asks for it: opened first, asked again while the store is busy, within `coordinationTimeout`, rejecting with `CoordinationError`. */
export class GuardedMembership {
  constructor(
    private readonly membership: MembershipStore,
    private readonly calls: StoreCalls,
  ) {}

  async heartbeat(namespace: string, member: Member, expiryMs: number): Promise<readonly Member[]> {
    const live = await this.calls.onceOpen('heartbeat', (signal) =>
      this.membership.heartbeat(namespace, member, expiryMs, signal),
    );
    return this.#list('heartbeat', live);
  }

  async leave(namespace: string, instanceId: string): Promise<void> {
    await this.calls.onceOpen('leave', (signal) => this.membership.leave(namespace, instanceId, signal));
  }

  async members(namespace: string): Promise<readonly Member[]> {
    const live = await this.calls.onceOpen('members', (signal) => this.membership.members(namespace, signal));
    return this.#list('members', live);
  }

  #list(operation: string, live: readonly Member[]): readonly Member[] {
    if (Array.isArray(live)) return live;
    throw this.calls.unusable(operation, `a value of type ${typeof live}, expected a list of members`);
  }
}
