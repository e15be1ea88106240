import Database from 'libsql';
import { SqliteBackend } from 'nestjs-distributed-cron/sqlite';
import type { ShopConfig } from '../shop-config';
import { Coordination } from './coordination';

/** The shop's own file; the backend opens a connection of its own and keeps its tables in it. */
export function throughSqlite({ databasePath }: ShopConfig): Coordination {
  return new Coordination({ backend: new SqliteBackend({ path: databasePath, driver: Database }) });
}
