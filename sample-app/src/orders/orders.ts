import { Injectable } from '@nestjs/common';
import { ShopDatabase } from '../database/shop-database';

export interface NewOrder {
  /** The customer's own name for the order: sent twice, it is one order. */
  readonly reference: string;
  readonly sku: string;
  readonly quantity: number;
}

export interface Order extends NewOrder {
  readonly id: number;
}

export interface PricedOrder extends Order {
  readonly priceCents: number;
}

@Injectable()
export class Orders {
  constructor(private readonly database: ShopDatabase) {}

  place({ reference, sku, quantity }: NewOrder): Order {
    this.database.run(
      'INSERT INTO shop_order (reference, sku, quantity, placed_ms) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
      reference,
      sku,
      quantity,
      Date.now(),
    );
    return this.database.row<Order>(
      'SELECT id, reference, sku, quantity FROM shop_order WHERE reference = ?',
      reference,
    ) as Order;
  }

  withoutInvoice(): PricedOrder[] {
    return this.database.rows<PricedOrder>(`
      SELECT o.id, o.reference, o.sku, o.quantity, item.price_cents AS priceCents
      FROM shop_order AS o JOIN item USING (sku)
      WHERE NOT EXISTS (SELECT 1 FROM invoice WHERE order_id = o.id)
      ORDER BY o.id`);
  }

  sells(sku: string): boolean {
    return this.database.row('SELECT sku FROM item WHERE sku = ?', sku) !== undefined;
  }
}
