import type { ClaimProtocolSettings } from './claim-protocol.js';
import type { Claimer } from './claimer.js';
import type { LeaseStore } from './lease-store.js';
import type { MembershipStore } from './membership-store.js';

/** One store's implementations together. Each member that is absent is a capability the store does not have. */
export interface CoordinationBackend {
  /** The store's name for logs and errors: `sqlite`, `memory`, … */
  readonly store: string;
  readonly claimer: Claimer;
  readonly leases?: LeaseStore;
  readonly membership?: MembershipStore;
  /**
   * Called before the first use with the application's settings, and again only after it failed. Creates what the store needs. Must leave nothing half open when it
   * rejects.
   */
  open?(settings: ClaimProtocolSettings, signal: AbortSignal): Promise<void>;
  /** Called once, after the last use. Closes what the backend opened itself, never a handle the application gave. */
  close?(): Promise<void>;
  /** The store's clock, milliseconds since the epoch. */
  now?(signal: AbortSignal): Promise<number>;
}
