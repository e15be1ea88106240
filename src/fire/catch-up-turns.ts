import type { FireEntry, Pass } from './pass.js';
import type { Slots } from './slots.js';

/** A pass that was granted its claim and waits for its place. */
interface Winner {
  readonly pass: Pass;
  readonly go: () => void;
}

/**
 * Who of the caught-up fires that this replica won may run now: at most `catchUpConcurrency` of them at once, each as soon as its entry and the replica have a slot for it. None is refused: nobody else
 * would run a fire whose claim is made. Entries take turns, each with its own in their order: one that has very many to run, or waits for its own earlier one, keeps no other waiting.
 */
export class CatchUpTurns {
  /** Passes that have a place: until their slot is free again, so also a method that overran its time has one. */
  private readonly placed = new Set<Pass>();
  /** By entry, in the order in which it is their turn. */
  private readonly waiting = new Map<FireEntry, Set<Winner>>();

  constructor(
    private readonly slots: Slots,
    private readonly catchUpConcurrency: number,
  ) {
    slots.onFreed(() => this.slotFreed());
  }

  /** Gives the pass a place with a slot, at once or when the promise resolves. At the drain deadline it resolves without either: there is no time left to run in. */
  take(pass: Pass): undefined | Promise<undefined> {
    if (!this.waiting.has(pass.entry) && this.place(pass)) return undefined;
    return new Promise((resolve) => {
      const winner: Winner = {
        pass,
        go: () => {
          pass.onDeadline = undefined;
          this.leave(winner);
          resolve(undefined);
        },
      };
      pass.onDeadline = winner.go;
      const queue = this.waiting.get(pass.entry);
      if (queue === undefined) this.waiting.set(pass.entry, new Set([winner]));
      else queue.add(winner);
    });
  }

  private slotFreed(): void {
    if (this.placed.size === 0 && this.waiting.size === 0) return;
    for (const pass of this.placed) if (!pass.holdsSlot) this.placed.delete(pass);
    for (const [entry, queue] of this.waiting) {
      if (this.placed.size >= this.catchUpConcurrency || this.slots.full) return;
      const [winner] = queue;
      // Its entry has no slot for it, nor then for those behind it.
      if (winner === undefined || !this.place(winner.pass)) continue;
      winner.go();
      if (queue.size === 0) continue;
      // To the end of the line, where this loop comes by again.
      this.waiting.delete(entry);
      this.waiting.set(entry, queue);
    }
  }

  private place(pass: Pass): boolean {
    if (this.placed.size >= this.catchUpConcurrency || this.slots.take(pass) !== undefined) return false;
    this.placed.add(pass);
    return true;
  }

  private leave(winner: Winner): void {
    const queue = this.waiting.get(winner.pass.entry);
    queue?.delete(winner);
    if (queue?.size === 0) this.waiting.delete(winner.pass.entry);
  }
}
