import type { Elector } from '../elector.js';

/**
 * Who leads among the replicas of one process, set by hand: a test says who leads and when that changes. Nobody leads until `elect` was called.
 */
export class MemoryElection {
  #leader: string | undefined;

  /** The instance id of the replica that leads now. */
  get leader(): string | undefined {
    return this.#leader;
  }

  /** Makes one replica the leader, or with `undefined` none. */
  elect(instanceId: string | undefined): void {
    this.#leader = instanceId;
  }

  /** The elector of one replica: it leads while it is the elected one. */
  elector(instanceId: string): Elector {
    return { isLeader: () => this.#leader === instanceId };
  }
}
