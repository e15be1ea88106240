import { join } from 'node:path';
import { startPostgres } from '../servers/postgres.js';
import { anyRedis } from '../servers/redis.js';
import type { StoreName, StorePlace } from './open-store.js';

/** A store for processes to share, until `stop`. Servers that the environment names are used and left alone: each test takes a namespace of its own. */
export async function startStore(
  store: StoreName,
  folder: string,
): Promise<{ readonly place: StorePlace; stop(): Promise<void> }> {
  switch (store) {
    case 'sqlite':
      return { place: { store, at: join(folder, 'store.db') }, stop: async () => undefined };
    case 'redis':
    case 'postgres': {
      const server = store === 'redis' ? await anyRedis() : await startPostgres();
      return { place: { store, at: server.url }, stop: () => server.stop() };
    }
    default:
      return store satisfies never;
  }
}
