import { FleetPauseUnavailableError } from '../domain/errors.js';
import type { CronEvent } from '../events/cron-event.js';
import type { Entry } from './entry.js';

/**
 * Pauses and resumes entries over the fleet: a word in the store that the claim itself reads. It holds from the next claim on, over all replicas and restarts, and nobody has to ask for it.
 */
export class FleetPause {
  constructor(
    private readonly emit: (event: CronEvent) => void,
    private readonly eventBase: () => { readonly atMs: number; readonly instanceId: string },
  ) {}

  /** @throws FleetPauseUnavailableError, CoordinationError */
  async pause(entry: Entry): Promise<void> {
    await this.claimsOf(entry).pause(entry.key);
    entry.pausedOverFleet = true;
    this.emit({ type: 'entry.paused', ...this.eventBase(), entryKey: entry.key, scope: 'fleet' });
  }

  /** Answers since when the entry was paused, by the store's clock; `null` if it was not. @throws FleetPauseUnavailableError, CoordinationError */
  async resume(entry: Entry, { catchUp }: { readonly catchUp: boolean }): Promise<Date | null> {
    // What is to be caught up is what the watermark, as it was, leaves to be claimed.
    const since = await this.claimsOf(entry).resume(entry.key, { keepWatermark: catchUp });
    entry.pausedOverFleet = false;
    if (since !== null) this.emit({ type: 'entry.resumed', ...this.eventBase(), entryKey: entry.key, scope: 'fleet' });
    return since;
  }

  private claimsOf(entry: Entry) {
    if (entry.claims?.pausing !== true) throw new FleetPauseUnavailableError(entry.key, entry.claims?.store);
    return entry.claims;
  }
}
