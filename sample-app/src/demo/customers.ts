import { setTimeout as wait } from 'node:timers/promises';

const PAUSE_MS = 90;
const RETRY_MS = 50;
const LONGEST_REQUEST_MS = 5_000;
const WARES = ['mug', 'teapot', 'kettle'] as const;

/** They order over HTTP from whichever replica is up, and insist until it was taken. */
export class Customers {
  /** References of the orders that a replica acknowledged. */
  readonly acknowledged = new Set<string>();
  private placed = 0;
  private open = true;
  private readonly underWay = new Set<Promise<void>>();

  /** `urls` answers where replicas take orders now; `end` gives up everything. */
  constructor(
    private readonly urls: () => readonly string[],
    private readonly end: AbortSignal,
  ) {}

  async shop(): Promise<void> {
    while (this.open && !this.end.aborted) {
      const order = this.insist(++this.placed).finally(() => this.underWay.delete(order));
      this.underWay.add(order);
      await wait(PAUSE_MS);
    }
  }

  /** No further orders. Resolves when those under way are acknowledged. */
  async goHome(): Promise<void> {
    this.open = false;
    await Promise.all(this.underWay);
  }

  /** A replica that dies may have stored the order and not said so: the reference makes the second attempt the same order. */
  private async insist(number: number): Promise<void> {
    const reference = `order-${number}`;
    const body = JSON.stringify({ reference, sku: WARES[number % WARES.length], quantity: 1 + (number % 4) });
    for (let attempt = number; !this.end.aborted; attempt += 1) {
      const urls = this.urls();
      const url = urls[attempt % urls.length];
      if (url !== undefined && (await this.order(url, body))) {
        this.acknowledged.add(reference);
        return;
      }
      await wait(RETRY_MS);
    }
  }

  private async order(url: string, body: string): Promise<boolean> {
    try {
      const response = await fetch(`${url}/orders`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
        signal: AbortSignal.timeout(LONGEST_REQUEST_MS),
      });
      await response.arrayBuffer();
      return response.status === 201;
    } catch {
      return false;
    }
  }
}
