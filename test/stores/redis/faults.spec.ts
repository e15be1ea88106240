import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { systemClock } from '../../../src/ambient/clock.js';
import { systemRandom } from '../../../src/ambient/random.js';
import { GuardedBackend } from '../../../src/coordination/guarded-backend.js';
import { RedisBackend } from '../../../src/coordination/redis/index.js';
import { entryName } from '../../../src/coordination/redis/redis-keys.js';
import { MAX_ENTRY_KEY_LENGTH } from '../../../src/domain/entry-key.js';
import { VirtualClock } from '../../../src/testing/virtual-clock.js';
import { RedisServer, redisCli } from '../../servers/redis.js';
import { asked, CLIENTS, type Connection, signal } from './redis.fixture.js';

describe.each(CLIENTS)('Redis in trouble, through $name', ({ connect }) => {
  let server: RedisServer;
  let connection: Connection;

  beforeEach(async () => {
    server = await RedisServer.start();
    connection = await connect(server.url);
  }, 30_000);
  afterEach(async () => {
    await connection?.close();
    await server?.stop();
  });

  const cli = (...words: string[]) => redisCli('-p', String(server.port), ...words);
  const claim = (backend: RedisBackend, context = {}) => {
    const { fireKey, context: full } = asked(context);
    return backend.claimer.claim(fireKey, full);
  };
  /** How often the server was given a script by name and by text. */
  async function scriptCalls() {
    const stats = await cli('info', 'commandstats');
    const count = (name: string) => Number(new RegExp(`cmdstat_${name}:calls=(\\d+)`).exec(stats)?.[1] ?? 0);
    return { evalsha: count('evalsha'), eval: count('eval') };
  }

  it('is told a script by its text once, and by its name from then on; also after SCRIPT FLUSH', async () => {
    const backend = new RedisBackend({ client: connection.client });
    for (let i = 0; i < 5; i += 1) expect(await claim(backend, { entryKey: `entry-${i}` })).toBe(true);
    expect(await scriptCalls()).toEqual({ evalsha: 6, eval: 2 });
    await cli('script', 'flush');
    for (let i = 5; i < 10; i += 1) expect(await claim(backend, { entryKey: `entry-${i}` })).toBe(true);
    expect(await scriptCalls()).toEqual({ evalsha: 11, eval: 3 });
  });

  it('is sent a batch of 1,000 claims in scripts of 200', async () => {
    const backend = new RedisBackend({ client: connection.client });
    const claims = Array.from({ length: 1_000 }, (_, i) => asked({ entryKey: `entry-${i}` }));
    expect(await claim(backend)).toBe(true);
    const before = await scriptCalls();
    expect(await backend.claimer.claimMany(claims, signal)).toEqual(claims.map(() => true));
    const after = await scriptCalls();
    expect([after.evalsha - before.evalsha, after.eval - before.eval]).toEqual([5, 0]);
  });

  it('needs no more for a plain claim than one HGET and one HSET, and writes nothing for one of a paused entry', async () => {
    const backend = new RedisBackend({ client: connection.client });
    const commands = async (): Promise<Record<string, number>> => {
      const stats = await cli('info', 'commandstats');
      return Object.fromEntries(
        [...stats.matchAll(/cmdstat_(h\w+):calls=(\d+)/g)].map(([, name, n]) => [name, Number(n)]),
      );
    };
    const spent = async (ask: () => Promise<unknown>, answer: unknown) => {
      const before = await commands();
      expect(await ask()).toEqual(answer);
      const after = await commands();
      return Object.fromEntries(
        Object.entries(after).flatMap(([name, n]) => (n === before[name] ? [] : [[name, n - (before[name] ?? 0)]])),
      );
    };
    const at = (agoMs: number) => () => claim(backend, { scheduledAt: new Date(Date.now() - agoMs) });
    await at(60_000)();
    expect(await spent(at(50_000), true)).toEqual({ hget: 1, hset: 1 });
    await backend.claimer.pause('shop', 'report', signal);
    // The head, whether there is a claim, and the floor: nothing is written.
    expect(await spent(at(40_000), false)).toEqual({ hget: 3 });
    await backend.claimer.resume('shop', 'report', { keepWatermark: true }, signal);
    expect(await spent(at(30_000), true)).toEqual({ hget: 1, hset: 1 });
  });

  it('is asked one command by a scan that finds nothing, however many entries it asks for', async () => {
    const backend = new RedisBackend({ client: connection.client });
    await backend.now(signal);
    const entries = Array.from({ length: 5_000 }, (_, i) => ({ entryKey: `entry-${i}`, maxAttempts: 3 }));
    const request = { namespace: 'shop', entries, claimId: 'scan', instanceId: 'i-1', ttlMs: 60_000, limit: 100 };
    await backend.recovery.takeLapsed(request, signal);
    const before = await scriptCalls();
    expect(await backend.recovery.takeLapsed(request, signal)).toEqual([]);
    const after = await scriptCalls();
    expect([after.evalsha - before.evalsha, after.eval - before.eval]).toEqual([1, 0]);
  });

  it('goes on after a restart, of which it remembers nothing: neither keys nor scripts', async () => {
    const backend = new RedisBackend({ client: connection.client });
    const guarded = new GuardedBackend(
      backend,
      {
        ...{ namespace: 'shop', instanceId: 'replica-1', coordinationTimeoutMs: 5_000, claimPatienceMs: 30_000 },
        ...{ maxClockSkewMs: 10_000, retentionMs: 3_600_000 },
      },
      { clock: systemClock, random: systemRandom },
    );
    const request = (entryKey: string) => ({
      ...{ entryKey, fireKey: `${entryKey}@x`, scheduledAt: new Date(), claimId: `pass of ${entryKey}`, schedule: 's' },
      untilMs: Date.now() + 60_000,
    });
    expect(await guarded.claim(request('before'))).toEqual({ kind: 'granted' });
    await server.kill();
    const meanwhile = guarded.claim(request('meanwhile'));
    await server.restart();
    expect(await meanwhile).toEqual({ kind: 'granted' });
    await guarded.close();
  }, 60_000);

  it('executes no claim that reached it when nobody waited any more', async () => {
    const backend = new RedisBackend({ client: connection.client });
    await backend.open({ maxClockSkewMs: 10_000, retentionMs: 3_600_000, coordinationTimeoutMs: 300 }, signal);
    // The server stands still: commands lie in its socket, as they else lie in a client without a connection.
    server.signal('SIGSTOP');
    const late = claim(backend, { claimId: 'late' });
    const outcome = expect(late).rejects.toMatchObject({ code: 'COORDINATION_FAILED', operation: 'claim' });
    await new Promise((resolve) => systemClock.setTimer(() => resolve(undefined), 700));
    server.signal('SIGCONT');
    await outcome;
    expect(await claim(backend, { claimId: 'another' })).toBe(true);
  });

  it('believes the clock that answers: one that stepped an hour costs one more call and no claim', async () => {
    const clock = new VirtualClock();
    const ahead: string[] = [];
    const { client } = connection;
    const calls = client as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
    // Answers an hour behind what they are: then every deadline is an hour too early.
    const behind = (answer: unknown) => {
      ahead.push(String(answer));
      return ahead.length > 1 ? answer : String(answer).replace(/^\d+/, (ms) => String(Number(ms) - 3_600_000));
    };
    const stepped = Object.fromEntries(
      ['evalsha', 'evalSha', 'eval'].flatMap((method) =>
        typeof calls[method] === 'function'
          ? [[method, async (...args: unknown[]) => behind(await calls[method]?.(...args))]]
          : [],
      ),
    );
    const backend = new RedisBackend({ client: stepped as never, clock });
    await backend.open({ maxClockSkewMs: 10_000, retentionMs: 3_600_000, coordinationTimeoutMs: 5_000 }, signal);
    expect(await claim(backend)).toBe(true);
    // One look at the clock, one claim that came too late by it, and one that did not.
    expect(ahead.map((answer) => answer.includes(' '))).toEqual([true, false, true]);
  });

  it('a key that holds something else harms only its own claim', async () => {
    const backend = new RedisBackend({ client: connection.client });
    await cli('set', entryName('shop', 'report'), 'mine');
    const claims = ['a', 'report', 'b'].map((entryKey) => asked({ entryKey }));
    const [a, report, b] = await backend.claimer.claimMany(claims, signal);
    expect([a, b]).toEqual([true, true]);
    expect(report).toMatchObject({ code: 'COORDINATION_FAILED' });
    expect(String(report)).toContain(`"${entryName('shop', 'report')}" holds something that is no hash`);
  });

  it('keys that cannot be kept as they are harm only their own claims, and are not sent', async () => {
    const backend = new RedisBackend({ client: connection.client });
    const keys = ['good', '', 'x'.repeat(MAX_ENTRY_KEY_LENGTH + 1), 'lone \ud800 surrogate', 'line\nbreak', 'good too'];
    const answers = await backend.claimer.claimMany(
      keys.map((entryKey) => asked({ entryKey })),
      signal,
    );
    expect(answers.map((answer) => answer === true)).toEqual([true, false, false, false, false, true]);
    expect(String(answers[2])).toContain(`at most ${MAX_ENTRY_KEY_LENGTH} characters`);
    const names = ['good', 'good too'].map((key) => entryName('shop', key));
    expect((await cli('keys', '*')).trim().split('\n').sort()).toEqual(names.sort());
  });

  it.each([
    ['noeviction', 0],
    ['allkeys-lru', 1],
    ['volatile-ttl', 1],
  ])('maxmemory-policy %s: %i warnings', async (policy, count) => {
    await cli('config', 'set', 'maxmemory-policy', policy);
    const warnings = await new RedisBackend({ client: connection.client }).warnings(signal);
    expect(warnings).toHaveLength(count);
    for (const warning of warnings) expect(warning).toContain(`maxmemory-policy is "${policy}"`);
  });

  it('says nothing where it may not look, and works without more rights than its scripts need', async () => {
    const rights = [
      '~shop:*',
      '+evalsha',
      '+eval',
      '+hget',
      '+hset',
      '+hmget',
      '+hdel',
      '+hgetall',
      '+hkeys',
      '+hexists',
      '+zadd',
      '+zrem',
      '+zrangebyscore',
      '+del',
      '+time',
    ];
    await cli('acl', 'setuser', 'scheduler', 'on', '>secret', '-@all', ...rights, '+hello', '+client', '+info');
    const limited = await connect(server.url.replace('//', '//scheduler:secret@'));
    try {
      await cli('acl', 'setuser', 'scheduler', '-info');
      const backend = new RedisBackend({ client: limited.client });
      expect(await backend.warnings(signal)).toEqual([]);
      expect(await claim(backend)).toBe(true);
      expect(await backend.claimer.lastFire('shop', ['report'], signal)).toHaveProperty('size', 1);
      const { fireKey, context } = asked({ entryKey: 'held', holds: { overlapTtlMs: 1_000, recoveryTtlMs: 1_000 } });
      expect(await backend.claimer.claim(fireKey, context)).toBe(true);
      expect(await backend.recovery.release(context, signal)).toBe(true);
      const scan = { namespace: 'shop', claimId: 'scan', instanceId: 'replica-2', ttlMs: 1_000, limit: 10 };
      const entries = [{ entryKey: 'held', maxAttempts: 2 }];
      expect(await backend.recovery.takeLapsed({ ...scan, entries }, signal)).toHaveLength(1);
      expect(await backend.recovery.finish({ ...context, claimId: 'scan' }, signal)).toBe(true);
      await backend.claimer.pause('shop', 'held', signal);
      expect(await backend.claimer.resume('shop', 'held', { keepWatermark: false }, signal)).toBeInstanceOf(Date);
      await backend.claimer.forget('shop', 'held', signal);
      const lease = { namespace: 'shop', name: 'leader', owner: 'owner-1' };
      const grant = await backend.leases.acquire({ ...lease, ttlMs: 1_000, value: 1 }, signal);
      expect(await backend.leases.renew({ ...lease, token: grant?.token ?? 0 }, { ttlMs: 1_000 }, signal)).toBe(true);
      expect(await backend.leases.release({ ...lease, token: grant?.token ?? 0 }, {}, signal)).toBe(true);
      expect(await backend.leases.read('shop', ['leader'], signal)).toHaveProperty('size', 1);
      const self = { instanceId: 'i-1', memberName: 'pod-1' };
      expect(await backend.membership.heartbeat('shop', self, 1_000, signal)).toEqual([self]);
      await backend.membership.leave('shop', 'i-1', signal);
    } finally {
      await limited.close();
    }
  });
});
