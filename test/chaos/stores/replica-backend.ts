import type { CoordinationBackend } from 'nestjs-distributed-cron';
import type { Connection } from '../settings.js';

/** A replica's store, with the client that is its application's own. */
export interface OpenBackend {
  readonly backend: CoordinationBackend;
  disconnect(): Promise<void> | void;
}

/** Loads what this store needs and nothing else: replicas start all the time here. */
export async function openBackend(connection: Connection): Promise<OpenBackend> {
  switch (connection.store) {
    case 'sqlite': {
      const { default: Database } = await import('libsql');
      const { SqliteBackend } = await import('nestjs-distributed-cron/sqlite');
      return { backend: new SqliteBackend({ path: connection.path, driver: Database }), disconnect: () => {} };
    }
    case 'redis': {
      const { Redis } = await import('ioredis');
      const { RedisBackend } = await import('nestjs-distributed-cron/redis');
      const client = new Redis({ host: '127.0.0.1', port: connection.port });
      // The client connects again by itself; without a listener each lost connection would be printed.
      client.on('error', () => {});
      return { backend: new RedisBackend({ client }), disconnect: () => client.disconnect() };
    }
    case 'postgres': {
      const { Pool } = await import('pg');
      const { PostgresBackend } = await import('nestjs-distributed-cron/postgres');
      const pool = new Pool({
        host: '127.0.0.1',
        port: connection.port,
        user: 'postgres',
        database: 'postgres',
        max: 4,
        connectionTimeoutMillis: 2_000,
      });
      // An idle session that is lost is an event of the pool; without a listener it would end the process.
      pool.on('error', () => {});
      return { backend: new PostgresBackend({ pool, createSchema: true }), disconnect: () => pool.end() };
    }
    default:
      return connection satisfies never;
  }
}
