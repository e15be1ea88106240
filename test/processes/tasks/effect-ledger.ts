import Database from 'libsql';
import type { Effect, KeptEffect } from './effect.js';

/** Patient: four processes write here, and none may lose an effect to another's lock. */
const BUSY_TIMEOUT_MS = 10_000;

/**
 * Stands for whatever a task changes outside of the library: it takes effects in one order, and refuses a fencing token lower than one it has seen. It keeps the refused ones
 * too, for whoever judges. A file of its own, beside no store's.
 */
export class EffectLedger {
  private readonly database: Database.Database;

  constructor(path: string) {
    this.database = new Database(path, { timeout: BUSY_TIMEOUT_MS });
    // A killed process loses nothing by it; only a host that loses its power would.
    this.database.exec('PRAGMA synchronous = OFF');
    this.database.exec(
      'CREATE TABLE IF NOT EXISTS effect (id INTEGER PRIMARY KEY, task TEXT, token INTEGER, process TEXT, phase TEXT, at_ms INTEGER, next_in_ms INTEGER, accepted INTEGER)',
    );
  }

  /** Answers whether it was accepted. One statement: comparing and writing are one step over all processes. */
  record({ task, token, process, phase, atMs, nextInMs }: Effect): boolean {
    const { accepted } = this.database
      .prepare(
        `INSERT INTO effect (task, token, process, phase, at_ms, next_in_ms, accepted)
         SELECT ?1, ?2, ?3, ?4, ?5, ?6, NOT EXISTS (SELECT 1 FROM effect WHERE task = ?1 AND token > ?2)
         RETURNING accepted`,
      )
      .get([task, token, process, phase, atMs, nextInMs]) as { accepted: number };
    return accepted === 1;
  }

  effects(): KeptEffect[] {
    const rows = this.database
      .prepare(
        'SELECT task, token, process, phase, at_ms AS atMs, next_in_ms AS nextInMs, accepted FROM effect ORDER BY id',
      )
      .all() as unknown as (Effect & { readonly accepted: number })[];
    return rows.map((row) => ({ ...row, accepted: row.accepted === 1 }));
  }

  close(): void {
    this.database.close();
  }
}
