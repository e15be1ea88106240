import { setTimeout as wait } from 'node:timers/promises';
import { Pool } from 'pg';
import { fireKeyOf } from '../../processes/fire-key.js';
import { startPostgres } from '../../servers/postgres.js';
import { startPaths } from './paths.js';
import type { ChaosStore } from './store.js';

const START_ATTEMPTS = 20;

/** A PostgreSQL that is ours to kill: `fsync` is off, which only a host without power would notice. */
export async function startPostgresStore(replicas: number, fraction: () => number): Promise<ChaosStore> {
  const server = await startPostgres();
  const { control } = server;
  if (control === undefined)
    throw new Error('Chaos kills its server: unset POSTGRES_URL, and it starts one of its own.');
  const paths = await startPaths(replicas, control.port, fraction);
  const reader = new Pool({ connectionString: server.url, max: 1 });
  reader.on('error', () => {});
  return {
    connectionOf: (replica) => ({ store: 'postgres', port: paths.of(replica).port }),
    pathOf: paths.of,
    claimsSince: async (madeMs) => {
      const { rows } = await reader.query<{
        readonly entry_key: string;
        readonly instant_ms: string;
        readonly claim_id: string;
        readonly instance_id: string;
        readonly made_ms: string;
      }>('SELECT entry_key, instant_ms, claim_id, instance_id, made_ms FROM cron_claim WHERE made_ms >= $1', [madeMs]);
      return rows.map((row) => ({
        fireKey: fireKeyOf(row.entry_key, Number(row.instant_ms)),
        claimId: row.claim_id,
        instanceId: row.instance_id,
        madeMs: Number(row.made_ms),
      }));
    },
    pause: async () => control.pause(),
    resume: async () => control.resume(),
    kill: () => control.kill(),
    start: async () => {
      // Its shared memory is given back a moment after its last session has noticed.
      for (let attempt = 1; ; attempt += 1) {
        try {
          await control.start();
          return;
        } catch (cause) {
          if (attempt === START_ATTEMPTS) throw cause;
          await wait(250);
        }
      }
    },
    stop: async () => {
      await reader.end();
      await paths.stop();
      await server.stop();
    },
  };
}
