import { describe, expect, it } from '@jest/globals';
import { LEASE_FAULTS, type LeaseFault, wrongLeaseStore } from './fixtures/wrong-lease-stores.js';
import { LEASE_STORE_RULES } from './lease-store.suite.js';

async function brokenRules(fault?: LeaseFault): Promise<string[]> {
  const broken: string[] = [];
  for (const { rule, check } of LEASE_STORE_RULES) {
    await check(wrongLeaseStore(fault)).catch(() => broken.push(rule));
  }
  return broken;
}

describe('the rules of leases', () => {
  it('accept a plain store without a fault', async () => {
    await expect(brokenRules()).resolves.toEqual([]);
  });

  it.each(LEASE_FAULTS)('reject a store where this is so: %s', async (fault) => {
    expect(await brokenRules(fault)).not.toEqual([]);
  });
});
