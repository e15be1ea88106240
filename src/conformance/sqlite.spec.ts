import { describe, it } from '@jest/globals';
import { SQLITE_DRIVERS, temporaryFolder } from '../coordination/fixtures/stores.js';
import { SqliteBackend } from '../coordination/sqlite/sqlite-backend.js';
import { VirtualClock } from '../testing/virtual-clock.js';
import { describeCoordinationBackend } from './describe-coordination-backend.js';

for (const { name, driver } of SQLITE_DRIVERS) {
  describeCoordinationBackend(
    `SQLite through ${name}`,
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
        const folder = temporaryFolder();
        return {
          clock,
          replica: () => new SqliteBackend({ path: folder.file, driver, clock }),
          close: () => folder.remove(),
        };
      },
    },
    { describe, it },
  );
}
