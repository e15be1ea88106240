import type { CoordinationBackend } from '../coordination/coordination-backend.js';
import type { MovableClock } from './movable-clock.js';

/** An empty store under test, made anew for each rule. */
export interface ConformanceStore {
  /**
   * A backend as a further replica of the fleet has it, on this store: with a connection or client of its own where replicas have one. Not opened; the suite opens it with the
   * default settings, and closes it.
   */
  replica(): CoordinationBackend | Promise<CoordinationBackend>;
  /** The store's clock, where the harness moves it. Where it is absent the suite waits: half a second for a hold to expire. */
  readonly clock?: MovableClock;
  /** Called after the rule, with all its backends closed. Removes what the store holds. */
  close?(): unknown;
}
