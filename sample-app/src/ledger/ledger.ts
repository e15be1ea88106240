import { Injectable } from '@nestjs/common';
import type { FireContext } from 'nestjs-distributed-cron';
import { ShopDatabase } from '../database/shop-database';
import { shopConfig } from '../shop-config';

/** Which job ran when, and where. Every job's first act is its line here. */
@Injectable()
export class Ledger {
  private readonly replica = shopConfig().replica;

  constructor(private readonly database: ShopDatabase) {}

  /** Committed at once, whatever becomes of the run. */
  record({ fireKey }: FireContext): void {
    this.database.run('INSERT INTO job_run VALUES (?, ?, ?, ?)', fireKey, this.replica, process.pid, Date.now());
  }
}
