import { Injectable } from '@nestjs/common';
import { DistributedCron, type FireContext } from 'nestjs-distributed-cron';
import { ShopDatabase } from '../database/shop-database';
import { Ledger } from '../ledger/ledger';

interface Sold {
  readonly sku: string;
  readonly sold: number;
  readonly upTo: number;
}

/** Books what was sold since the last count out of the stock. */
@Injectable()
export class StockCount {
  constructor(
    private readonly database: ShopDatabase,
    private readonly ledger: Ledger,
  ) {}

  // At the odd seconds, between the invoice runs, and not on all replicas at the same moment.
  @DistributedCron('1-59/2 * * * * *', { key: 'stock-count', jitter: '400ms' })
  run(fire: FireContext): void {
    this.ledger.record(fire);
    this.database.transaction(() => {
      for (const line of this.soldSinceLastCount()) this.book(line, fire);
    });
  }

  private soldSinceLastCount(): Sold[] {
    return this.database.rows<Sold>(`
      SELECT item.sku, sum(o.quantity) AS sold, max(o.id) AS upTo
      FROM item JOIN shop_order AS o ON o.sku = item.sku AND o.id > item.counted_up_to
      GROUP BY item.sku`);
  }

  private book({ sku, sold, upTo }: Sold, { fireKey }: FireContext): void {
    this.database.run('UPDATE item SET on_hand = on_hand - ?, counted_up_to = ? WHERE sku = ?', sold, upTo, sku);
    this.database.run('INSERT INTO stock_booking (sku, sold, fire_key) VALUES (?, ?, ?)', sku, sold, fireKey);
  }
}
