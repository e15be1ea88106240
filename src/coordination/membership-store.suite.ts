import { describe, it } from '@jest/globals';
import { MEMBERSHIP_STORE_RULES, type MembershipStoreSetup } from '../conformance/membership-rules.js';

export type { MembershipStoreRule, MembershipStoreSetup } from '../conformance/membership-rules.js';
export { MEMBERSHIP_STORE_RULES } from '../conformance/membership-rules.js';

/** The rules of membership alone. */
export function describeMembershipStore(name: string, setUp: () => Promise<MembershipStoreSetup>): void {
  describe(`membership on ${name}`, () => {
    it.each(MEMBERSHIP_STORE_RULES)('$rule', async ({ check }) => {
      const setup = await setUp();
      try {
        await check(setup);
      } finally {
        await setup.close();
      }
    });
  });
}
