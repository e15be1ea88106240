import { type Clock, systemClock } from '../../ambient/clock.js';
import { type ClaimProtocolSettings, clockAheadError } from '../claim-protocol.js';
import type { ClaimAnswer, ClaimContext, LastFire } from '../claimer.js';
import { overlapLeaseName } from '../overlap-lease.js';
import { addClaim, markUnfinished, newEntry, removeByAge, type StoredClaim, type StoredEntry } from './memory-entry.js';
import { type MemoryLease, takeLease } from './memory-lease.js';
import type { MemoryMember } from './memory-membership.js';

export const MEMORY_STORE = 'memory';

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
    if (made !== undefined) return made.claimId === context.claimId && this.#grantAgain(entry, made, context, nowMs);
    if (instantMs <= entry.floorMs) return 'superseded';
    if (entry.pausedMs !== undefined) return 'paused';

    const { claimId, instanceId, schedule, holds } = context;
    const answer = this.#grant(context, nowMs);
    const attempt = answer === 'overlap' ? 0 : 1;
    const expiresAtMs = attempt === 0 || holds?.recoveryTtlMs === undefined ? undefined : nowMs + holds.recoveryTtlMs;
    addClaim(entry, instantMs, { claimId, instanceId, madeMs: nowMs, attempt, expiresAtMs }, schedule);
    return answer;
  }

  lastFire(namespace: string, entryKey: string): LastFire | undefined {
    const entry = this.findEntry(namespace, entryKey);
    if (entry === undefined || entry.watermarkMs === Number.NEGATIVE_INFINITY) return undefined;
    return { scheduledAt: new Date(entry.watermarkMs), schedule: entry.schedule };
  }

  pause(namespace: string, entryKey: string): void {
    this.#entry(namespace, entryKey).pausedMs ??= this.clock.now();
  }

  /** Since when it was paused, or `undefined`. */
  resume(namespace: string, entryKey: string, keepWatermark: boolean): number | undefined {
    const entry = this.findEntry(namespace, entryKey);
    const pausedMs = entry?.pausedMs;
    if (entry === undefined || pausedMs === undefined) return undefined;
    entry.pausedMs = undefined;
    const history = entry.watermarkMs !== Number.NEGATIVE_INFINITY;
    if (history && !keepWatermark) entry.watermarkMs = Math.max(entry.watermarkMs, this.clock.now());
    return pausedMs;
  }

  forget(namespace: string, entryKey: string): void {
    this.#namespaces.get(namespace)?.delete(entryKey);
  }

  findEntry(namespace: string, entryKey: string): StoredEntry | undefined {
    return this.#namespaces.get(namespace)?.get(entryKey);
  }

  leasesOf(namespace: string): Map<string, MemoryLease> {
    return inner(this.#leases, namespace);
  }

  membersOf(namespace: string): Map<string, MemoryMember> {
    return inner(this.#members, namespace);
  }

  /** The answer to a pass that has the claim: with the overlap lease, where it asks for that. */
  #grant({ namespace, entryKey, claimId, holds }: ClaimContext, nowMs: number): ClaimAnswer {
    if (holds?.overlapTtlMs === undefined) return true;
    const ask = { name: overlapLeaseName(entryKey), owner: claimId, ttlMs: holds.overlapTtlMs };
    const lease = takeLease(this.leasesOf(namespace), ask, nowMs);
    return lease === undefined ? 'overlap' : { granted: true, overlapToken: lease.token };
  }

  #grantAgain(entry: StoredEntry, made: StoredClaim, context: ClaimContext, nowMs: number): ClaimAnswer {
    const answer = this.#grant(context, nowMs);
    const recoveryTtlMs = context.holds?.recoveryTtlMs;
    if (made.attempt === 0 && answer !== 'overlap' && recoveryTtlMs !== undefined)
      markUnfinished(entry, context.scheduledAt.getTime(), made, nowMs + recoveryTtlMs);
    return answer;
  }

  #entry(namespace: string, entryKey: string): StoredEntry {
    const entries = inner(this.#namespaces, namespace);
    let entry = entries.get(entryKey);
    if (entry === undefined) {
      entry = newEntry();
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
