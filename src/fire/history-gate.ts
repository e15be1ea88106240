import type { FireEntry } from './pass.js';

/** What a scheduled fire waits for before it coordinates, where it is not known yet what of its entry was missed: its claim would raise the watermark that tells. */
export interface HistoryGate {
  /** `callback` is called once, when the entry's missed fires have been sent off, or there are none. Answers how not to be called. */
  onKnown(entry: FireEntry, callback: () => void): () => void;
  /** Looks again now, where the last look failed; resolves when that has ended, however it did. */
  look(): Promise<void>;
}
