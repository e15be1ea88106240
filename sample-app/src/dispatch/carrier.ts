import { setTimeout as wait } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';

/** Stands for the company that takes the parcels. Nothing there notices an order that is handed over twice. */
@Injectable()
export class Carrier {
  async handOver(_orderId: number): Promise<void> {
    await wait(5);
  }
}
