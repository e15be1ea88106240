/** One live scheduler of the fleet. */
export interface Member {
  readonly instanceId: string;
  /** Its name on the ring; by default the instance id. Two instances may share one while one replaces the other. */
  readonly memberName: string;
}

/** Who is alive, by the store's clock. Called concurrently. A method rejects if it does not know. */
export interface MembershipStore {
  /** Joins, or stays: live for `expiryMs` from the store's now on. Answers all live members, this one included, in one round trip. */
  heartbeat(namespace: string, member: Member, expiryMs: number, signal: AbortSignal): Promise<readonly Member[]>;
  /** Gone at once. No error if it was not there. */
  leave(namespace: string, instanceId: string, signal: AbortSignal): Promise<void>;
  members(namespace: string, signal: AbortSignal): Promise<readonly Member[]>;
}
