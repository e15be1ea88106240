import { VirtualClock } from '../../testing/virtual-clock.js';
import { describeLeaseStore } from '../lease-store.suite.js';
import { describeMembershipStore } from '../membership-store.suite.js';
import { MemoryLeases } from './memory-leases.js';
import { MemoryMembership } from './memory-membership.js';
import { MemoryStore } from './memory-store.js';

function setUp() {
  const clock = new VirtualClock();
  const store = new MemoryStore({ clock });
  return {
    store,
    pass: (ms: number) => clock.advance(ms),
    step: (ms: number) => clock.step(ms),
    close: async () => {},
  };
}

describeLeaseStore(
  'memory',
  async () => {
    const { store, ...rest } = setUp();
    return { ...rest, shortTtlMs: 30_000, replica: async () => new MemoryLeases(store) };
  },
  true,
);

describeMembershipStore('memory', async () => {
  const { store, ...rest } = setUp();
  return { ...rest, shortExpiryMs: 15_000, replica: async () => new MemoryMembership(store) };
});
