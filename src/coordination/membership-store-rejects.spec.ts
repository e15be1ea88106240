import { describe, expect, it } from '@jest/globals';
import { MEMBERSHIP_FAULTS, type MembershipFault, wrongMembershipStore } from './fixtures/wrong-membership-stores.js';
import { MEMBERSHIP_STORE_RULES } from './membership-store.suite.js';

async function brokenRules(fault?: MembershipFault): Promise<string[]> {
  const broken: string[] = [];
  for (const { rule, check } of MEMBERSHIP_STORE_RULES) {
    await check(wrongMembershipStore(fault)).catch(() => broken.push(rule));
  }
  return broken;
}

describe('the rules of membership', () => {
  it('accept a plain store without a fault', async () => {
    await expect(brokenRules()).resolves.toEqual([]);
  });

  it.each(MEMBERSHIP_FAULTS)('reject a store where this is so: %s', async (fault) => {
    expect(await brokenRules(fault)).not.toEqual([]);
  });
});
