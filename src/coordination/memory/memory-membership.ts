import type { Member, MembershipStore } from '../membership-store.js';
import type { MemoryStore } from './memory-store.js';

/** A member as the memory store keeps it. */
export interface MemoryMember {
  readonly memberName: string;
  readonly expiresAtMs: number;
}

/** Membership of the replicas that share a `MemoryStore`. */
export class MemoryMembership implements MembershipStore {
  constructor(private readonly store: MemoryStore) {}

  async heartbeat(namespace: string, { instanceId, memberName }: Member, expiryMs: number): Promise<readonly Member[]> {
    const expiresAtMs = this.store.clock.now() + expiryMs;
    this.store.membersOf(namespace).set(instanceId, { memberName, expiresAtMs });
    return this.live(namespace);
  }

  async leave(namespace: string, instanceId: string): Promise<void> {
    this.store.membersOf(namespace).delete(instanceId);
  }

  async members(namespace: string): Promise<readonly Member[]> {
    return this.live(namespace);
  }

  /** The dead are taken out here: nobody else would. */
  private live(namespace: string): readonly Member[] {
    const nowMs = this.store.clock.now();
    const members = this.store.membersOf(namespace);
    for (const [instanceId, { expiresAtMs }] of members) if (expiresAtMs <= nowMs) members.delete(instanceId);
    return [...members].map(([instanceId, { memberName }]) => ({ instanceId, memberName }));
  }
}
