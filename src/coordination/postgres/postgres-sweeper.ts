import type { ClaimContext } from '../claimer.js';
import { textArray } from './postgres-client.js';
import { ask, type PostgresSession } from './postgres-session.js';

type Entry = Pick<ClaimContext, 'namespace' | 'entryKey'>;

/** Entries in one statement: their rows stay locked while it runs. */
const LARGEST_SWEEP = 200;

/**
 * Removes old claims behind the claims that made them too many. One statement at a time on this replica: what comes up meanwhile goes in
 * the next.
 */
export class PostgresSweeper {
  #waiting: Entry[] = [];
  #running: Promise<void> | undefined;

  /** Sends the statement before it returns, so that on a pool of one session it comes before the next claim. Never rejects. */
  sweep(session: PostgresSession, entries: readonly Entry[]): void {
    this.#waiting.push(...entries);
    this.#running ??= this.#run(session).finally(() => {
      this.#running = undefined;
    });
  }

  /** Resolves when none is on its way. */
  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  async #run(session: PostgresSession): Promise<void> {
    while (this.#waiting.length > 0) {
      const entries = this.#waiting.splice(0, LARGEST_SWEEP);
      try {
        await ask(
          session,
          'sweep',
          [
            textArray(entries.map(({ namespace }) => namespace)),
            textArray(entries.map(({ entryKey }) => entryKey)),
            String(session.settings.retentionMs),
          ],
          'sweep',
        );
      } catch {
        // Nothing was removed, which harms nobody: the entry is still overgrown, and the next claim that it grants says so again.
      }
    }
  }
}
