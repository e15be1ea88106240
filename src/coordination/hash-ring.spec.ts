import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { HashRing } from './hash-ring.js';

const names = (count: number, prefix = 'member-') => Array.from({ length: count }, (_, index) => `${prefix}${index}`);
const KEYS = names(10_000, 'key-');

const memberList = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 20 }), { minLength: 2, maxLength: 8 });

const homes = (ring: HashRing) => KEYS.slice(0, 500).map((key) => ring.home(key));

function loads(ring: HashRing, keys: readonly string[]): Map<string, number> {
  const count = new Map<string, number>(ring.members.map((member) => [member, 0]));
  for (const key of keys) {
    const home = ring.home(key)!;
    count.set(home, count.get(home)! + 1);
  }
  return count;
}

describe('the hash ring', () => {
  test('gives the same home whatever the order of the list, and however often a name stands in it', () => {
    const check = fc.property(memberList, (members) => {
      const shuffled = [...members].reverse().concat(members);
      expect(homes(new HashRing(shuffled))).toEqual(homes(new HashRing(members)));
    });
    fc.assert(check, { numRuns: 20 });
  });

  test('removing a member moves only its keys', () => {
    const check = fc.property(memberList, fc.nat(), (members, pick) => {
      const gone = members[pick % members.length]!;
      const before = homes(new HashRing(members));
      const after = homes(new HashRing(members.filter((member) => member !== gone)));
      expect(after.filter((_, index) => before[index] !== gone)).toEqual(before.filter((home) => home !== gone));
      expect(after).not.toContain(gone);
    });
    fc.assert(check, { numRuns: 20 });
  });

  test('removing one of a hundred members moves only its keys', () => {
    const before = new HashRing(names(100));
    const after = new HashRing(names(100).filter((member) => member !== 'member-42'));
    const moved = KEYS.filter((key) => before.home(key) !== after.home(key));
    expect(moved).toEqual(KEYS.filter((key) => before.home(key) === 'member-42'));
  });

  test('adding one member to three moves about a quarter of the keys, all of them to the newcomer', () => {
    const check = fc.property(fc.string({ minLength: 1, maxLength: 12 }), (prefix) => {
      const three = new HashRing(names(3, prefix));
      const four = new HashRing(names(4, prefix));
      const moved = KEYS.filter((key) => three.home(key) !== four.home(key));
      expect(moved.every((key) => four.home(key) === `${prefix}3`)).toBe(true);
      expect(moved.length / KEYS.length).toBeGreaterThan(0.21);
      expect(moved.length / KEYS.length).toBeLessThan(0.29);
    });
    fc.assert(check, { numRuns: 8 });
  });

  test('of 10,000 keys on 100 members the busiest member has at most 1.25 times the mean', () => {
    expect(Math.max(...loads(new HashRing(names(100)), KEYS).values())).toBeLessThanOrEqual(1.25 * 100);
  });

  // A throw of a fair die with a hundred sides, ten thousand times, exceeds 1.25 as often as not: what a ring can be held to is its shares.
  test('whatever a hundred members are called, none has more than 1.2 times its fair share of the ring', () => {
    const check = fc.property(fc.string({ minLength: 1, maxLength: 12 }), (prefix) => {
      const keys = names(200_000, `${prefix}/key-`);
      expect(Math.max(...loads(new HashRing(names(100, prefix)), keys).values()) / 2_000).toBeLessThan(1.2);
    });
    fc.assert(check, { numRuns: 2 });
  }, 60_000);

  // Other programs rely on these: a change of any of them is a change of the published hash.
  test.each([
    ['cleanup', 'pod-2'],
    ['daily-report', 'pod-0'],
    ['Reports.daily', 'pod-2'],
    ['täglich', 'pod-2'],
    ['🦉', 'pod-0'],
    ['billing', 'pod-1'],
  ])('of pod-0, pod-1 and pod-2 the home of %j is %s', (key, home) => {
    expect(new HashRing(['pod-2', 'pod-0', 'pod-1']).home(key)).toBe(home);
  });

  test('a ring of one gives it every key, a ring of none has no home', () => {
    expect(new HashRing(['a']).home('key')).toBe('a');
    expect(new HashRing([]).home('key')).toBeUndefined();
  });
});
