import { describe, expect, it } from '@jest/globals';
import { brokenRules } from './describe-coordination-backend.js';
import { FAULTLESS_BACKEND, WRONG_BACKENDS } from './wrong-backends.js';

describe('the suite', () => {
  it('accepts a plain backend without a fault', async () => {
    await expect(brokenRules(FAULTLESS_BACKEND)).resolves.toEqual([]);
  });

  it.each(WRONG_BACKENDS)(
    'rejects a backend of which this is so: it $fault ($layer)',
    async ({ layer, ...harness }) => {
      const broken = await brokenRules(harness);
      expect(broken).not.toEqual([]);
      // By a rule of that layer, and by none of another: a fault must not hide behind a backend that is wrong altogether.
      expect(broken.filter((rule) => !rule.startsWith(`${layer}: `))).toEqual([]);
    },
  );
});
