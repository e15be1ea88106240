import { type Clock, systemClock } from '../../ambient/clock.js';
import { CLAIMS_KEPT_PER_ENTRY, type ClaimProtocolSettings, clockAheadError } from '../claim-protocol.js';
import type { ClaimAnswer, ClaimContext, LastFire } from '../claimer.js';
import type { MemoryLease } from './memory-leases.js';
import type { MemoryMember } from './memory-membership.js';

export const MEMORY_STORE = 'memory';

interface StoredClaim {
  readonly claimId: string;
  readonly madeMs: number;
}

interface StoredEntry {
  claims: Map<number, StoredClaim>;
  /** Whether `claims` lists its instants in ascending order: they nearly always come so, and the lowest is then found at once. */
  ascending: boolean;
  floorMs: number;
  watermarkMs: number;
  /** Fingerprint under which the watermark was claimed. */
  schedule: string;
  /** No claim is older than this: spares the walk through the claims while nothing can be too old. */
  oldestMadeMs: number;
}

/**
 * The state that the replicas of one process share. It ends with the process and is seen by no other: for tests, and for applications that run as
 * one process. Its clock is the store's clock.
 */
export class MemoryStore {
  readonly clock: Clock;
  /** Maps in a map: whatever a key looks like, it meets no other. */
  readonly #namespaces = new Map<string, Map<string, StoredEntry>>();
  readonly #leases = new Map<string, Map<string, MemoryLease>>();
  readonly #members = new Map<string, Map<string, MemoryMember>>();

  constructor(options: { readonly clock?: Clock } = {}) {
    this.clock = options.clock ?? systemClock;
  }

  /** The claim protocol, one atomic step: nothing here waits. */
  claim(context: ClaimContext, settings: ClaimProtocolSettings): ClaimAnswer {
    const nowMs = this.clock.now();
    const instantMs = context.scheduledAt.getTime();
    const early = clockAheadError(MEMORY_STORE, instantMs, nowMs, settings);
    if (early !== undefined) return early;

    const entry = this.#entry(context.namespace, context.entryKey);
    if (entry.oldestMadeMs < nowMs - settings.retentionMs) removeByAge(entry, nowMs - settings.retentionMs);
    const made = entry.claims.get(instantMs);
    if (made !== undefined) return made.claimId === context.claimId;
    if (instantMs <= entry.floorMs) return 'superseded';

    entry.claims.set(instantMs, { claimId: context.claimId, madeMs: nowMs });
    entry.oldestMadeMs = Math.min(entry.oldestMadeMs, nowMs);
    if (instantMs > entry.watermarkMs) {
      entry.watermarkMs = instantMs;
      entry.schedule = context.schedule;
    } else {
      entry.ascending = false;
    }
    if (entry.claims.size > CLAIMS_KEPT_PER_ENTRY) removeLowest(entry);
    return true;
  }

  lastFire(namespace: string, entryKey: string): LastFire | undefined {
    const entry = this.#namespaces.get(namespace)?.get(entryKey);
    if (entry === undefined || entry.watermarkMs === Number.NEGATIVE_INFINITY) return undefined;
    return { scheduledAt: new Date(entry.watermarkMs), schedule: entry.schedule };
  }

  leasesOf(namespace: string): Map<string, MemoryLease> {
    return inner(this.#leases, namespace);
  }

  membersOf(namespace: string): Map<string, MemoryMember> {
    return inner(this.#members, namespace);
  }

  #entry(namespace: string, entryKey: string): StoredEntry {
    const entries = inner(this.#namespaces, namespace);
    let entry = entries.get(entryKey);
    if (entry === undefined) {
      entry = {
        claims: new Map(),
        ascending: true,
        floorMs: Number.NEGATIVE_INFINITY,
        watermarkMs: Number.NEGATIVE_INFINITY,
        schedule: '',
        oldestMadeMs: Number.POSITIVE_INFINITY,
      };
      entries.set(entryKey, entry);
    }
    return entry;
  }
}

function inner<V>(outer: Map<string, Map<string, V>>, namespace: string): Map<string, V> {
  let map = outer.get(namespace);
  if (map === undefined) {
    map = new Map();
    outer.set(namespace, map);
  }
  return map;
}

/** The floor rises in the same step, so what is forgotten here is never granted again. */
function removeByAge(entry: StoredEntry, beforeMs: number): void {
  entry.oldestMadeMs = Number.POSITIVE_INFINITY;
  for (const [instantMs, { madeMs }] of entry.claims) {
    if (madeMs < beforeMs) remove(entry, instantMs);
    else entry.oldestMadeMs = Math.min(entry.oldestMadeMs, madeMs);
  }
}

function removeLowest(entry: StoredEntry): void {
  if (!entry.ascending) {
    entry.claims = new Map([...entry.claims].sort(([a], [b]) => a - b));
    entry.ascending = true;
  }
  const [lowestMs] = entry.claims.keys();
  if (lowestMs !== undefined) remove(entry, lowestMs);
}

function remove(entry: StoredEntry, instantMs: number): void {
  entry.claims.delete(instantMs);
  entry.floorMs = Math.max(entry.floorMs, instantMs);
}
