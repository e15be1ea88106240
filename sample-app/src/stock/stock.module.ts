import { Module } from '@nestjs/common';
import { DatabaseModule } from '../database/database.module';
import { LedgerModule } from '../ledger/ledger.module';
import { StockCount } from './stock-count';

@Module({ imports: [DatabaseModule, LedgerModule], providers: [StockCount] })
export class StockModule {}
