import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compileInto } from '../test/processes/compile.mjs';
import { installServers } from '../test/servers/install.mjs';

const SERVERS = {
  redis: { variable: 'REDIS_URL', binary: 'redis-server', module: 'redis', start: ({ anyRedis }) => anyRedis() },
  postgres: {
    variable: 'POSTGRES_URL',
    binary: 'postgres',
    module: 'postgres',
    start: ({ startPostgres }) => startPostgres(),
  },
};

/**
 * The server behind a store of the demo: the one that REDIS_URL or POSTGRES_URL names, else one on a free loopback port that ends with `stop`, or with this process.
 * Answers what the demo's environment needs to find it; nothing for a store without a server. Rejects with what to install where there is none.
 */
export async function startDemoServer(store) {
  const known = Object.hasOwn(SERVERS, store ?? '') ? SERVERS[store] : undefined;
  if (known === undefined || process.env[known.variable]) return { env: {}, stop: async () => {} };
  installServers([known.binary]);
  const server = await known.start(await load(known.module));
  return { env: { [known.variable]: server.url }, stop: () => server.stop() };
}

/** What starts the servers of the tests is TypeScript: compiled, loaded, and the files are needed no more. */
async function load(module) {
  const folder = mkdtempSync(join(tmpdir(), 'distributed-cron-servers-'));
  try {
    await compileInto(folder, ['test/servers']);
    return createRequire(join(folder, 'package.json'))(`./test/servers/${module}.js`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
