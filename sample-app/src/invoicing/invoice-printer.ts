import { setTimeout as wait } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { PricedOrder } from '../orders/orders';

/** Stands for the service that makes the documents; like every other service, it takes its time. */
@Injectable()
export class InvoicePrinter {
  async print(_orders: readonly PricedOrder[]): Promise<void> {
    await wait(30);
  }
}
