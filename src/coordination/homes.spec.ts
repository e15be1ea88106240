import { describe, expect, test } from '@jest/globals';
import { GivenMembers } from './given-members.js';
import { HashRing } from './hash-ring.js';
import { Homes } from './homes.js';
import type { MemberView } from './member-view.js';
import { StaticMembership } from './static-membership.js';

function homesOf(view: MemberView, memberName = 'a') {
  const told: string[] = [];
  const homes = new Homes(new GivenMembers(view, 'given'), memberName, {
    changed: (members) => void told.push(`changed ${members.join()}`),
    unlisted: (members) => void told.push(`unlisted ${members.join()}`),
  });
  return { homes, told };
}

describe('homes', () => {
  test('are those of the ring over the members, and follow every change', () => {
    const members = new StaticMembership(['a', 'b', 'c']);
    const { homes } = homesOf(members);
    homes.join();
    const calls: (string | undefined)[] = [];
    homes.onChange(() => calls.push(homes.homeOf('key')));
    expect(homes.homeOf('key')).toBe(new HashRing(['a', 'b', 'c']).home('key'));
    members.update(['b']);
    expect(calls).toEqual(['b']);
    expect([homes.isHere('key'), homesOf(members, 'b').homes.isHere('key')]).toEqual([false, true]);
  });

  test('are nowhere before the first list, and for a list of none', () => {
    const unknown: MemberView = { current: undefined, onChange: () => () => undefined };
    for (const view of [unknown, new StaticMembership([])]) {
      const { homes } = homesOf(view);
      homes.join();
      expect([homes.homeOf('key'), homes.isHere('key')]).toEqual([undefined, false]);
    }
  });

  test('are not here while the list does not name this replica: told once, and again after it was named', () => {
    const members = new StaticMembership(['b', 'c']);
    const { homes, told } = homesOf(members);
    homes.join();
    members.update(['b']);
    members.update(['a', 'b']);
    members.update(['b']);
    expect(told).toEqual(['changed b,c', 'unlisted b,c', 'changed b', 'changed a,b', 'changed b', 'unlisted b']);
    expect(homes.isHere('key')).toBe(false);
  });

  test('are told to nobody before something needs them, nor after this replica has left', async () => {
    const members = new StaticMembership(['b']);
    const { homes, told } = homesOf(members);
    members.update(['a', 'b']);
    expect(told).toEqual([]);
    homes.join();
    homes.join();
    await homes.leave();
    members.update(['c']);
    homes.join();
    expect(told).toEqual(['changed a,b']);
  });
});
