import { Injectable } from '@nestjs/common';
import { DistributedCron, type FireContext } from 'nestjs-distributed-cron';
import { ShopDatabase } from '../database/shop-database';
import { Ledger } from '../ledger/ledger';

/** What the office finds on its desk in the morning. */
@Injectable()
export class DailyReport {
  constructor(
    private readonly database: ShopDatabase,
    private readonly ledger: Ledger,
  ) {}

  @DistributedCron('0 9 * * MON-FRI', { key: 'daily-report', timeZone: 'Europe/Berlin' })
  run(fire: FireContext): void {
    this.ledger.record(fire);
    this.database.run(
      'INSERT INTO daily_report SELECT ?, count(*), coalesce(sum(amount_cents), 0) FROM invoice',
      fire.fireKey,
    );
  }
}
