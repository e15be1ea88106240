import { Injectable } from '@nestjs/common';
import { DistributedCron, type FireContext } from 'nestjs-distributed-cron';
import { ShopDatabase } from '../database/shop-database';
import { Ledger } from '../ledger/ledger';
import { Orders } from '../orders/orders';
import { InvoicePrinter } from './invoice-printer';
import { Invoices } from './invoices';

/** Half the time to the next run, which works on the same orders. */
const LATEST_COMMIT_MS = 1_000;

/** Invoices the open orders. Two runs at a time would both find them open, and the customers would pay twice. */
@Injectable()
export class InvoiceRun {
  constructor(
    private readonly database: ShopDatabase,
    private readonly ledger: Ledger,
    private readonly orders: Orders,
    private readonly printer: InvoicePrinter,
    private readonly invoices: Invoices,
  ) {}

  @DistributedCron('*/2 * * * * *', { key: 'invoice-run' })
  async run(fire: FireContext): Promise<void> {
    this.ledger.record(fire);
    const open = this.orders.withoutInvoice();
    await this.printer.print(open);
    this.database.transaction(() => {
      for (const order of open) this.invoices.issue(order, fire.fireKey);
      // One run per fire says nothing of the next fire: a run this late rolls back and leaves the orders to that one.
      if (Date.now() - fire.scheduledAt.getTime() > LATEST_COMMIT_MS) throw new Error('too late, left to the next run');
    });
  }
}
