import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import Database from 'libsql';
import { fireKeyOf } from '../../processes/fire-key.js';
import type { ChaosStore } from './store.js';

/**
 * A file. Its pause is a writer that does not end: this process holds the write lock, as a backup or a stopped process does. It has no server that could
 * restart and no network before it: there is nothing to cut.
 */
export function startSqlite(folder: string): ChaosStore {
  const path = join(folder, 'claims.db');
  let reader: Database.Database | undefined;
  let blocker: Database.Database | undefined;
  const absent = () => {
    throw new Error('A file has no server and no path to it.');
  };
  return {
    connectionOf: () => ({ store: 'sqlite', path }),
    pathOf: absent,
    claimsSince: async (madeMs) => {
      // The first replica to start makes the tables.
      reader ??= new Database(path, { timeout: 0 });
      const rows = reader
        .prepare('SELECT entry_key, instant_ms, claim_id, instance_id, made_ms FROM cron_claim WHERE made_ms >= ?')
        .all(madeMs) as unknown as {
        readonly entry_key: string;
        readonly instant_ms: number;
        readonly claim_id: string;
        readonly instance_id: string;
        readonly made_ms: number;
      }[];
      return rows.map((row) => ({
        fireKey: fireKeyOf(row.entry_key, row.instant_ms),
        claimId: row.claim_id,
        instanceId: row.instance_id,
        madeMs: row.made_ms,
      }));
    },
    pause: async () => {
      blocker = new Database(path, { timeout: 0 });
      for (;;) {
        try {
          blocker.exec('BEGIN IMMEDIATE');
          return;
        } catch {
          // A replica writes at the moment.
          await wait(2);
        }
      }
    },
    resume: async () => {
      blocker?.exec('ROLLBACK');
      blocker?.close();
    },
    kill: absent,
    start: absent,
    stop: async () => {
      reader?.close();
    },
  };
}
