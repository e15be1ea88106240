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
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

export interface Claim {
  readonly fireKey: string;
  readonly context: ClaimContext;
}

/**
 * The answer to one claim of a batch. `true`: granted. `false`: another pass has it. `'superseded'`: nobody ran it, but later
 * instants of its entry were claimed so long ago that the store keeps no claims that old (at or below the floor). An error: no answer for this claim alone.
 */
export type ClaimAnswer = boolean | 'superseded' | CoordinationError;

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
  /** May be asked again with the same claim id: then a lost reply or a short outage costs no fire. Default false. */
  readonly repeatable?: boolean;
}
