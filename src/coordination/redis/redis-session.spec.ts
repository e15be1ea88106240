import { describe, expect, it } from '@jest/globals';
import { VirtualClock } from '../../testing/virtual-clock.js';
import type { RedisCalls } from './redis-client.js';
import type { RedisScript } from './redis-scripts.js';
import { type RedisAsk, RedisSession } from './redis-session.js';

const STORE_MS = 1_767_225_600_000;
const { signal } = new AbortController();
const script: RedisScript = { source: 'the text', sha: 'the name' };
const ask: RedisAsk = { script, keys: ['key'], args: ['argument'], bucket: 3, operation: 'claim', signal };

/** A server of another clock, which does as every script does: nothing once it is late. */
function session({ isCluster = false, answer = 'done' as string | null } = {}) {
  const clock = new VirtualClock();
  const server = { aheadMs: 0, onTheWayMs: 0 };
  const deadlines: number[] = [];
  const reply = async (args: readonly string[]) => {
    await clock.advance(server.onTheWayMs);
    const nowMs = STORE_MS + clock.monotonic() + server.aheadMs;
    deadlines.push(Number(args[0]));
    if (answer === null) return 'OK';
    return nowMs > Number(args[0]) ? String(nowMs) : `${nowMs} ${answer}`;
  };
  const calls: RedisCalls = { isCluster, evalSha: (_sha, _keys, args) => reply(args), eval: () => Promise.reject() };
  return { clock, server, deadlines, redis: new RedisSession(calls, clock) };
}

describe('a script sent to Redis', () => {
  it('carries the last instant at which it may do anything, by the clock of the store', async () => {
    const { redis, clock, deadlines } = session();
    await redis.now(signal);
    await clock.advance(60_000);
    expect(await redis.run(ask)).toMatchObject({ said: 'done' });
    expect(deadlines[1]).toBe(STORE_MS + 60_000 + 5_000);
  });

  it('has the time that the application set for one call', async () => {
    const { redis, deadlines } = session();
    redis.withinMs = 700;
    await redis.run(ask);
    expect(deadlines[1]).toBe(STORE_MS + 700);
  });

  it('looks at the clock of the store first, if that was never heard', async () => {
    const { redis, deadlines } = session();
    await redis.run(ask);
    expect(deadlines).toEqual([Number.MAX_SAFE_INTEGER, STORE_MS + 5_000]);
  });

  it('rejects when it came too late, and is not sent again', async () => {
    const { redis, server, deadlines } = session();
    await redis.now(signal);
    server.onTheWayMs = 5_001;
    await expect(redis.run(ask)).rejects.toMatchObject({ code: 'COORDINATION_FAILED', operation: 'claim' });
    expect(deadlines).toHaveLength(2);
  });

  it('has the time that is left since the caller began to wait, where it is not the first of its call', async () => {
    const { redis, clock, deadlines } = session();
    await redis.now(signal);
    const askedAtMs = redis.monotonicMs();
    await clock.advance(4_000);
    await redis.run({ ...ask, askedAtMs });
    expect(deadlines[1]).toBe(STORE_MS + 5_000);
    await clock.advance(2_000);
    await expect(redis.run({ ...ask, askedAtMs })).rejects.toMatchObject({ code: 'COORDINATION_FAILED' });
  });

  it('is sent once more when it was late by the clock of the store alone', async () => {
    const { redis, server, deadlines } = session();
    await redis.now(signal);
    server.aheadMs = 3_600_000;
    expect(await redis.run(ask)).toEqual({ storeMs: STORE_MS + 3_600_000, said: 'done' });
    expect(deadlines).toHaveLength(3);
  });

  it('is not sent a third time where the clock of the store runs away', async () => {
    const { redis, server, deadlines, clock } = session();
    await redis.now(signal);
    const now = clock.monotonic.bind(clock);
    clock.monotonic = () => {
      server.aheadMs += 60_000;
      return now();
    };
    await expect(redis.run(ask)).rejects.toMatchObject({ code: 'COORDINATION_FAILED' });
    expect(deadlines).toHaveLength(3);
  });

  it('that gives something back has no limit', async () => {
    const { redis, server, deadlines } = session();
    server.onTheWayMs = 60_000;
    expect(await redis.run({ ...ask, evenIfLate: true })).toMatchObject({ said: 'done' });
    expect(deadlines).toEqual([Number.MAX_SAFE_INTEGER]);
  });

  it('is not sent for somebody who has stopped waiting', async () => {
    const { redis, deadlines } = session();
    const stopped = AbortSignal.abort(new Error('gone'));
    await expect(redis.run({ ...ask, signal: stopped })).rejects.toThrow('gone');
    expect(deadlines).toEqual([]);
  });

  it('of another bucket of a Cluster is timed by the clock of its own node', async () => {
    const { redis, server, deadlines } = session({ isCluster: true });
    await redis.run({ ...ask, bucket: 1 });
    server.aheadMs = 60_000;
    await redis.run({ ...ask, bucket: 2 });
    server.aheadMs = 0;
    await redis.run({ ...ask, bucket: 1 });
    expect(deadlines.at(-1)).toBe(STORE_MS + 5_000);
    server.aheadMs = 60_000;
    await redis.run({ ...ask, bucket: 2 });
    expect(deadlines.at(-1)).toBe(STORE_MS + 65_000);
  });

  it('whose answer is not its own is an error that shows it', async () => {
    const { redis } = session({ answer: null });
    await expect(redis.now(signal)).rejects.toThrow(
      'the client answered "OK", which no script of this library answers',
    );
  });
});
