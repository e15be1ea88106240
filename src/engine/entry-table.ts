import { EntryExistsError, EntryNotFoundError } from '../domain/errors.js';
import type { Entry } from './entry.js';

/** The entries of one replica by key. A `Map`, so that `__proto__` is a key like any other. */
export class EntryTable {
  private readonly entries = new Map<string, Entry>();

  get size(): number {
    return this.entries.size;
  }

  all(): IterableIterator<Entry> {
    return this.entries.values();
  }

  /** @throws EntryExistsError */
  add(entry: Entry): void {
    if (this.entries.has(entry.key)) throw new EntryExistsError(entry.key);
    this.entries.set(entry.key, entry);
  }

  has(key: string): boolean {
    return this.entries.has(key);
  }

  find(key: string): Entry | undefined {
    return this.entries.get(key);
  }

  /** @throws EntryNotFoundError */
  get(key: string): Entry {
    const entry = this.entries.get(key);
    if (entry === undefined) throw new EntryNotFoundError(key, [...this.entries.keys()]);
    return entry;
  }

  delete(key: string): void {
    this.entries.delete(key);
  }
}
