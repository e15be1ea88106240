import { describe, it } from '@jest/globals';
import { LEASE_STORE_RULES, type LeaseStoreSetup } from '../conformance/lease-rules.js';

export type { LeaseStoreRule, LeaseStoreSetup } from '../conformance/lease-rules.js';
export { LEASE_STORE_RULES } from '../conformance/lease-rules.js';

/** The rules of leases alone; those that set the clock back only where the harness can. */
export function describeLeaseStore(name: string, setUp: () => Promise<LeaseStoreSetup>, canStep: boolean): void {
  describe(`leases on ${name}`, () => {
    it.each(LEASE_STORE_RULES.filter(({ steps }) => canStep || steps !== true))('$rule', async ({ check }) => {
      const setup = await setUp();
      try {
        await check(setup);
      } finally {
        await setup.close();
      }
    });
  });
}
