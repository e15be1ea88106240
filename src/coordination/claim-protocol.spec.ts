import { describeClaimProtocol } from './claim-protocol.suite.js';
import { memoryStore, SQLITE_DRIVERS, sqliteStore } from './fixtures/stores.js';

describeClaimProtocol('memory', memoryStore);

for (const { name, driver } of SQLITE_DRIVERS) {
  describeClaimProtocol(`SQLite through ${name}`, () => sqliteStore(driver));
}
