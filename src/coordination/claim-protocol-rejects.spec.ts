import { describe, expect, it } from '@jest/globals';
import { CLAIM_PROTOCOL_RULES } from './claim-protocol.suite.js';
import { FAULTS, type Fault, wrongStore } from './fixtures/wrong-stores.js';

async function brokenRules(fault?: Fault): Promise<string[]> {
  const broken: string[] = [];
  for (const { rule, check } of CLAIM_PROTOCOL_RULES) {
    await check(wrongStore(fault)).catch(() => broken.push(rule));
  }
  return broken;
}

describe('the rules of the claim protocol', () => {
  it('accept a plain store without a fault', async () => {
    await expect(brokenRules()).resolves.toEqual([]);
  });

  it.each(FAULTS)('reject a store that %s', async (fault) => {
    expect(await brokenRules(fault)).not.toEqual([]);
  });
});
