import { describe, expect, it } from '@jest/globals';
import { overlapLeaseName } from '../overlap-lease.js';
import { BUCKETS, bucketOf, bucketOfLease, entryName, leaseName, membersName, recoveryName } from './redis-keys.js';

const TEXTS = [
  ...['report', 'Report', 'a:b', 'a', 'b:a', '{1}', '}', '{', '/lease:', 'lease:report', '/members', '__proto__'],
  ...['%7B', 'é', 'e\u0301', '日本', '😀', ' ', '', '*', 'x'.repeat(300), `${'x'.repeat(299)}y`],
];

/** What a Cluster hashes: the text between the first `{` and the first `}` after it. */
const hashTag = (name: string) => /\{([^}]+)\}/.exec(name)?.[1];

describe('names in Redis', () => {
  it('are never the same for two namespaces, two keys or two kinds', () => {
    const names = TEXTS.flatMap((namespace) => [
      membersName(namespace),
      ...Array.from({ length: BUCKETS }, (_, bucket) => recoveryName(namespace, bucket)),
      ...TEXTS.flatMap((key) => [entryName(namespace, key), leaseName(namespace, key)]),
    ]);
    expect(new Set(names).size).toBe(names.length);
  });

  it('have the bucket for a hash tag, whatever braces namespace and key have', () => {
    for (const namespace of TEXTS) {
      for (const key of TEXTS) {
        expect(hashTag(entryName(namespace, key))).toBe(String(bucketOf(key)));
        expect(hashTag(leaseName(namespace, key))).toBe(String(bucketOfLease(key)));
      }
      expect(hashTag(membersName(namespace))).toBe('0');
    }
  });

  it('of an entry, its overlap lease and its recovery index lie in one bucket: a claim takes all in one step', () => {
    for (const key of TEXTS) {
      const lease = overlapLeaseName(key);
      expect(bucketOfLease(lease)).toBe(bucketOf(key));
      expect(hashTag(leaseName('shop', lease))).toBe(hashTag(entryName('shop', key)));
      expect(hashTag(recoveryName('shop', bucketOf(key)))).toBe(hashTag(entryName('shop', key)));
    }
  });

  it('stay what they are: a name that changed would be a claim that was forgotten', () => {
    expect(entryName('shop', 'Reports.daily')).toBe('shop:{2}:Reports.daily');
    expect(entryName('a:b{c}', 'é}')).toBe('a%3Ab%7Bc%7D:{0}:é}');
    expect(leaseName('shop', 'leader')).toBe('shop:{1}/lease:leader');
    expect(leaseName('shop', overlapLeaseName('Reports.daily'))).toBe('shop:{2}/lease:overlap:Reports.daily');
    expect(recoveryName('a:b', 7)).toBe('a%3Ab:{7}/recovery');
    expect(membersName('shop')).toBe('shop:{0}/members');
  });

  it('spread over all buckets, about evenly', () => {
    const counts = new Array(BUCKETS).fill(0);
    for (let i = 0; i < 1_600; i += 1) counts[bucketOf(`Reports.job-${i}`)] += 1;
    for (const count of counts) {
      expect(count).toBeGreaterThan(50);
      expect(count).toBeLessThan(200);
    }
  });
});
