import { isGranted } from '../claim-answer.js';
import { type ClaimProtocolSettings, DEFAULT_CLAIM_PROTOCOL } from '../claim-protocol.js';
import type { Claim, ClaimAnswer, ClaimContext, Claimer, LastFire } from '../claimer.js';
import type { MemoryStore } from './memory-store.js';

/** Claims in a store in memory; every claimer on one store sees the claims of the others. */
export class MemoryClaimer implements Claimer {
  readonly repeatable = true;
  readonly holding = true;
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
    // `claim` has no word for superseded, paused and overlap: nobody may run it, and that is what false says.
    return isGranted(answer);
  }

  async claimMany(claims: readonly Claim[]): Promise<readonly ClaimAnswer[]> {
    const answers: ClaimAnswer[] = new Array(claims.length);
    // Of two that ask for one overlap lease, the earlier instant gets it, wherever in the batch it stands.
    const places = [...claims.keys()].sort((a, b) => instantOf(claims[a]) - instantOf(claims[b]));
    for (const place of places) answers[place] = this.store.claim((claims[place] as Claim).context, this.settings);
    return answers;
  }

  async lastFire(namespace: string, entryKeys: readonly string[]): Promise<ReadonlyMap<string, LastFire>> {
    const found = new Map<string, LastFire>();
    for (const entryKey of entryKeys) {
      const last = this.store.lastFire(namespace, entryKey);
      if (last !== undefined) found.set(entryKey, last);
    }
    return found;
  }

  async pause(namespace: string, entryKey: string): Promise<void> {
    this.store.pause(namespace, entryKey);
  }

  async resume(
    namespace: string,
    entryKey: string,
    { keepWatermark }: { readonly keepWatermark: boolean },
  ): Promise<Date | null> {
    const pausedMs = this.store.resume(namespace, entryKey, keepWatermark);
    return pausedMs === undefined ? null : new Date(pausedMs);
  }

  async forget(namespace: string, entryKey: string): Promise<void> {
    this.store.forget(namespace, entryKey);
  }
}

const instantOf = (claim: Claim | undefined) => claim?.context.scheduledAt.getTime() ?? 0;
