import type { ClaimProtocolSettings } from './claim-protocol.js';
import type { Claimer } from './claimer.js';
import type { LeaseStore } from './lease-store.js';
import type { MembershipStore } from './membership-store.js';
import type { RecoveryStore } from './recovery-store.js';

/** What the application set, as a backend is told when it is opened. */
export interface BackendSettings extends ClaimProtocolSettings {
  /** Nobody waits longer for an answer: what a client sends later than this must change nothing. `forRoot({ coordinationTimeout })`, default 5 s. */
  readonly coordinationTimeoutMs: number;
}

/** One store's implementations together. Each member that is absent is a capability the store does not have. */
export interface CoordinationBackend {
  /** The store's name for logs and errors: `sqlite`, `memory`, … */
  readonly store: string;
  readonly claimer: Claimer;
  readonly leases?: LeaseStore;
  readonly membership?: MembershipStore;
  /** Only together with a `holding` claimer. */
  readonly recovery?: RecoveryStore;
  /**
   * Called before the first use with the application's settings, and again only after it failed. Creates what the store needs. Must leave nothing half open when it
   * rejects.
   */
  open?(settings: BackendSettings, signal: AbortSignal): Promise<void>;
  /** Called once, after the last use. Closes what the backend opened itself, never a handle the application gave. */
  close?(): Promise<void>;
  /** What an operator should know of how the store is set up, a sentence each; asked once, at start, and logged as warnings. */
  warnings?(signal: AbortSignal): Promise<readonly string[]>;
  /** The store's clock, milliseconds since the epoch. */
  now?(signal: AbortSignal): Promise<number>;
}
