import { Module } from '@nestjs/common';
import { DatabaseModule } from '../database/database.module';
import { PriceList } from './price-list';
import { PricesController } from './prices.controller';

@Module({ imports: [DatabaseModule], controllers: [PricesController], providers: [PriceList] })
export class PricesModule {}
