import type { ShopDatabase } from '../database/shop-database';
import type { ExpectedFire } from './jobs';

export interface LedgerLine {
  readonly fireKey: string;
  readonly replica: string;
}

/** The shop's tables, as somebody reads them who checks the jobs. */
export class ShopBooks {
  constructor(private readonly database: ShopDatabase) {}

  ledger(): LedgerLine[] {
    return this.database.rows('SELECT fire_key AS fireKey, replica FROM job_run ORDER BY started_ms');
  }

  orders(): string[] {
    return this.database
      .rows<{ reference: string }>('SELECT reference FROM shop_order')
      .map(({ reference }) => reference);
  }

  openOrders(): number[] {
    const sql = 'SELECT id FROM shop_order WHERE id NOT IN (SELECT order_id FROM invoice)';
    return this.database.rows<{ id: number }>(sql).map(({ id }) => id);
  }

  invoicedOrders(): number {
    return this.count('SELECT count(DISTINCT order_id) AS n FROM invoice');
  }

  ordersInvoicedTwice(): number {
    return this.count(
      'SELECT count(*) AS n FROM (SELECT order_id FROM invoice GROUP BY order_id HAVING count(*) > 1) AS twice',
    );
  }

  parcels(): number {
    return this.count('SELECT count(*) AS n FROM parcel');
  }

  parcelsTooMany(): number {
    return this.count('SELECT count(*) - count(DISTINCT order_id) AS n FROM parcel');
  }

  /** Numbers that no invoice has although a later one exists. */
  missingInvoiceNumbers(): number {
    return this.count('SELECT coalesce(max(number), 0) - count(*) AS n FROM invoice');
  }

  /** Which fires invoiced these orders. */
  invoicedBy(orderIds: readonly number[]): string[] {
    return this.database
      .rows<{ fireKey: string }>(
        'SELECT DISTINCT fire_key AS fireKey FROM invoice WHERE order_id IN (SELECT value FROM json_each(?))',
        JSON.stringify(orderIds),
      )
      .map(({ fireKey }) => fireKey);
  }

  /** What a fire did, in a few words. */
  workOf({ fireKey, entryKey }: ExpectedFire): string {
    if (entryKey === 'invoice-run') {
      const sql = 'SELECT count(*) AS n, min(number) AS first, max(number) AS last FROM invoice WHERE fire_key = ?';
      const { n, first, last } = this.database.row<{ n: number; first: number; last: number }>(sql, fireKey)!;
      return n === 0 ? 'nothing to invoice' : `invoices ${first} to ${last}`;
    }
    if (entryKey === 'stock-count') {
      return `${this.count('SELECT coalesce(sum(sold), 0) AS n FROM stock_booking WHERE fire_key = ?', fireKey)} pieces booked out`;
    }
    return `${this.count('SELECT coalesce(sum(orders), 0) AS n FROM daily_report WHERE fire_key = ?', fireKey)} orders reported`;
  }

  private count(sql: string, ...values: string[]): number {
    return this.database.row<{ n: number }>(sql, ...values)!.n;
  }
}
