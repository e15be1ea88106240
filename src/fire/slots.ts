import type { FireEntry, Pass } from './pass.js';

/**
 * The one place where slots are counted. A pass that may go on holds a slot of its entry and of the replica from `take` to `free`: through its jitter, its claim, its method and
 * the pauses between retries, and until a method that overran its time has returned.
 */
export class Slots {
  private taken = 0;
  private readonly listeners: ((entry: FireEntry) => void)[] = [];
  /** At most one pass per entry with `overlap: 'queue'`, and what to call when its entry may have a slot for it. */
  private readonly queue = new Map<FireEntry, () => void>();

  /** `maxConcurrentFires`: slots of all entries together; `null`: no limit. */
  constructor(private readonly maxConcurrentFires: number | null = null) {}

  /** Slots that are held now. */
  get held(): number {
    return this.taken;
  }

  /** The replica has no slot left, whatever the entry. */
  get full(): boolean {
    return this.maxConcurrentFires !== null && this.taken >= this.maxConcurrentFires;
  }

  /** Takes a slot, or answers why there is none now. A pass that holds one keeps it. Whether the entry is paused is not asked here. */
  take(pass: Pass): 'overlap' | 'concurrency-limit' | undefined {
    if (pass.holdsSlot) return undefined;
    const { entry } = pass;
    if (entry.slots > 0) {
      const { overlap, maxConcurrent } = entry.policies;
      if (overlap !== 'allow') return 'overlap';
      if (maxConcurrent !== null && entry.slots >= maxConcurrent) return 'concurrency-limit';
    }
    if (this.full) return 'concurrency-limit';
    entry.slots += 1;
    this.taken += 1;
    pass.holdsSlot = true;
    return undefined;
  }

  /** Gives the slot back and tells who waits for one. Does nothing for a pass that holds none. */
  free(pass: Pass): void {
    if (!pass.holdsSlot) return;
    const { entry } = pass;
    pass.holdsSlot = false;
    entry.slots -= 1;
    this.taken -= 1;
    for (const listener of this.listeners) listener(entry);
    if (this.queue.size > 0) this.queue.get(entry)?.();
  }

  /**
   * `listener` is called at each slot that was freed, with its entry, in the same stretch, so that nothing that comes later finds the slot first. It may `take`; it may not throw. Called
   * before the entry's queued pass is: those who wait with a claim in hand go before one that has not asked yet.
   */
  onFreed(listener: (entry: FireEntry) => void): void {
    this.listeners.push(listener);
  }

  /** Whether a pass waits for the entry's earlier one already. */
  isWaitedFor(entry: FireEntry): boolean {
    return this.queue.has(entry);
  }

  /** `onFreed` is called at each slot of the entry that was freed, until `leave`. One pass per entry can wait. */
  wait(entry: FireEntry, onFreed: () => void): void {
    this.queue.set(entry, onFreed);
  }

  /** The entry's pass waits no more. */
  leave(entry: FireEntry): void {
    this.queue.delete(entry);
  }
}
