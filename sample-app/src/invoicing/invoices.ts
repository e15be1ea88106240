import { Injectable } from '@nestjs/common';
import { ShopDatabase } from '../database/shop-database';
import type { PricedOrder } from '../orders/orders';

@Injectable()
export class Invoices {
  constructor(private readonly database: ShopDatabase) {}

  /** Takes the next number. Only inside a transaction are the numbers without gaps. */
  issue({ id, quantity, priceCents }: PricedOrder, fireKey: string): void {
    this.database.run(
      'INSERT INTO invoice (number, order_id, amount_cents, fire_key) SELECT coalesce(max(number), 0) + 1, ?, ?, ? FROM invoice',
      id,
      quantity * priceCents,
      fireKey,
    );
  }
}
