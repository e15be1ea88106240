import { Module } from '@nestjs/common';
import { type ShopConfig, type StoreName, shopConfig } from '../shop-config';
import { Coordination } from './coordination';
import { throughPostgres } from './through-postgres';
import { throughRedis } from './through-redis';
import { throughSqlite } from './through-sqlite';

/** A further store is a further line here. */
const STORES: Record<StoreName, (config: ShopConfig) => Coordination | Promise<Coordination>> = {
  sqlite: throughSqlite,
  redis: throughRedis,
  postgres: throughPostgres,
  // Every replica runs every fire: what the shop looks like without coordination.
  none: () => new Coordination({}),
};

function coordination(config: ShopConfig): Coordination | Promise<Coordination> {
  return STORES[config.store](config);
}

@Module({
  providers: [{ provide: Coordination, useFactory: () => coordination(shopConfig()) }],
  exports: [Coordination],
})
export class CoordinationModule {}
