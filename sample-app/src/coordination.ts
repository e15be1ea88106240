import Database from 'libsql';
import type { DistributedCronModuleOptions } from 'nestjs-distributed-cron';
import { SqliteBackend } from 'nestjs-distributed-cron/sqlite';
import type { ShopConfig, StoreName } from './shop-config';

type Coordination = Pick<DistributedCronModuleOptions, 'backend'>;

/** A further store is a further line here. */
const STORES: Record<StoreName, (config: ShopConfig) => Coordination> = {
  // The shop's own file; the backend opens a connection of its own and keeps two tables in it.
  sqlite: ({ databasePath }) => ({ backend: new SqliteBackend({ path: databasePath, driver: Database }) }),
  // Every replica runs every fire: what the shop looks like without coordination.
  none: () => ({}),
};

export function coordination(config: ShopConfig): Coordination {
  return STORES[config.store](config);
}
