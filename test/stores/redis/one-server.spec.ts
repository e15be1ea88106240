import { afterAll, beforeAll, describe, it } from '@jest/globals';
import { describeCoordinationBackend } from '../../../src/conformance/describe-coordination-backend.js';
import { anyRedis } from '../../servers/redis.js';
import { CLIENTS, type Connection, harness } from './redis.fixture.js';

describe.each(CLIENTS)('one server', ({ name, connect }) => {
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

  describeCoordinationBackend(
    `Redis through ${name}`,
    harness(() => connection.client),
    { describe, it },
  );
});
