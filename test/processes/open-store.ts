import type { CoordinationBackend } from 'nestjs-distributed-cron';

export const STORES = ['sqlite', 'redis', 'postgres'] as const;
export type StoreName = (typeof STORES)[number];

export interface StorePlace {
  readonly store: StoreName;
  /** A path, or the URL of a server on this host. */
  readonly at: string;
}

/** Loads what this store needs and nothing else. The clients live as long as the process, which ends by itself when the application has closed. */
export async function openStore({ store, at }: StorePlace): Promise<{ backend: CoordinationBackend; end(): unknown }> {
  switch (store) {
    case 'sqlite': {
      const { default: Database } = await import('libsql');
      const { SqliteBackend } = await import('nestjs-distributed-cron/sqlite');
      return { backend: new SqliteBackend({ path: at, driver: Database }), end: () => undefined };
    }
    case 'redis': {
      const { Redis } = await import('ioredis');
      const { RedisBackend } = await import('nestjs-distributed-cron/redis');
      const client = new Redis(at);
      return { backend: new RedisBackend({ client }), end: () => client.disconnect() };
    }
    case 'postgres': {
      const { Pool } = await import('pg');
      const { PostgresBackend } = await import('nestjs-distributed-cron/postgres');
      const pool = new Pool({ connectionString: at, max: 4 });
      // A lost idle session is an event of the pool; without a listener it would end the process.
      pool.on('error', () => undefined);
      return { backend: new PostgresBackend({ pool, createSchema: true }), end: () => pool.end() };
    }
    default:
      return store satisfies never;
  }
}
