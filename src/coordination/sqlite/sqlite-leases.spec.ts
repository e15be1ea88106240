import { SQLITE_DRIVERS, sqliteReplicas } from '../fixtures/stores.js';
import { describeLeaseStore } from '../lease-store.suite.js';
import { describeMembershipStore } from '../membership-store.suite.js';

for (const { name, driver } of SQLITE_DRIVERS) {
  describeLeaseStore(
    `SQLite through ${name}`,
    async () => {
      const { clock, replica, close } = sqliteReplicas(driver);
      return {
        shortTtlMs: 30_000,
        pass: (ms) => clock.advance(ms),
        step: (ms) => clock.step(ms),
        replica: async () => (await replica()).leases,
        close,
      };
    },
    true,
  );

  describeMembershipStore(`SQLite through ${name}`, async () => {
    const { clock, replica, close } = sqliteReplicas(driver);
    return {
      shortExpiryMs: 15_000,
      pass: (ms) => clock.advance(ms),
      replica: async () => (await replica()).membership,
      close,
    };
  });
}
