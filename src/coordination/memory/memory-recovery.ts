import type { HeldClaim, LapsedClaim, RecoveryStore, TakeLapsedRequest } from '../recovery-store.js';
import { markDone, type StoredClaim, type StoredEntry } from './memory-entry.js';
import type { MemoryStore } from './memory-store.js';

interface Unfinished {
  readonly entry: StoredEntry;
  readonly entryKey: string;
  readonly instantMs: number;
  readonly claim: StoredClaim;
  readonly expiresAtMs: number;
}

/** Recovery of claims between the replicas that share a `MemoryStore`. A method is one step of the event loop, which makes it atomic. */
export class MemoryRecovery implements RecoveryStore {
  constructor(private readonly store: MemoryStore) {}

  async renew(held: HeldClaim, ttlMs: number): Promise<boolean> {
    const found = this.#holdOf(held);
    if (found === undefined) return false;
    found.claim.expiresAtMs = this.store.clock.now() + ttlMs;
    return true;
  }

  async finish(held: HeldClaim): Promise<boolean> {
    const found = this.#holdOf(held);
    if (found === undefined) return false;
    markDone(found.entry, held.scheduledAt.getTime(), found.claim);
    return true;
  }

  async release(held: HeldClaim): Promise<boolean> {
    const found = this.#holdOf(held);
    if (found === undefined) return false;
    found.claim.expiresAtMs = this.store.clock.now();
    return true;
  }

  async takeLapsed(request: TakeLapsedRequest): Promise<readonly LapsedClaim[]> {
    const { claimId, instanceId, ttlMs, limit } = request;
    const nowMs = this.store.clock.now();
    const mostOf = new Map(request.entries.map(({ entryKey, maxAttempts }) => [entryKey, maxAttempts]));
    return this.#lapsed(request, nowMs)
      .slice(0, limit)
      .map(({ entry, entryKey, instantMs, claim }) => {
        const abandoned = claim.attempt >= (mostOf.get(entryKey) as number);
        if (abandoned) markDone(entry, instantMs, claim);
        else Object.assign(claim, { claimId, instanceId, attempt: claim.attempt + 1, expiresAtMs: nowMs + ttlMs });
        return { entryKey, scheduledAt: new Date(instantMs), attempt: claim.attempt, abandoned };
      });
  }

  /** What the request may take, longest lapsed first. An entry that is listed twice is one. */
  #lapsed({ namespace, entries, instanceId }: TakeLapsedRequest, nowMs: number): Unfinished[] {
    const lapsed: Unfinished[] = [];
    for (const entryKey of new Set(entries.map((asked) => asked.entryKey))) {
      const entry = this.store.findEntry(namespace, entryKey);
      if (entry === undefined || entry.pausedMs !== undefined) continue;
      for (const [instantMs, claim] of entry.unfinished) {
        const { expiresAtMs } = claim;
        if (expiresAtMs === undefined || expiresAtMs > nowMs || claim.instanceId === instanceId) continue;
        lapsed.push({ entry, entryKey, instantMs, claim, expiresAtMs });
      }
    }
    return lapsed.sort((a, b) => a.expiresAtMs - b.expiresAtMs);
  }

  /** A hold that lapsed is its owner's until it is taken. */
  #holdOf({ namespace, entryKey, scheduledAt, claimId }: HeldClaim) {
    const entry = this.store.findEntry(namespace, entryKey);
    const claim = entry?.unfinished.get(scheduledAt.getTime());
    if (entry === undefined || claim === undefined || claim.claimId !== claimId) return undefined;
    return { entry, claim };
  }
}
