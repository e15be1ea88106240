import type { ExpectedFire } from './jobs';
import type { ShopBooks } from './shop-books';

/** The numbers of the last line. */
export interface Tally {
  readonly replicas: number;
  readonly fires: number;
  readonly runs: number;
  readonly duplicates: number;
  readonly lost: number;
  readonly orders: number;
  readonly invoiced: number;
  readonly double: number;
}

export interface Audit {
  readonly tally: Tally;
  readonly lost: readonly ExpectedFire[];
  /** Why the shop cannot be trusted; none: all is well. */
  readonly faults: readonly string[];
}

interface AuditInput {
  readonly replicas: number;
  readonly books: ShopBooks;
  /** What the schedules say should have fired while all was watched. */
  readonly expected: readonly ExpectedFire[];
  /** From after `fromMs` to `untilMs`, the time that `expected` covers. */
  readonly fromMs: number;
  readonly untilMs: number;
  readonly acknowledged: ReadonlySet<string>;
}

/**
 * Counts from the database alone. Fires before the last replica had started, and after the word to drain, are in neither `fires` nor `runs`: not every replica was
 * there to run them. Duplicates are looked for among all rows.
 */
export function audit({ replicas, books, expected, fromMs, untilMs, acknowledged }: AuditInput): Audit {
  const ledger = books.ledger().map(({ fireKey }) => fireKey);
  const ran = new Set(ledger);
  const expectedKeys = new Set(expected.map(({ fireKey }) => fireKey));
  const lost = expected.filter(({ fireKey }) => !ran.has(fireKey));
  const orders = books.orders();
  const tally: Tally = {
    replicas,
    fires: expected.length,
    runs: ledger.filter((fireKey) => expectedKeys.has(fireKey)).length,
    duplicates: ledger.length - ran.size,
    lost: lost.length,
    orders: orders.length,
    invoiced: books.invoicedOrders(),
    double: books.ordersInvoicedTwice(),
  };

  const stored = new Set(orders);
  const forgotten = [...acknowledged].filter((reference) => !stored.has(reference)).length;
  const unexpected = [...ran].filter((fireKey) => {
    const instantMs = Date.parse(fireKey.slice(fireKey.indexOf('@') + 1));
    return !expectedKeys.has(fireKey) && instantMs > fromMs && instantMs <= untilMs;
  });
  const faults: string[] = [];
  const fault = (count: number, text: string) => count > 0 && faults.push(`${count} ${text}`);
  fault(tally.duplicates, 'runs too many');
  fault(tally.double, 'orders were invoiced more than once');
  fault(tally.orders - tally.invoiced, 'orders were not invoiced');
  fault(books.parcelsTooMany(), 'parcels too many');
  fault(forgotten, 'orders were acknowledged and are not in the database');
  fault(books.missingInvoiceNumbers(), 'invoice numbers are missing');
  fault(unexpected.length, `runs of no expected fire: ${unexpected.join(', ')}`);
  return { tally, lost, faults };
}

export function tallyLine(tally: Tally): string {
  return `demo: ${Object.entries(tally)
    .map(([name, count]) => `${name}=${count}`)
    .join(' ')}`;
}
