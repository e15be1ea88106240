/** A recoverable claim as its owner names it. */
export interface HeldClaim {
  readonly namespace: string;
  readonly entryKey: string;
  readonly scheduledAt: Date;
  /** The owner: that of the claim, or of the scan that took it over. */
  readonly claimId: string;
}

export interface TakeLapsedRequest {
  readonly namespace: string;
  /** The entries whose lapsed claims may be taken, each with its most attempts. */
  readonly entries: readonly { readonly entryKey: string; readonly maxAttempts: number }[];
  /** New owner of all that is taken; random, drawn anew for each request. */
  readonly claimId: string;
  /** Claims that this instance made or took are left to it: it may only have stalled. */
  readonly instanceId: string;
  /** Life of what is taken, from the store's now on. */
  readonly ttlMs: number;
  /** Most claims taken and abandoned by this request; those that lapsed first come first. */
  readonly limit: number;
}

/** A claim that had lapsed. */
export interface LapsedClaim {
  readonly entryKey: string;
  readonly scheduledAt: Date;
  /** Taken: the new attempt, 2 or more. Abandoned: the last one that was made. */
  readonly attempt: number;
  /** It had its most attempts: it is marked done, and nobody runs it again. */
  readonly abandoned: boolean;
}

/**
 * Claims that are leases too, for `recovery: 'rerun'`. A claim made with `recoveryTtlMs` is attempt 1 and lapses after that time by the store's clock unless it is renewed, finished or released. It
 * is kept in the row or field of the claim itself, which no sweep removes while it is unfinished, and is found by an index. Every method is one atomic step per claim; the claim
 * itself stays made whatever happens here, so no pass of the fire's own can win it again.
 */
export interface RecoveryStore {
  /** Holds on for `ttlMs` more from the store's now. Also a claim that has lapsed and was not taken. `false`: it was taken over, finished, or is not there. */
  renew(claim: HeldClaim, ttlMs: number, signal: AbortSignal): Promise<boolean>;

  /** Marks it done: nobody takes it over. `false` as for `renew`. */
  finish(claim: HeldClaim, signal: AbortSignal): Promise<boolean>;

  /** Lets it lapse at once: another instance's next request takes it. `false` as for `renew`. */
  release(claim: HeldClaim, signal: AbortSignal): Promise<boolean>;

  /** Takes over claims that have lapsed, of these entries, not made or taken by this instance, not of an entry paused over the fleet. Two requests never take one claim both. */
  takeLapsed(request: TakeLapsedRequest, signal: AbortSignal): Promise<readonly LapsedClaim[]>;
}
