import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Redis } from 'ioredis';
import { createClient, createClientPool, createSentinel, RESP_TYPES } from 'redis';
import { RedisBackend, type RedisClient } from '../../../src/coordination/redis/index.js';
import { ChildServer } from '../../servers/child-server.js';
import { startOnFreePort } from '../../servers/free-port.js';
import { RedisServer } from '../../servers/redis.js';
import { asked, signal } from './redis.fixture.js';

const AT = new Date();
let server: RedisServer;
let sentinel: ChildServer;
let sentinelPort: number;
const folder = mkdtempSync(join(tmpdir(), 'distributed-cron-sentinel-'));

beforeAll(async () => {
  server = await RedisServer.start();
  const config = join(folder, 'sentinel.conf');
  sentinel = await startOnFreePort((port) => {
    sentinelPort = port;
    const lines = [
      `port ${port}`,
      'bind 127.0.0.1',
      `dir ${folder}`,
      `sentinel monitor main 127.0.0.1 ${server.port} 1`,
    ];
    writeFileSync(config, `${lines.join('\n')}\n`);
    return ChildServer.start({ command: 'redis-server', args: [config, '--sentinel'], ready: /\+monitor master main/ });
  });
}, 30_000);
afterAll(async () => {
  await sentinel?.stop();
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
});

interface Shape {
  readonly name: string;
  readonly use: (test: (client: RedisClient) => Promise<void>) => Promise<void>;
}

const ioredis = (name: string, make: () => Redis): Shape => ({
  name: `ioredis ${name}`,
  use: async (test) => {
    const client = make();
    try {
      await test(client);
    } finally {
      client.disconnect();
    }
  },
});

const SHAPES: readonly Shape[] = [
  ioredis('with a key prefix', () => new Redis(server.url, { keyPrefix: 'app:' })),
  ioredis('with automatic pipelines', () => new Redis(server.url, { enableAutoPipelining: true })),
  ioredis('that answers numbers as texts', () => new Redis(server.url, { stringNumbers: true })),
  ioredis(
    'through Sentinel',
    () => new Redis({ sentinels: [{ host: '127.0.0.1', port: sentinelPort }], name: 'main' }),
  ),
  {
    name: 'node-redis that speaks RESP3',
    use: async (test) => {
      const client = await createClient({ url: server.url, RESP: 3 }).connect();
      await test(client).finally(() => client.destroy());
    },
  },
  {
    name: 'node-redis that answers buffers',
    use: async (test) => {
      const client = await createClient({ url: server.url }).connect();
      await test(client.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer })).finally(() => client.destroy());
    },
  },
  {
    name: 'node-redis as a pool',
    use: async (test) => {
      const client = createClientPool({ url: server.url });
      await client.connect();
      await test(client).finally(() => client.destroy());
    },
  },
  {
    name: 'node-redis through Sentinel',
    use: async (test) => {
      const client = createSentinel({
        name: 'main',
        sentinelRootNodes: [{ host: '127.0.0.1', port: sentinelPort }],
      });
      await client.connect();
      await test(client).finally(() => client.destroy());
    },
  },
];

describe.each(SHAPES)('$name', ({ name: namespace, use }) => {
  it('claims, takes lapsed claims over, holds a lease, is a member and tells the time', () =>
    use(async (client) => {
      const backend = new RedisBackend({ client });
      await backend.open({ maxClockSkewMs: 10_000, retentionMs: 3_600_000, coordinationTimeoutMs: 5_000 }, signal);
      const batch = (claimId: string) =>
        Array.from({ length: 300 }, (_, i) => asked({ namespace, entryKey: `entry-${i}`, claimId, scheduledAt: AT }));
      expect(await backend.claimer.claimMany(batch('pass-1'), signal)).toEqual(new Array(300).fill(true));
      expect(await backend.claimer.claimMany(batch('pass-2'), signal)).toEqual(new Array(300).fill(false));
      expect(await backend.claimer.lastFire(namespace, ['entry-7'], signal)).toEqual(
        new Map([['entry-7', { scheduledAt: AT, schedule: 'every-minute' }]]),
      );
      const holding = (claimId: string) =>
        asked({ namespace, claimId, scheduledAt: AT, holds: { overlapTtlMs: 60_000, recoveryTtlMs: 60_000 } });
      const { context } = holding('pass-1');
      expect(await backend.claimer.claimMany([holding('pass-1'), ...batch('pass-3')], signal)).toEqual([
        { granted: true, overlapToken: 1 },
        ...new Array(300).fill(false),
      ]);
      expect(await backend.recovery.release(context, signal)).toBe(true);
      const scan = { namespace, claimId: 'scan', instanceId: 'replica-2', ttlMs: 60_000, limit: 10 };
      expect(
        await backend.recovery.takeLapsed({ ...scan, entries: [{ entryKey: 'report', maxAttempts: 2 }] }, signal),
      ).toEqual([{ entryKey: 'report', scheduledAt: AT, attempt: 2, abandoned: false }]);
      await backend.claimer.pause(namespace, 'entry-7', signal);
      expect(await backend.claimer.resume(namespace, 'entry-7', { keepWatermark: true }, signal)).toBeInstanceOf(Date);
      const lease = { namespace, name: 'leader', owner: 'owner-1', ttlMs: 60_000, value: { é: ['😀'] } };
      expect(await backend.leases.acquire(lease, signal)).toEqual({ token: 1, value: lease.value });
      const member = { instanceId: 'i-1', memberName: 'pod-😀' };
      expect(await backend.membership.heartbeat(namespace, member, 60_000, signal)).toEqual([member]);
      expect(Math.abs((await backend.now(signal)) - Date.now())).toBeLessThan(60_000);
      expect(await backend.warnings(signal)).toEqual([]);
    }));
});
