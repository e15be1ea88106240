import { setTimeout as wait } from 'node:timers/promises';
import type { ClaimRow } from '../processes/verdict.js';
import type { ChaosStore } from './stores/store.js';

const EVERY_MS = 500;
/** Each look goes back over the time of those before it, the store's absence included. */
const OVERLAP_MS = 5_000;

/** Keeps every claim that the store had. It removes old ones, so it is looked at all the time. */
export class ClaimWatch {
  private readonly claims = new Map<string, ClaimRow>();
  private seenUntilMs = 0;
  private readonly ended = new AbortController();
  private looking: Promise<void> | undefined;

  constructor(private readonly store: ChaosStore) {}

  start(): void {
    this.looking = this.lookAgain();
  }

  rows(): ClaimRow[] {
    return [...this.claims.values()];
  }

  async look(): Promise<void> {
    const nowMs = Date.now();
    for (const row of await this.store.claimsSince(this.seenUntilMs - OVERLAP_MS)) {
      // A second claim of a fire is a second row here, whatever the store thinks.
      this.claims.set(`${row.fireKey} ${row.claimId}`, row);
    }
    this.seenUntilMs = Math.max(this.seenUntilMs, nowMs);
  }

  async stop(): Promise<void> {
    this.ended.abort();
    await this.looking;
  }

  private async lookAgain(): Promise<void> {
    const { signal } = this.ended;
    while (!signal.aborted) {
      try {
        await this.look();
      } catch {
        // The store is away: that is what the faults are for.
      }
      await wait(EVERY_MS, undefined, { signal }).catch(() => {});
    }
  }
}
