import { Injectable, type OnModuleInit } from '@nestjs/common';
import { ParallelTask } from 'nestjs-distributed-cron';
import { ShopDatabase } from '../database/shop-database';

interface Price {
  readonly sku: string;
  readonly priceCents: number;
}

/** Each process keeps the prices in its own memory, so each has to look for new ones itself. */
@Injectable()
export class PriceList implements OnModuleInit {
  private prices: readonly Price[] = [];

  constructor(private readonly database: ShopDatabase) {}

  /** The first customer may come before the first run. */
  onModuleInit(): void {
    this.load();
  }

  @ParallelTask({ key: 'price-list' })
  refresh(): string {
    this.load();
    return '1s';
  }

  all(): readonly Price[] {
    return this.prices;
  }

  private load(): void {
    this.prices = this.database.rows<Price>('SELECT sku, price_cents AS priceCents FROM item ORDER BY sku');
  }
}
