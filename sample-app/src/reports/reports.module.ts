import { Module } from '@nestjs/common';
import { DatabaseModule } from '../database/database.module';
import { LedgerModule } from '../ledger/ledger.module';
import { DailyReport } from './daily-report';

@Module({ imports: [DatabaseModule, LedgerModule], providers: [DailyReport] })
export class ReportsModule {}
