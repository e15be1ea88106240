import type { ClaimHolds } from './claimer.js';
import type { CoordinationError } from './coordination-error.js';

/** One pass of a fire that asks for its claim. */
export interface ClaimRequest {
  readonly entryKey: string;
  readonly fireKey: string;
  readonly scheduledAt: Date;
  /** Random, drawn anew for each pass of a fire through the pipeline; every ask of this request carries it. */
  readonly claimId: string;
  /** Fingerprint of the entry's schedule. */
  readonly schedule: string;
  /** What the winner takes together with the claim. */
  readonly holds?: ClaimHolds | undefined;
  /** Wall clock, milliseconds since the epoch: from here on nothing is asked again, since nobody waits (the entry's next instant). The first ask is always made, unless the store is known to be down. */
  readonly untilMs: number;
}

/**
 * How a claim ended. `granted`: with the fencing token of the overlap lease, where one was asked for. `refused`: another pass has the fire, or (`superseded`) nobody ran it but
 * it lies at or below the entry's floor. `paused`: the entry is paused over the fleet. `overlap`: this pass has the fire, but another run holds the overlap lease. `error`: no
 * usable answer; the fire does not run.
 */
export type ClaimOutcome =
  | { readonly kind: 'granted'; readonly overlapToken?: number }
  | { readonly kind: 'refused'; readonly superseded: boolean }
  | { readonly kind: 'paused' }
  | { readonly kind: 'overlap' }
  | { readonly kind: 'error'; readonly error: CoordinationError };
