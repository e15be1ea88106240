import type { ClaimProtocolSettings } from '../claim-protocol.js';
import type { CoordinationBackend } from '../coordination-backend.js';
import { MemoryClaimer } from './memory-claimer.js';
import { MemoryLeases } from './memory-leases.js';
import { MemoryMembership } from './memory-membership.js';
import { MemoryRecovery } from './memory-recovery.js';
import { MEMORY_STORE, MemoryStore } from './memory-store.js';

/**
 * Coordinates the replicas of one process: for tests, and for an application that runs once. Give several replicas the same `store`, a backend each; without
 * one the backend has a store of its own.
 */
export class MemoryBackend implements CoordinationBackend {
  readonly store = MEMORY_STORE;
  readonly claimer: MemoryClaimer;
  readonly leases: MemoryLeases;
  readonly membership: MemoryMembership;
  readonly recovery: MemoryRecovery;
  readonly #memory: MemoryStore;

  constructor(options: { readonly store?: MemoryStore } = {}) {
    this.#memory = options.store ?? new MemoryStore();
    this.claimer = new MemoryClaimer(this.#memory);
    this.leases = new MemoryLeases(this.#memory);
    this.membership = new MemoryMembership(this.#memory);
    this.recovery = new MemoryRecovery(this.#memory);
  }

  async open(settings: ClaimProtocolSettings): Promise<void> {
    this.claimer.settings = settings;
  }

  async now(): Promise<number> {
    return this.#memory.clock.now();
  }

  // No close: the store belongs to all that share it, and holds nothing that must be given back.
}
