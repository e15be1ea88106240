/** What an elector is asked for. */
export interface ElectionContext {
  readonly namespace: string;
  readonly instanceId: string;
  readonly entryKey: string;
  readonly fireKey: string;
  readonly scheduledAt: Date;
  /** Aborted when nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}

/**
 * Says whether this replica leads now. Asked for every fire, concurrently. Only an explicit `true` goes on to the claim. `false` is
 * `not-leader`; anything else, a rejection, or no answer within `coordinationTimeout` is `election-error`.
 *
 * A gate alone does not keep two replicas apart around a hand-over (their clocks may differ): set a claimer too.
 */
export interface Elector {
  isLeader(context: ElectionContext): boolean | Promise<boolean>;
}
