import { Redis } from 'ioredis';
import Database from 'libsql';
import type { CoordinationBackend } from 'nestjs-distributed-cron';
import { RedisBackend } from 'nestjs-distributed-cron/redis';
import { SqliteBackend } from 'nestjs-distributed-cron/sqlite';
import { Pool } from 'pg';
import { PostgresBackend } from '../../../src/coordination/postgres/index.js';
import type { Connection } from '../settings.js';

/** A replica's store, with the client that is its application's own. */
export interface OpenBackend {
  readonly backend: CoordinationBackend;
  disconnect(): Promise<void> | void;
}

export function openBackend(connection: Connection): OpenBackend {
  switch (connection.store) {
    case 'sqlite':
      return { backend: new SqliteBackend({ path: connection.path, driver: Database }), disconnect: () => {} };
    case 'redis': {
      const client = new Redis({ host: '127.0.0.1', port: connection.port });
      // The client connects again by itself; without a listener each lost connection would be printed.
      client.on('error', () => {});
      return { backend: new RedisBackend({ client }), disconnect: () => client.disconnect() };
    }
    case 'postgres': {
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
