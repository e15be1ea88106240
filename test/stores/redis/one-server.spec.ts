import { afterAll, beforeAll, describe } from '@jest/globals';
import { describeClaimProtocol } from '../../../src/coordination/claim-protocol.suite.js';
import { describeLeaseStore } from '../../../src/coordination/lease-store.suite.js';
import { describeMembershipStore } from '../../../src/coordination/membership-store.suite.js';
import { anyRedis } from '../../servers/redis.js';
import { CLIENTS, type Connection, movedLeases, movedMembership, movedStore } from './redis.fixture.js';

describe.each(CLIENTS)('one Redis through $name', ({ name, connect }) => {
  let server: Awaited<ReturnType<typeof anyRedis>>;
  let connection: Connection;

  beforeAll(async () => {
    server = await anyRedis();
    connection = await connect(server.url);
  }, 30_000);
  afterAll(async () => {
    await connection?.close();
    await server?.stop();
  });

  describeClaimProtocol(name, () => movedStore(connection.client));
  describeLeaseStore(name, () => movedLeases(connection.client), true);
  describeMembershipStore(name, () => movedMembership(connection.client));
});
