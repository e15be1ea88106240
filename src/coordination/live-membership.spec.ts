import { describe, expect, test } from '@jest/globals';
import { VirtualClock } from '../testing/virtual-clock.js';
import { SETTINGS } from './fixtures/guarded.js';
import { GuardedBackend } from './guarded-backend.js';
import { LiveMembership } from './live-membership.js';
import type { MembershipStore } from './membership-store.js';
import { MemoryMembership } from './memory/memory-membership.js';
import { MemoryStore } from './memory/memory-store.js';

const EXPIRY = 15_000;

function setUp() {
  const clock = new VirtualClock();
  const store = new MemoryStore({ clock });
  let instances = 0;
  const replica = (memberName: string) => {
    const members: MembershipStore = new MemoryMembership(store);
    const path = { cut: false };
    const via: MembershipStore = {
      heartbeat: (...args) => (path.cut ? Promise.reject(new Error('down')) : members.heartbeat(...args)),
      leave: (...args) => (path.cut ? Promise.reject(new Error('down')) : members.leave(...args)),
      members: (...args) => members.members(...args),
    };
    const seen: (readonly string[])[] = [];
    const outages: unknown[] = [];
    const ambient = { clock, random: { fraction: () => 0.5, uuid: () => memberName } };
    const backend = { store: 'memory', claimer: { claim: async () => true }, membership: via };
    const guarded = new GuardedBackend(backend, SETTINGS, ambient).membership;
    const membership = new LiveMembership(
      guarded as NonNullable<typeof guarded>,
      { namespace: 'shop', member: { instanceId: `instance ${instances++}`, memberName }, memberExpiryMs: EXPIRY },
      ambient,
      { changed: (names) => seen.push(names), unreachable: (error) => outages.push(error) },
    );
    return { membership, path, seen, outages };
  };
  return { clock, replica };
}

describe('live membership', () => {
  test('every replica comes to see all live members, sorted, and stays one while its heartbeats arrive', async () => {
    const { clock, replica } = setUp();
    const [b, a] = [replica('b'), replica('a')];
    await b.membership.start();
    await a.membership.start();
    await clock.advance(10 * EXPIRY);
    expect([a.membership.current, b.membership.current]).toEqual([
      ['a', 'b'],
      ['a', 'b'],
    ]);
    expect(b.seen).toEqual([['b'], ['a', 'b']]);
  });

  test('a replica that leaves is gone at the next heartbeat of the others; one that dies, within expiry and a third', async () => {
    const { clock, replica } = setUp();
    const [a, b, c] = [replica('a'), replica('b'), replica('c')];
    for (const { membership } of [a, b, c]) await membership.start();
    await clock.advance(EXPIRY);
    await b.membership.leave();
    await clock.advance(EXPIRY / 3);
    expect(a.membership.current).toEqual(['a', 'c']);
    c.path.cut = true;
    await clock.advance(EXPIRY + EXPIRY / 3);
    expect(a.membership.current).toEqual(['a']);
  });

  test('a failed heartbeat keeps the last list, is told once per outage, and is tried again within a second', async () => {
    const { clock, replica } = setUp();
    const [a, b] = [replica('a'), replica('b')];
    await a.membership.start();
    await b.membership.start();
    await clock.advance(EXPIRY);
    a.path.cut = true;
    await clock.advance(EXPIRY - 5_000);
    expect(a.membership.current).toEqual(['a', 'b']);
    expect(a.outages).toHaveLength(1);
    a.path.cut = false;
    await clock.advance(1_000);
    expect(b.membership.current).toEqual(['a', 'b']);
    expect(b.seen.at(-1)).toEqual(['a', 'b']);
  });

  test('a replica that starts while the store is down joins when it is back', async () => {
    const { clock, replica } = setUp();
    const a = replica('a');
    a.path.cut = true;
    await a.membership.start();
    expect(a.membership.current).toBeUndefined();
    a.path.cut = false;
    await clock.advance(1_000);
    expect(a.membership.current).toEqual(['a']);
  });

  test('two instances of one name are one member', async () => {
    const { clock, replica } = setUp();
    const [old, fresh] = [replica('pod-0'), replica('pod-0')];
    await old.membership.start();
    await fresh.membership.start();
    expect(fresh.membership.current).toEqual(['pod-0']);
    await old.membership.leave();
    await fresh.membership.leave();
    expect(clock.pendingTimers).toBe(0);
  });
});
