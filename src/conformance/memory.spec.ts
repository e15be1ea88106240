import { describe, it } from '@jest/globals';
import { MemoryBackend } from '../coordination/memory/memory-backend.js';
import { MemoryStore } from '../coordination/memory/memory-store.js';
import { VirtualClock } from '../testing/virtual-clock.js';
import { describeCoordinationBackend } from './describe-coordination-backend.js';

describeCoordinationBackend(
  'memory',
  {
    capabilities: [
      'repeatable',
      'claimMany',
      'lastFire',
      'holding',
      'pause',
      'forget',
      'leases',
      'membership',
      'recovery',
      'now',
    ],
    movesClock: true,
    setUp: () => {
      const clock = new VirtualClock();
      const store = new MemoryStore({ clock });
      return { clock, replica: () => new MemoryBackend({ store }) };
    },
  },
  { describe, it },
);
