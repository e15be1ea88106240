export const REDIS_STORE = 'redis';

/** The part of an `ioredis` client that is used: `Redis`, by address or through Sentinel, or `Cluster`. */
export interface IoredisClient {
  evalsha(sha: string, numberOfKeys: number, ...keysAndArguments: string[]): Promise<unknown>;
  eval(script: string, numberOfKeys: number, ...keysAndArguments: string[]): Promise<unknown>;
  readonly isCluster?: boolean;
}

interface ScriptOptions {
  readonly keys: string[];
  readonly arguments: string[];
}

/** The part of a `redis` (node-redis) client that is used: `createClient`, `createClientPool`, `createSentinel` or `createCluster`, connected. */
export interface NodeRedisClient {
  evalSha(sha: string, options: ScriptOptions): Promise<unknown>;
  eval(script: string, options: ScriptOptions): Promise<unknown>;
  /** Only a Cluster's client has slots. */
  readonly slots?: unknown;
}

/** The application's own client. It is used with scripts alone, and never connected, configured or closed here. */
export type RedisClient = IoredisClient | NodeRedisClient;

/** What both clients can do, called one way. */
export interface RedisCalls {
  evalSha(sha: string, keys: string[], args: string[]): Promise<unknown>;
  eval(script: string, keys: string[], args: string[]): Promise<unknown>;
  /** The keys of one script must lie in one slot. */
  readonly isCluster: boolean;
}

/** Tells the calling convention by the methods that are there: `evalsha` is ioredis's, `evalSha` node-redis's. `undefined` if there is neither. */
export function callsOf(client: RedisClient): RedisCalls | undefined {
  if (isIoredis(client)) {
    return {
      evalSha: (sha, keys, args) => client.evalsha(sha, keys.length, ...keys, ...args),
      eval: (script, keys, args) => client.eval(script, keys.length, ...keys, ...args),
      isCluster: client.isCluster === true,
    };
  }
  if (isNodeRedis(client)) {
    return {
      evalSha: (sha, keys, args) => client.evalSha(sha, { keys, arguments: args }),
      eval: (script, keys, args) => client.eval(script, { keys, arguments: args }),
      isCluster: Array.isArray(client.slots),
    };
  }
  return undefined;
}

const hasMethod = (client: unknown, name: string) =>
  typeof client === 'object' && client !== null && typeof (client as Record<string, unknown>)[name] === 'function';

const isIoredis = (client: RedisClient): client is IoredisClient =>
  hasMethod(client, 'evalsha') && hasMethod(client, 'eval');

const isNodeRedis = (client: RedisClient): client is NodeRedisClient =>
  hasMethod(client, 'evalSha') && hasMethod(client, 'eval');

/** The script is not known to the server (any more): after a restart, a fail-over or SCRIPT FLUSH. Nothing was executed. */
export const isUnknownScript = (cause: unknown) => messageOf(cause).startsWith('NOSCRIPT');

/** The server is part of a Cluster though its client did not look so. Nothing was executed. */
export const isCrossSlot = (cause: unknown) => messageOf(cause).startsWith('CROSSSLOT');

function messageOf(cause: unknown): string {
  const message = typeof cause === 'object' && cause !== null ? (cause as { message?: unknown }).message : undefined;
  return typeof message === 'string' ? message : '';
}
