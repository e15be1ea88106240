import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { ConsoleLogger, type INestApplicationContext } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { DistributedCronRegistry } from 'nestjs-distributed-cron';
import { AppModule } from '../../sample-app/src/app.module';
import { expectedFires, JOBS, nextInvoiceRun } from '../../sample-app/src/demo/jobs';

describe('the fires that the demo expects', () => {
  let app: INestApplicationContext;

  beforeAll(async () => {
    Object.assign(process.env, { SHOP_DATABASE: ':memory:', SHOP_STORE: 'none' });
    const module = Test.createTestingModule({ imports: [AppModule] }).setLogger(new ConsoleLogger({ logLevels: [] }));
    app = await (await module.compile()).init();
  });

  afterAll(() => app.close());

  test('follow the same schedules as the jobs of the shop', () => {
    const entries = app.get(DistributedCronRegistry).list();
    const scheduled = entries.map(({ key, expression, timeZone }) => [key, expression, timeZone]);
    const expected = Object.entries(JOBS).map(([key, { label, timeZone }]) => [key, label, timeZone]);
    expect(scheduled.sort()).toEqual(expected.sort());
  });

  test('begin after the moment that all replicas were up, and include the last one', () => {
    const startMs = Date.parse('2026-03-02T08:00:00Z');
    expect(expectedFires(startMs, startMs + 2_000).map(({ fireKey }) => fireKey)).toEqual([
      'stock-count@2026-03-02T08:00:01Z',
      'invoice-run@2026-03-02T08:00:02Z',
    ]);
  });

  test('include the report at nine in Berlin', () => {
    const nineMs = Date.parse('2026-03-02T08:00:00Z');
    expect(expectedFires(nineMs - 1, nineMs).map(({ fireKey }) => fireKey)).toContain(
      'daily-report@2026-03-02T08:00:00Z',
    );
  });

  test('the next invoice run is strictly later', () => {
    const atMs = Date.parse('2026-03-02T08:00:00Z');
    expect(nextInvoiceRun(atMs).instantMs).toBe(atMs + 2_000);
  });
});
