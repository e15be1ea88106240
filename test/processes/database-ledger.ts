import Database from 'libsql';
import type { RunRecord } from './records.js';
import type { ClaimRow } from './verdict.js';

/** Patient, unlike the library's own connection: a run is never lost because another process writes its own. */
const BUSY_TIMEOUT_MS = 10_000;

/** One row per run, in the file of the claims but in a table of its own, without a key: a second run is a second row. */
export class DatabaseLedger {
  private readonly database: Database.Database;

  constructor(path: string) {
    this.database = new Database(path, { timeout: BUSY_TIMEOUT_MS });
    // A row may be lost with the machine's power, and with nothing less; the lock is held for that much shorter.
    this.database.exec('PRAGMA synchronous = NORMAL');
    this.database.exec('CREATE TABLE IF NOT EXISTS run (fire_key TEXT, replica TEXT, at_ms INTEGER)');
  }

  record({ fireKey, replica, atMs }: RunRecord): void {
    this.database.prepare('INSERT INTO run VALUES (?, ?, ?)').run(fireKey, replica, atMs);
  }

  runs(): RunRecord[] {
    return this.database
      .prepare('SELECT fire_key AS fireKey, replica, at_ms AS atMs FROM run')
      .all() as unknown as RunRecord[];
  }

  claims(fireKeyOf: (entryKey: string, instantMs: number) => string): ClaimRow[] {
    const rows = this.database
      .prepare('SELECT entry_key, instant_ms, claim_id, instance_id, made_ms FROM cron_claim')
      .all() as unknown as {
      entry_key: string;
      instant_ms: number;
      claim_id: string;
      instance_id: string;
      made_ms: number;
    }[];
    return rows.map((row) => ({
      fireKey: fireKeyOf(row.entry_key, row.instant_ms),
      claimId: row.claim_id,
      instanceId: row.instance_id,
      madeMs: row.made_ms,
    }));
  }

  close(): void {
    this.database.close();
  }
}
