import { Module } from '@nestjs/common';
import { DatabaseModule } from '../database/database.module';
import { LedgerModule } from '../ledger/ledger.module';
import { OrdersModule } from '../orders/orders.module';
import { InvoicePrinter } from './invoice-printer';
import { InvoiceRun } from './invoice-run';
import { Invoices } from './invoices';

@Module({ imports: [DatabaseModule, LedgerModule, OrdersModule], providers: [InvoiceRun, InvoicePrinter, Invoices] })
export class InvoicingModule {}
