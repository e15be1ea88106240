import { Injectable } from '@nestjs/common';
import { SingletonTask, type TaskContext } from 'nestjs-distributed-cron';
import { ShopDatabase } from '../database/shop-database';
import { Carrier } from './carrier';

const PARCELS_PER_RUN = 20;

/** Hands the invoiced orders to the carrier. Two at a time would both find them waiting, and each order would be sent twice. */
@Injectable()
export class Dispatch {
  constructor(
    private readonly database: ShopDatabase,
    private readonly carrier: Carrier,
  ) {}

  /** As fast as it can while there is a queue, else once a second. */
  @SingletonTask({ key: 'dispatch', initialDelay: '500ms' })
  async run(task: TaskContext): Promise<number | string> {
    const waiting = this.waitingOrders();
    for (const orderId of waiting) {
      // Asked of the context each time: after a standstill it looks at the clocks first.
      task.signal.throwIfAborted();
      await this.carrier.handOver(orderId);
      this.record(orderId, task.fencingToken);
    }
    return waiting.length === PARCELS_PER_RUN ? 0 : '1s';
  }

  private waitingOrders(): number[] {
    return this.database
      .rows<{ id: number }>(
        'SELECT DISTINCT order_id AS id FROM invoice WHERE order_id NOT IN (SELECT order_id FROM parcel) ORDER BY id LIMIT ?',
        PARCELS_PER_RUN,
      )
      .map(({ id }) => id);
  }

  /** A run that woke up after a newer one began to write leaves nothing behind. Without a store there is no token, and nothing to go by. */
  private record(orderId: number, fencingToken: number | null): void {
    this.database.run(
      'INSERT INTO parcel SELECT ?, ? WHERE NOT EXISTS (SELECT 1 FROM parcel WHERE fencing_token > ?)',
      orderId,
      fencingToken ?? 0,
      fencingToken ?? 0,
    );
  }
}
