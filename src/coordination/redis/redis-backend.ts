import { type Clock, systemClock } from '../../ambient/clock.js';
import { ConfigurationError } from '../../domain/errors.js';
import type { BackendSettings, CoordinationBackend } from '../coordination-backend.js';
import { RedisClaimer } from './redis-claimer.js';
import { callsOf, REDIS_STORE, type RedisClient } from './redis-client.js';
import { RedisLeases } from './redis-leases.js';
import { RedisMembership } from './redis-membership.js';
import { RedisRecovery } from './redis-recovery.js';
import { EVICTION_SCRIPT } from './redis-scripts.js';
import { RedisSession } from './redis-session.js';

export interface RedisBackendOptions {
  /** The application's client, of `ioredis` or of `redis` (node-redis; connected): one server, Sentinel or Cluster. It is never closed here. */
  readonly client: RedisClient;
  /** Measures how long a command waits; who is early and what has expired is judged by the server's own clock. Default the host's. */
  readonly clock?: Clock;
}

/**
 * Coordinates any number of replicas through a Redis that the application already uses. Needs Redis 5 or later, or Valkey.
 *
 * @throws ConfigurationError if the client has the script methods of neither library
 */
export class RedisBackend implements CoordinationBackend {
  readonly store = REDIS_STORE;
  readonly claimer: RedisClaimer;
  readonly leases: RedisLeases;
  readonly membership: RedisMembership;
  readonly recovery: RedisRecovery;
  readonly #session: RedisSession;

  constructor(options: RedisBackendOptions) {
    const calls = callsOf(options?.client);
    if (calls === undefined) {
      throw new ConfigurationError([
        {
          code: 'OPTION_INVALID',
          subject: 'RedisBackend.client',
          expected: 'a client of ioredis (evalsha, eval) or of redis (evalSha, eval)',
          got: typeof options?.client,
          hint: 'Pass the client itself: new RedisBackend({ client: new Redis(url) }).',
        },
      ]);
    }
    this.#session = new RedisSession(calls, options.clock ?? systemClock);
    this.claimer = new RedisClaimer(this.#session);
    this.leases = new RedisLeases(this.#session);
    this.membership = new RedisMembership(this.#session);
    this.recovery = new RedisRecovery(this.#session);
  }

  /** Looks at the server's clock once; nothing is created. */
  async open(settings: BackendSettings, signal: AbortSignal): Promise<void> {
    this.claimer.settings = settings;
    this.#session.withinMs = settings.coordinationTimeoutMs;
    await this.#session.now(signal);
  }

  now(signal: AbortSignal): Promise<number> {
    return this.#session.now(signal);
  }

  /**
   * What an operator should know about this server, in sentences; empty if there is nothing, or if the server does not tell (INFO can be forbidden). On a Cluster
   * one node is asked.
   */
  async warnings(signal: AbortSignal): Promise<readonly string[]> {
    const { said: policy } = await this.#session.run({
      ...{ script: EVICTION_SCRIPT, keys: [], args: [], operation: 'warnings', signal },
      evenIfLate: true,
    });
    return policy === '' || policy === 'noeviction' ? [] : [evictionWarning(policy)];
  }

  // No close: the client is the application's.
}

function evictionWarning(policy: string): string {
  const what = policy.startsWith('volatile-')
    ? 'Claims and leases have no TTL, so they stay; what else the server evicts is for you to know'
    : 'When the memory is full it may evict claims and leases, and a fire whose claim is gone can run twice';
  return `Redis: maxmemory-policy is "${policy}". ${what}. Set it to "noeviction", and give the server memory for what it keeps.`;
}
