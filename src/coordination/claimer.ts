import type { CoordinationError } from './coordination-error.js';

/** What a claim is asked for, beside the fire key. */
export interface ClaimContext {
  /** Keeps applications that share a store apart; part of every key a store writes. */
  readonly namespace: string;
  readonly entryKey: string;
  readonly scheduledAt: Date;
  /** Random, drawn anew for each pass of a fire through the pipeline; asked again with it, a store answers `true` again. */
  readonly claimId: string;
  /** The replica that asks. A label: claims are never granted by it. */
  readonly instanceId: string;
  /** Fingerprint of the entry's schedule, kept beside the watermark. */
  readonly schedule: string;
  /** What the winner takes together with its claim; absent: nothing. Only for a claimer that says `holding`. */
  readonly holds?: ClaimHolds;
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

/** What a granted claim takes with it in the same atomic step, each for the claim id as its owner and for so long by the store's clock. */
export interface ClaimHolds {
  /**
   * The lease `overlapLeaseName(entryKey)` of the same namespace, as `LeaseStore.acquire` would: kept by `renew`, given back by `release`. Held by another owner: the answer is
   * `'overlap'`, and the claim stays made.
   */
  readonly overlapTtlMs?: number;
  /** The claim is a lease too, which can be taken over when it lapses: see `RecoveryStore`. It is not recoverable where the answer is `'overlap'`, until its own pass asks again and is given the lease. */
  readonly recoveryTtlMs?: number;
}

export interface Claim {
  readonly fireKey: string;
  readonly context: ClaimContext;
}

/** A claim that was granted together with the overlap lease it asked for. */
export interface ClaimGrant {
  readonly granted: true;
  /** Fencing token of the overlap lease. */
  readonly overlapToken: number;
}

/**
 * The answer to one claim of a batch. `true`: granted; one that asked for the overlap lease gets a `ClaimGrant` instead. `false`: another pass has it. `'superseded'`: nobody
 * ran it, but later instants of its entry were claimed so long ago that the store keeps no claims that old (at or below the floor). `'paused'`: the entry is paused over the
 * fleet; nothing was written. `'overlap'`: the claim is made, but another run holds the overlap lease. An error: no answer for this claim alone.
 *
 * Looked at in this order: too far in the store's future, a claim that is there, the floor, the pause, and then the claim is made. A claim that is there and has this claim id is
 * answered `true` also while the entry is paused; where it asks for the overlap lease, that is asked for (again).
 */
export type ClaimAnswer = boolean | ClaimGrant | 'superseded' | 'paused' | 'overlap' | CoordinationError;

/** An entry's latest claimed instant over the fleet, and the schedule it was claimed under. */
export interface LastFire {
  readonly scheduledAt: Date;
  readonly schedule: string;
}

/**
 * Decides which replica may run a fire. Called concurrently, also for one key.
 *
 * The whole port is `claim`. Answer `true` to one caller per fire key and `false` to every other; reject if you do not know. Only an explicit
 * `true` runs the method: anything that is neither `true` nor `false`, a rejection, or no answer within `coordinationTimeout` is a `claim-error`.
 * A claimer of your own is asked once per fire, and must keep a claim longer than jitter + `catchUpWithin` + the longest
 * pause you fear; the stores that ship with the library have no such limit.
 *
 * The other members are capabilities: data that the library reads from the injected object, each optional.
 */
export interface Claimer {
  claim(fireKey: string, context: ClaimContext): Promise<boolean>;
  /** All claims that are due in one turn, in one round trip. Answers in the order of the claims. An instant may appear once, an entry many times. */
  claimMany?(claims: readonly Claim[], signal: AbortSignal): Promise<readonly ClaimAnswer[]>;
  /** The fleet's watermarks. Entries without history are absent from the answer. */
  lastFire?(
    namespace: string,
    entryKeys: readonly string[],
    signal: AbortSignal,
  ): Promise<ReadonlyMap<string, LastFire>>;
  /**
   * Pauses an entry over the fleet: while it is paused, claims of it that are not there yet are answered `'paused'` (`false` by `claim`), and its lapsed claims are not taken over. Also for an
   * entry without history. Paused again, it stays paused since the first time.
   */
  pause?(namespace: string, entryKey: string, signal: AbortSignal): Promise<void>;

  /**
   * Ends the pause. The watermark is raised to the store's now, so that nothing of the pause is caught up by a later start; not with `keepWatermark`, nor where there is none. Answers since when it was
   * paused, by the store's clock; `null` if it was not.
   */
  resume?(
    namespace: string,
    entryKey: string,
    change: { readonly keepWatermark: boolean },
    signal: AbortSignal,
  ): Promise<Date | null>;

  /** Removes all that is kept of an entry that will never come back: head, pause and claims. Its fires could be claimed again. */
  forget?(namespace: string, entryKey: string, signal: AbortSignal): Promise<void>;

  /** Understands `ClaimContext.holds`, in `claimMany`, which it then has. Default false. */
  readonly holding?: boolean;

  /** May be asked again with the same claim id: then a lost reply or a short outage costs no fire. Default false. */
  readonly repeatable?: boolean;
}
