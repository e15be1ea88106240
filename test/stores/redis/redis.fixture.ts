import { createHash, randomUUID } from 'node:crypto';
import { Cluster, Redis } from 'ioredis';
import { createClient, createCluster } from 'redis';
import type { Clock } from '../../../src/ambient/clock.js';
import { CAPABILITIES } from '../../../src/conformance/capabilities.js';
import type { ConformanceHarness } from '../../../src/conformance/describe-coordination-backend.js';
import type { Claim, ClaimAnswer, ClaimContext } from '../../../src/coordination/claimer.js';
import { RedisBackend } from '../../../src/coordination/redis/index.js';
import { callsOf, type IoredisClient, type RedisClient } from '../../../src/coordination/redis/redis-client.js';
import { fireKey } from '../../../src/domain/fire-key.js';
import { VirtualClock } from '../../../src/testing/virtual-clock.js';

export const { signal } = new AbortController();

export interface Connection {
  readonly client: RedisClient;
  close(): Promise<unknown>;
}

type Address = { readonly host: string; readonly port: number };

/** Resolves when the connections are gone, too. */
function ended(client: Redis | Cluster): Promise<void> {
  return new Promise((resolve) => {
    client.once('end', () => resolve());
    client.disconnect();
  });
}

/** The two clients as an application makes them. */
export const CLIENTS = [
  {
    name: 'ioredis',
    connect: async (url: string): Promise<Connection> => {
      const client = new Redis(url, { lazyConnect: true });
      // Without a listener ioredis prints what a test that restarts its server expects.
      client.on('error', () => undefined);
      await client.connect();
      return { client, close: () => ended(client) };
    },
    connectCluster: async (addresses: readonly Address[]): Promise<Connection> => {
      const client = new Cluster([...addresses], { lazyConnect: true });
      await client.connect();
      return { client, close: () => ended(client) };
    },
  },
  {
    name: 'node-redis',
    connect: async (url: string): Promise<Connection> => {
      const client = createClient({ url });
      client.on('error', () => undefined);
      await client.connect();
      return { client, close: async () => client.destroy() };
    },
    connectCluster: async (addresses: readonly Address[]): Promise<Connection> => {
      const client = createCluster({ rootNodes: addresses.map((socket) => ({ socket: { ...socket } })) });
      client.on('error', () => undefined);
      await client.connect();
      return { client, close: async () => client.destroy() };
    },
  },
] as const;

export interface Own extends IoredisClient {
  /** Removes what was written. */
  clear(): Promise<void>;
}

/**
 * A client that sees no key but its own, so that a rule finds the server empty, also one that is not the tests' own. With a clock the scripts are executed as they are by the real
 * server, and only what TIME tells them is that clock's: a real server's clock cannot be moved.
 */
export function ownKeys(client: RedisClient, clock?: Clock): Own {
  const calls = callsOf(client);
  if (calls === undefined) throw new TypeError('no client of Redis');
  const prefix = `test-${randomUUID()}-`;
  const written = new Set<string>();
  const texts = new Map<string, string>();

  const split = (count: number, rest: readonly string[]) => {
    const keys = rest.slice(0, count).map((key) => prefix + key);
    for (const key of keys) written.add(key);
    return [keys, rest.slice(count)] as const;
  };
  const run = (script: string, count: number, rest: readonly string[]) => {
    const [keys, args] = split(count, rest);
    return calls.eval(`${clock === undefined ? '' : clockOf(clock)}${script}`, keys, args);
  };

  return {
    isCluster: calls.isCluster,
    evalsha: async (sha, count, ...rest) => {
      if (clock === undefined) {
        const [keys, args] = split(count, rest);
        return calls.evalSha(sha, keys, args);
      }
      const text = texts.get(sha);
      if (text === undefined) throw new Error('NOSCRIPT as far as this client knows');
      return run(text, count, rest);
    },
    eval: async (script, count, ...rest) => {
      texts.set(createHash('sha1').update(script).digest('hex'), script);
      return run(script, count, rest);
    },
    clear: async () => {
      for (const key of written) await calls.eval(`return redis.call('DEL', KEYS[1])`, [key], []);
    },
  };
}

function clockOf(clock: Clock): string {
  const nowMs = clock.now();
  const time = `{ '${Math.floor(nowMs / 1_000)}', '${(nowMs % 1_000) * 1_000}' }`;
  return `local real = redis
local redis = setmetatable({ call = function(name, ...)
  if name == 'TIME' then return ${time} end
  return real.call(name, ...)
end }, { __index = real })
`;
}

/** A claim as the engine asks it; of an instant that has just passed. */
export function asked(context: Partial<ClaimContext> = {}): Claim {
  const full: ClaimContext = {
    namespace: 'shop',
    entryKey: 'report',
    scheduledAt: new Date(Date.now() - 1_000),
    claimId: randomUUID(),
    instanceId: 'replica-1',
    schedule: 'every-minute',
    signal,
    ...context,
  };
  return { fireKey: fireKey(full.entryKey, full.scheduledAt.getTime()), context: full };
}

/** What the shipped suite needs: a server that looks empty, on a clock that the suite moves. Replicas share the connection. */
export function harness(client: () => RedisClient): ConformanceHarness {
  return {
    capabilities: CAPABILITIES,
    movesClock: true,
    setUp: () => {
      const clock = new VirtualClock();
      const own = ownKeys(client(), clock);
      return { clock, replica: () => new RedisBackend({ client: own }), close: () => own.clear() };
    },
  };
}

/** Mulberry32. */
export function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** What a claim came to: the code of an error, or the answer itself. */
export const wordOf = (answer: ClaimAnswer | undefined) =>
  answer instanceof Error ? (answer as { code?: string }).code : answer;
