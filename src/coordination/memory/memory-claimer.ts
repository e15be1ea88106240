import { type ClaimProtocolSettings, DEFAULT_CLAIM_PROTOCOL } from '../claim-protocol.js';
import type { Claim, ClaimAnswer, ClaimContext, Claimer, LastFire } from '../claimer.js';
import type { MemoryStore } from './memory-store.js';

/** Claims in a store in memory; every claimer on one store sees the claims of the others. */
export class MemoryClaimer implements Claimer {
  readonly repeatable = true;
  /** Set by the backend when it opens; a claimer that is used by itself has the defaults. */
  settings: ClaimProtocolSettings;

  constructor(
    private readonly store: MemoryStore,
    settings: ClaimProtocolSettings = DEFAULT_CLAIM_PROTOCOL,
  ) {
    this.settings = settings;
  }

  async claim(_fireKey: string, context: ClaimContext): Promise<boolean> {
    const answer = this.store.claim(context, this.settings);
    if (answer instanceof Error) throw answer;
    // `claim` has no word for superseded: nobody may run it, and that is what false says.
    return answer === true;
  }

  async claimMany(claims: readonly Claim[]): Promise<readonly ClaimAnswer[]> {
    return claims.map(({ context }) => this.store.claim(context, this.settings));
  }

  async lastFire(namespace: string, entryKeys: readonly string[]): Promise<ReadonlyMap<string, LastFire>> {
    const found = new Map<string, LastFire>();
    for (const entryKey of entryKeys) {
      const last = this.store.lastFire(namespace, entryKey);
      if (last !== undefined) found.set(entryKey, last);
    }
    return found;
  }
}
