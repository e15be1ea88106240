/** What a lease's owner may keep beside it: small, and written by the owner alone. */
export type JsonValue = null | boolean | number | string | readonly JsonValue[] | { readonly [key: string]: JsonValue };

/** The largest value in UTF-8 bytes of its JSON text. */
export const MAX_LEASE_VALUE_BYTES = 4_096;

/** Which lease, and who asks for it. */
export interface LeaseRequest {
  readonly namespace: string;
  /** Any text a store key can hold, e.g. `leader` or `task:cleanup`. Never truncated or folded. */
  readonly name: string;
  /** An identity, not a name: two holders never share it. By default the instance id. */
  readonly owner: string;
  /** Life of the hold from the store's now on, in milliseconds. */
  readonly ttlMs: number;
  /** Replaces the value; left out, the value stays as the last owner left it. */
  readonly value?: JsonValue;
}

/** A hold that was granted. */
export interface LeaseGrant {
  /** Grows with every grant of this lease, and never falls: it survives expiry and release. Send it along with writes, and refuse lower ones. */
  readonly token: number;
  /** The value now kept; `null` if there has never been one. */
  readonly value: JsonValue;
}

/** A hold as its owner names it to keep it or give it back. */
export interface HeldLease {
  readonly namespace: string;
  readonly name: string;
  readonly owner: string;
  readonly token: number;
}

/** A lease as anyone may see it. A record stays in the store, unowned, after release and expiry. */
export interface LeaseRecord {
  /** `null`: released or expired. */
  readonly owner: string | null;
  readonly token: number;
  readonly value: JsonValue;
  /** Milliseconds until the hold expires by the store's clock; 0 if unowned. */
  readonly expiresInMs: number;
}

/**
 * Named, renewing, expiring holds. Every method is one atomic step in the store, and the store's clock alone says what has expired. Called
 * concurrently, also for one name. A method rejects if it does not know.
 */
export interface LeaseStore {
  /**
   * Takes the lease if it is unowned, expired, or held by the same owner; each grant raises the token, so a lost reply is mended by asking again. `null`: somebody
   * else holds it.
   */
  acquire(request: LeaseRequest, signal: AbortSignal): Promise<LeaseGrant | null>;
  /** Holds on for `ttlMs` more from the store's now. `false`: the hold is not this owner's with this token any more, or it has expired, even if nobody took it. */
  renew(
    lease: HeldLease,
    change: { readonly ttlMs: number; readonly value?: JsonValue },
    signal: AbortSignal,
  ): Promise<boolean>;
  /** Gives the lease back; token and value stay. `false` as for `renew`. */
  release(lease: HeldLease, change: { readonly value?: JsonValue }, signal: AbortSignal): Promise<boolean>;
  /** The records of these names; names without one are absent. */
  read(namespace: string, names: readonly string[], signal: AbortSignal): Promise<ReadonlyMap<string, LeaseRecord>>;
}
