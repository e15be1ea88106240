import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { describeCoordinationBackend } from '../../../src/conformance/describe-coordination-backend.js';
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

describe.each([
  ['PostgreSQL', () => databaseUrl(server.url, DATABASE)],
  ['PostgreSQL through PgBouncer', () => bouncer.url],
])('%s', (name, url) => {
  describeCoordinationBackend(
    name,
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
      setUp: async () => {
        await database.empty();
        const releases: (() => void)[] = [];
        /** Each replica with a session of its own. */
        const replica = () => {
          const { pool, release } = database.pool(url());
          releases.push(release);
          return new PostgresBackend({ pool });
        };
        return { clock: database.clock, replica, close: () => releases.forEach((release) => void release()) };
      },
    },
    { describe, it },
  );
});
