import { Module } from '@nestjs/common';
import { shopConfig } from '../shop-config';
import { ShopDatabase } from './shop-database';

@Module({
  providers: [{ provide: ShopDatabase, useFactory: () => new ShopDatabase(shopConfig().databasePath) }],
  exports: [ShopDatabase],
})
export class DatabaseModule {}
