import { Redis } from 'ioredis';
import { entryName } from '../../../src/coordination/redis/redis-keys.js';
import { fireKeyOf } from '../../processes/fire-key.js';
import type { ClaimRow } from '../../processes/verdict.js';
import { RedisServer } from '../../servers/redis.js';
import { chaosEntries } from '../entries.js';
import { startPaths } from './paths.js';
import type { ChaosStore } from './store.js';

/** A Redis that has written what it acknowledges: `appendonly yes, appendfsync always`. Without it, a restart forgets claims. */
export async function startRedis(replicas: number, entries: number, fraction: () => number): Promise<ChaosStore> {
  const server = await RedisServer.start('--appendonly', 'yes', '--appendfsync', 'always');
  const paths = await startPaths(replicas, server.port, fraction);
  const reader = new Redis({ host: '127.0.0.1', port: server.port });
  reader.on('error', () => {});
  const names = chaosEntries(entries).map(({ key }) => ({ key, name: entryName('chaos', key) }));
  return {
    connectionOf: (replica) => ({ store: 'redis', port: paths.of(replica).port }),
    pathOf: paths.of,
    claimsSince: async (madeMs) => {
      const hashes = await Promise.all(names.map(({ name }) => reader.hgetall(name)));
      return hashes.flatMap((hash, i) => claimsIn(names[i]?.key as string, hash, madeMs));
    },
    pause: async () => server.signal('SIGSTOP'),
    resume: async () => server.signal('SIGCONT'),
    kill: () => server.kill(),
    start: () => server.restart(),
    stop: async () => {
      reader.disconnect();
      await paths.stop();
      await server.stop();
    },
  };
}

/** Instant → `made:claim id:instance id`, beside the entry's head. */
function claimsIn(entryKey: string, hash: Readonly<Record<string, string>>, sinceMs: number): ClaimRow[] {
  const rows: ClaimRow[] = [];
  for (const [field, value] of Object.entries(hash)) {
    const [made = '', claimId = '', instanceId = ''] = value.split(':');
    if (!/^\d+$/.test(field) || Number(made) < sinceMs) continue;
    rows.push({ fireKey: fireKeyOf(entryKey, Number(field)), claimId, instanceId, madeMs: Number(made) });
  }
  return rows;
}
