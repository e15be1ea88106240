import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ShopDatabase } from '../../sample-app/src/database/shop-database';
import { audit, tallyLine } from '../../sample-app/src/demo/audit';
import { expectedFires } from '../../sample-app/src/demo/jobs';
import { ShopBooks } from '../../sample-app/src/demo/shop-books';

const NOON = Date.parse('2026-03-02T12:00:00Z');
const UNTIL = NOON + 4_000;

describe('the audit of the demo', () => {
  let folder: string;
  let shop: ShopDatabase;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'distributed-cron-audit-'));
    shop = new ShopDatabase(join(folder, 'shop.sqlite'));
  });

  afterEach(() => {
    shop.onModuleDestroy();
    rmSync(folder, { recursive: true, force: true });
  });

  const ran = (fireKey: string) => shop.run("INSERT INTO job_run VALUES (?, '1', 1, 1)", fireKey);
  const ordered = (reference: string) =>
    shop.run("INSERT INTO shop_order (reference, sku, quantity, placed_ms) VALUES (?, 'mug', 1, 1)", reference);
  const invoiced = (number: number, orderId: number) =>
    shop.run("INSERT INTO invoice VALUES (?, ?, 100, 'invoice-run@x')", number, orderId);
  const found = (acknowledged: string[] = []) =>
    audit({
      replicas: 3,
      books: new ShopBooks(shop),
      expected: expectedFires(NOON, UNTIL),
      fromMs: NOON,
      untilMs: UNTIL,
      acknowledged: new Set(acknowledged),
    });
  const ranAll = () => {
    for (const { fireKey } of expectedFires(NOON, UNTIL)) ran(fireKey);
  };

  test('a good day has no fault, and its line names every number', () => {
    ranAll();
    ordered('a');
    invoiced(1, 1);
    expect(found(['a']).faults).toEqual([]);
    expect(tallyLine(found(['a']).tally)).toBe(
      'demo: replicas=3 fires=4 runs=4 duplicates=0 lost=0 orders=1 invoiced=1 double=0',
    );
  });

  test('a fire that ran twice is a duplicate and a fault', () => {
    ranAll();
    ran('stock-count@2026-03-02T12:00:01Z');
    expect(found().tally).toMatchObject({ fires: 4, runs: 5, duplicates: 1, lost: 0 });
    expect(found().faults).toEqual(['1 runs too many']);
  });

  test('a second run is found also where fires are not counted', () => {
    ranAll();
    ran('invoice-run@2026-03-02T11:59:58Z');
    ran('invoice-run@2026-03-02T11:59:58Z');
    expect(found().tally).toMatchObject({ fires: 4, runs: 4, duplicates: 1 });
  });

  test('a fire without a line in the ledger is lost, and named', () => {
    ran('invoice-run@2026-03-02T12:00:04Z');
    expect(found().tally).toMatchObject({ fires: 4, runs: 1, lost: 3 });
    expect(found().lost.map(({ fireKey }) => fireKey)).toContain('invoice-run@2026-03-02T12:00:02Z');
  });

  test('a run of a fire that no schedule has is a fault', () => {
    ranAll();
    ran('invoice-run@2026-03-02T12:00:03Z');
    expect(found().faults).toEqual(['1 runs of no expected fire: invoice-run@2026-03-02T12:00:03Z']);
  });

  test('an order invoiced twice, never, or forgotten after it was acknowledged is a fault', () => {
    ranAll();
    ordered('a');
    ordered('b');
    invoiced(1, 1);
    invoiced(2, 1);
    expect(found(['a', 'c']).tally).toMatchObject({ orders: 2, invoiced: 1, double: 1 });
    expect(found(['a', 'c']).faults).toEqual([
      '1 orders were invoiced more than once',
      '1 orders were not invoiced',
      '1 orders were acknowledged and are not in the database',
    ]);
  });

  test('a parcel that was sent twice is a fault', () => {
    ranAll();
    ordered('a');
    invoiced(1, 1);
    shop.run('INSERT INTO parcel VALUES (1, 1), (1, 2)');
    expect(found(['a']).faults).toEqual(['1 parcels too many']);
  });

  test('a gap in the invoice numbers is a fault', () => {
    ranAll();
    ordered('a');
    invoiced(2, 1);
    expect(found().faults).toEqual(['1 invoice numbers are missing']);
  });
});
