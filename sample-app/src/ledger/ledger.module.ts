import { Module } from '@nestjs/common';
import { DatabaseModule } from '../database/database.module';
import { Ledger } from './ledger';

@Module({ imports: [DatabaseModule], providers: [Ledger], exports: [Ledger] })
export class LedgerModule {}
