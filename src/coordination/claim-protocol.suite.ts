import { describe, it } from '@jest/globals';
import { CLAIM_PROTOCOL_RULES, type ClaimProtocolStore } from '../conformance/claim-rules.js';

export type { ClaimProtocolRule, ClaimProtocolStore } from '../conformance/claim-rules.js';
export { CLAIM_PROTOCOL_RULES } from '../conformance/claim-rules.js';

/** The rules of claims alone, for a harness that has no whole backend. */
export function describeClaimProtocol(name: string, setUp: () => Promise<ClaimProtocolStore>): void {
  describe(`claim protocol on ${name}`, () => {
    it.each(CLAIM_PROTOCOL_RULES)('$rule', async ({ check }) => {
      const store = await setUp();
      try {
        await check(store);
      } finally {
        await store.close();
      }
    });
  });
}
