import { afterAll, beforeAll, describe } from '@jest/globals';
import { DEFAULT_CLAIM_PROTOCOL } from '../../../src/coordination/claim-protocol.js';
import { describeClaimProtocol } from '../../../src/coordination/claim-protocol.suite.js';
import { describeLeaseStore } from '../../../src/coordination/lease-store.suite.js';
import { describeMembershipStore } from '../../../src/coordination/membership-store.suite.js';
import { PostgresBackend } from '../../../src/coordination/postgres/postgres-backend.js';
import { type PgBouncer, startPgBouncer } from '../../servers/pgbouncer.js';
import { databaseUrl, type PostgresServer, startPostgres } from '../../servers/postgres.js';
import { ClockedDatabase } from './clocked-database.js';

const DATABASE = 'clocked_rules';
let server: PostgresServer;
let bouncer: PgBouncer;
let database: ClockedDatabase;

beforeAll(async () => {
  server = await startPostgres();
  database = await ClockedDatabase.create(server.url, DATABASE);
  bouncer = await startPgBouncer(databaseUrl(server.url, DATABASE), { serverLifetimeSeconds: 1, poolSize: 5 });
}, 60_000);

afterAll(async () => {
  await database?.close();
  await bouncer?.stop();
  await server?.stop();
});

/** Each replica with a session of its own. */
async function emptyStore(url: () => string) {
  await database.empty();
  const closing: (() => Promise<void>)[] = [];
  const replica = async () => {
    const { pool, release } = database.pool(url());
    const backend = new PostgresBackend({ pool });
    await backend.open(DEFAULT_CLAIM_PROTOCOL);
    closing.push(async () => {
      await backend.close();
      release();
    });
    return backend;
  };
  const close = async () => {
    for (const closeReplica of closing) await closeReplica();
  };
  const { clock } = database;
  return { clock, replica, close, pass: (ms: number) => clock.advance(ms), step: (ms: number) => clock.step(ms) };
}

describe.each([
  ['PostgreSQL', () => databaseUrl(server.url, DATABASE)],
  ['PostgreSQL through PgBouncer', () => bouncer.url],
])('%s', (name, url) => {
  describeClaimProtocol(name, async () => {
    const store = await emptyStore(url);
    return { ...store, replica: async () => (await store.replica()).claimer };
  });

  describeLeaseStore(
    name,
    async () => {
      const store = await emptyStore(url);
      return { ...store, shortTtlMs: 30_000, replica: async () => (await store.replica()).leases };
    },
    true,
  );

  describeMembershipStore(name, async () => {
    const store = await emptyStore(url);
    return { ...store, shortExpiryMs: 30_000, replica: async () => (await store.replica()).membership };
  });
});
