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
  /** An entry once, however many of its claims said so. */
  readonly #waiting = new Map<string, Entry>();
  #running: Promise<void> | undefined;

  /** Sends the statement before it returns, so that on a pool of one session it comes before the next claim. Never rejects. */
  sweep(session: PostgresSession, entries: readonly Entry[]): void {
    for (const entry of entries) this.#waiting.set(entryId(entry), entry);
    this.#running ??= this.#run(session);
  }

  /** Resolves when none is on its way. */
  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  async #run(session: PostgresSession): Promise<void> {
    while (this.#waiting.size > 0) {
      const entries = this.#nextEntries();
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
    // In the same turn in which none was found waiting, so that none that comes now is left behind.
    this.#running = undefined;
  }

  #nextEntries(): Entry[] {
    const entries: Entry[] = [];
    for (const [id, entry] of this.#waiting) {
      if (entries.length === LARGEST_SWEEP) break;
      entries.push(entry);
      this.#waiting.delete(id);
    }
    return entries;
  }
}

/** Injective: the length of the first part tells where the second begins. */
function entryId({ namespace, entryKey }: Entry): string {
  return `${namespace.length}:${namespace}${entryKey}`;
}
