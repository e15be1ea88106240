import { describe, expect, test } from '@jest/globals';
import { StaticMembership } from './static-membership.js';

describe('a static membership', () => {
  test('is sorted, each name once; an update tells of every change, and of no other', () => {
    const members = new StaticMembership(['b', 'a', 'b']);
    const seen: (readonly string[])[] = [];
    const end = members.onChange((list) => seen.push(list));
    expect(members.current).toEqual(['a', 'b']);
    members.update(['b', 'a']);
    members.update(['c', 'a']);
    end();
    members.update(['d']);
    expect(seen).toEqual([['a', 'c']]);
    expect(members.current).toEqual(['d']);
  });

  test.each([
    ['no array', 'a,b', 'a value of type string'],
    ['null', null, 'null'],
    ['a name that is no text', ['a', 7], 'a name of type number'],
    ['an empty name', ['a', ''], 'an empty name'],
  ])('refuses %s, and an update that is refused changes nothing', (_, given, got) => {
    const bad = given as unknown as string[];
    const refusal = expect.objectContaining({
      code: 'MEMBER_LIST_INVALID',
      message: expect.stringContaining(`got ${got}.`),
    });
    expect(() => new StaticMembership(bad)).toThrow(refusal);
    const members = new StaticMembership(['a']);
    expect(() => members.update(bad)).toThrow(refusal);
    expect(members.current).toEqual(['a']);
  });
});
