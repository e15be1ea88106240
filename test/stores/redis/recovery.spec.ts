import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { createClientPool } from 'redis';
import type { ClaimContext } from '../../../src/coordination/claimer.js';
import { overlapLeaseName } from '../../../src/coordination/overlap-lease.js';
import type { HeldClaim, LapsedClaim, TakeLapsedRequest } from '../../../src/coordination/recovery-store.js';
import { RedisBackend } from '../../../src/coordination/redis/index.js';
import { bucketOf, entryName, leaseName, recoveryName } from '../../../src/coordination/redis/redis-keys.js';
import { VirtualClock } from '../../../src/testing/virtual-clock.js';
import { anyRedis } from '../../servers/redis.js';
import { asked, CLIENTS, type Connection, type Own, ownKeys, signal } from './redis.fixture.js';

const SETTINGS = { maxClockSkewMs: 10_000, retentionMs: 3_600_000, coordinationTimeoutMs: 5_000 };
const SECOND = 1_000;
const MINUTE = 60 * SECOND;

let server: Awaited<ReturnType<typeof anyRedis>>;
const connections: Connection[] = [];

beforeAll(async () => {
  server = await anyRedis();
  for (const { connect } of CLIENTS) connections.push(await connect(server.url));
}, 30_000);
afterAll(async () => {
  for (const connection of connections) await connection.close();
  await server?.stop();
});

const request = (entryKeys: readonly string[], change: Partial<TakeLapsedRequest> = {}): TakeLapsedRequest => ({
  ...{ namespace: 'shop', claimId: randomUUID(), instanceId: 'replica-2', ttlMs: MINUTE, limit: 1_000 },
  entries: entryKeys.map((entryKey) => ({ entryKey, maxAttempts: 3 })),
  ...change,
});

describe('lapsed claims in Redis', () => {
  let clock: VirtualClock;
  let own: Own;
  let backend: RedisBackend;
  let startMs: number;

  beforeEach(async () => {
    clock = new VirtualClock();
    startMs = clock.now();
    own = ownKeys((connections[0] as Connection).client, clock);
    backend = new RedisBackend({ client: own });
    await backend.open(SETTINGS, signal);
  });
  afterEach(() => own.clear());

  async function claim(context: Partial<ClaimContext>) {
    const one = asked({ scheduledAt: new Date(startMs), ...context });
    const [answer] = await backend.claimer.claimMany([one], signal);
    return { answer, held: one.context as HeldClaim, again: () => backend.claimer.claimMany([one], signal) };
  }
  const recoverable = (context: Partial<ClaimContext>) =>
    claim({ holds: { recoveryTtlMs: context.scheduledAt === undefined ? SECOND : MINUTE }, ...context });
  const take = (entryKeys: readonly string[], change: Partial<TakeLapsedRequest> = {}) =>
    backend.recovery.takeLapsed(request(entryKeys, change), signal);
  const words = (lapsed: readonly LapsedClaim[]) => lapsed.map(({ entryKey }) => entryKey);
  const raw = (command: string, ...keys: string[]) =>
    own.eval(`return redis.call('${command}', KEYS[1])`, keys.length, ...keys);

  it('are taken longest lapsed first over all buckets, and never more than the limit', async () => {
    const keys = Array.from({ length: 40 }, (_, i) => `entry-${i}`);
    expect(new Set(keys.map(bucketOf)).size).toBeGreaterThan(10);
    for (const [i, entryKey] of keys.entries()) {
      await claim({ entryKey, holds: { recoveryTtlMs: (keys.length - i) * SECOND } });
    }
    await clock.advance(MINUTE);
    const lapsed = [...keys].reverse();
    expect(words(await take(keys, { limit: 7 }))).toEqual(lapsed.slice(0, 7));
    expect(words(await take(keys, { limit: 0 }))).toEqual([]);
    expect(words(await take(keys, { limit: 1 }))).toEqual(lapsed.slice(7, 8));
    expect(words(await take(keys))).toEqual(lapsed.slice(8));
    expect(await take(keys)).toEqual([]);
  });

  it('of other entries, of this instance and of paused entries keep nobody waiting, however many lapsed before', async () => {
    // All in one bucket, where one index holds them.
    const inBucket = Array.from({ length: 400 }, (_, i) => `entry-${i}`).filter((key) => bucketOf(key) === 3);
    const [others, mine, paused, wanted] = inBucket as [string, string, string, string];
    const instants = Array.from({ length: 150 }, (_, i) => new Date(startMs - i * SECOND));
    for (const [entryKey, instanceId] of [
      [others, 'replica-1'],
      [mine, 'replica-2'],
      [paused, 'replica-1'],
    ] as const) {
      const claims = instants.map((scheduledAt) =>
        asked({ entryKey, instanceId, scheduledAt, holds: { recoveryTtlMs: SECOND } }),
      );
      expect(await backend.claimer.claimMany(claims, signal)).toEqual(instants.map(() => true));
    }
    await backend.claimer.pause('shop', paused, signal);
    await claim({ entryKey: wanted, holds: { recoveryTtlMs: 2 * SECOND } });
    await clock.advance(MINUTE);
    expect(words(await take([mine, paused, wanted], { limit: 1 }))).toEqual([wanted]);
    // And after them none is left out.
    await backend.claimer.resume('shop', paused, { keepWatermark: true }, signal);
    const rest = words(await take([others, mine, paused, wanted]));
    expect(rest.filter((key) => key === others)).toHaveLength(instants.length);
    expect(rest.filter((key) => key === paused)).toHaveLength(instants.length);
    expect(rest).toHaveLength(2 * instants.length);
  });

  it('are taken without a gap where every second one may not be', async () => {
    const instants = Array.from({ length: 300 }, (_, i) => new Date(startMs - i * SECOND));
    const claims = instants.map((scheduledAt, i) =>
      asked({ scheduledAt, instanceId: `replica-${1 + (i % 2)}`, holds: { recoveryTtlMs: SECOND + i } }),
    );
    expect(await backend.claimer.claimMany(claims, signal)).toEqual(claims.map(() => true));
    await clock.advance(MINUTE);
    const taken = await take(['report'], { limit: 120 });
    expect(taken.map(({ scheduledAt }) => scheduledAt)).toEqual(instants.filter((_, i) => i % 2 === 0).slice(0, 120));
  });

  it('outlive the sweep for their number: the floor rises over what was removed, and their own instant is not granted again', async () => {
    const { held, again } = await recoverable({});
    const later = async (count: number, from: number) => {
      for (let i = 0; i < count; i += 50) {
        const claims = Array.from({ length: 50 }, (_, j) =>
          asked({ scheduledAt: new Date(startMs + (from + i + j) * 10), instanceId: 'replica-1' }),
        );
        expect(await backend.claimer.claimMany(claims, signal)).toEqual(claims.map(() => true));
      }
    };
    await clock.advance(MINUTE);
    await later(500, 1);
    expect(await raw('HLEN', entryName('shop', 'report'))).toBeLessThan(390);
    expect(await again()).toEqual([true]);
    expect((await claim({})).answer).toBe(false);
    expect((await claim({ scheduledAt: new Date(startMs - 1) })).answer).toBe('superseded');
    expect((await claim({ scheduledAt: new Date(startMs + 5) })).answer).toBe('superseded');

    // Asked again, it lived on.
    await clock.advance(MINUTE);
    const [taken] = await take(['report'], { claimId: 'scan' });
    expect(taken).toMatchObject({ attempt: 2, abandoned: false });
    expect(await backend.recovery.finish({ ...held, claimId: 'scan' }, signal)).toBe(true);
    // Now it is beyond the newest like any other.
    expect((await claim({})).answer).toBe('superseded');
    expect(await raw('HKEYS', entryName('shop', 'report'))).not.toContain(String(startMs));
  });

  it('outlive the sweep for their age, and are too old from the moment they are finished', async () => {
    const { held, again } = await recoverable({});
    await clock.advance(SETTINGS.retentionMs + 1);
    expect((await claim({ scheduledAt: new Date(startMs + MINUTE) })).answer).toBe(true);
    expect((await claim({ scheduledAt: new Date(startMs - MINUTE) })).answer).toBe(true);
    expect(await again()).toEqual([true]);
    expect(await backend.recovery.finish(held, signal)).toBe(true);
    expect(await again()).toEqual(['superseded']);
    // The head has heard of its age: it is removed before an instant below is looked at.
    expect((await claim({ scheduledAt: new Date(startMs - SECOND) })).answer).toBe('superseded');
  });

  it('of an entry that is gone from the server leave the index when they are found', async () => {
    await recoverable({});
    await raw('DEL', entryName('shop', 'report'));
    await clock.advance(MINUTE);
    const index = recoveryName('shop', bucketOf('report'));
    expect(await raw('ZCARD', index)).toBe(1);
    expect(await take(['report'])).toEqual([]);
    expect(await raw('ZCARD', index)).toBe(0);
  });

  it('leave the index when they are finished, abandoned or forgotten', async () => {
    const index = recoveryName('shop', bucketOf('report'));
    const { held } = await recoverable({});
    await recoverable({ scheduledAt: new Date(startMs - SECOND) });
    await recoverable({ scheduledAt: new Date(startMs - MINUTE) });
    expect(await raw('ZCARD', index)).toBe(3);
    await backend.recovery.finish(held, signal);
    expect(await raw('ZCARD', index)).toBe(2);
    await clock.advance(MINUTE + SECOND);
    const one = { entries: [{ entryKey: 'report', maxAttempts: 1 }], limit: 1 };
    expect(await take([], one)).toMatchObject([{ abandoned: true, attempt: 1 }]);
    expect(await raw('ZCARD', index)).toBe(1);
    await backend.claimer.forget('shop', 'report', signal);
    expect(await raw('ZCARD', index)).toBe(0);
    expect(await raw('EXISTS', entryName('shop', 'report'))).toBe(0);
  });

  it('are there from the grant on: one that was told overlap first can be taken over when it got the lease at last', async () => {
    const holds = { overlapTtlMs: MINUTE, recoveryTtlMs: MINUTE };
    const first = await claim({ holds, scheduledAt: new Date(startMs - SECOND) });
    expect(first.answer).toEqual({ granted: true, overlapToken: 1 });
    const second = await claim({ holds });
    expect(second.answer).toBe('overlap');
    expect(await backend.recovery.renew(second.held, MINUTE, signal)).toBe(false);
    const lease = { namespace: 'shop', name: overlapLeaseName('report'), owner: first.held.claimId, token: 1 };
    expect(await backend.leases.release(lease, {}, signal)).toBe(true);
    expect(await second.again()).toEqual([{ granted: true, overlapToken: 2 }]);
    expect(await backend.recovery.renew(second.held, MINUTE, signal)).toBe(true);
  });

  it('are none where the pass heard overlap at last: its lease had expired before it knew of it', async () => {
    const holds = { overlapTtlMs: SECOND, recoveryTtlMs: SECOND };
    const first = await claim({ holds, scheduledAt: new Date(startMs - SECOND) });
    await clock.advance(2 * SECOND);
    expect((await claim({ holds: { overlapTtlMs: MINUTE } })).answer).toEqual({ granted: true, overlapToken: 2 });
    expect(await first.again()).toEqual(['overlap']);
    expect(await backend.recovery.renew(first.held, MINUTE, signal)).toBe(false);
    expect(await take(['report'])).toEqual([]);
  });

  it('are not made of one that was finished, when its pass asks again', async () => {
    const { held, again } = await recoverable({});
    expect(await backend.recovery.finish(held, signal)).toBe(true);
    expect(await again()).toEqual([true]);
    await clock.advance(MINUTE);
    expect(await take(['report'])).toEqual([]);
  });

  it('a key that holds something else harms only the claims that need it', async () => {
    const keys = ['a', 'report', 'b'];
    const claims = keys.map((entryKey) =>
      asked({ entryKey, scheduledAt: new Date(startMs), holds: { overlapTtlMs: SECOND, recoveryTtlMs: SECOND } }),
    );
    const name = leaseName('shop', overlapLeaseName('report'));
    await own.eval(`return redis.call('SET', KEYS[1], 'mine')`, 1, name);
    const [a, report, b] = await backend.claimer.claimMany(claims, signal);
    expect([a, b]).toEqual([1, 1].map((overlapToken) => ({ granted: true, overlapToken })));
    expect(report).toMatchObject({ code: 'COORDINATION_FAILED' });
    expect(String(report)).toContain(`"${name}" holds something that is no hash`);

    await own.eval(`redis.call('DEL', KEYS[1]) return redis.call('SET', KEYS[1], 'mine')`, 1, entryName('shop', 'a'));
    await clock.advance(MINUTE);
    expect(words(await take(keys))).toEqual(['b']);
  });

  it('are made for all entries of a turn, also where more of them must be swept than one script does', async () => {
    // In one bucket, and with endings by which all of them come to their sweeps in the same turn.
    const keys = Array.from({ length: 400 }, (_, i) => `${i}-due`).filter((key) => bucketOf(key) === 3);
    expect(keys.length).toBeGreaterThan(8);
    for (let turn = 0; turn < 60; turn += 1) {
      const claims = keys.slice(0, 12).flatMap((entryKey) =>
        Array.from({ length: 5 }, (_, i) =>
          asked({
            entryKey,
            scheduledAt: new Date(startMs + turn * 5 + i),
            holds: { overlapTtlMs: 1, recoveryTtlMs: 1 },
          }),
        ),
      );
      await clock.advance(SECOND);
      const answers = await backend.claimer.claimMany(claims, signal);
      expect(answers.filter((answer) => answer instanceof Error || answer === false)).toEqual([]);
      const granted = answers.filter((answer) => typeof answer === 'object');
      expect(granted).toEqual(granted.map(() => ({ granted: true, overlapToken: turn + 1 })));
      expect(granted).toHaveLength(claims.length / 5);
    }
  });

  it('a life that is no number is refused, and not sent', async () => {
    const claims = [Number.NaN, Number.POSITIVE_INFINITY].flatMap((ttlMs) => [
      asked({ entryKey: 'a', holds: { overlapTtlMs: ttlMs } }),
      asked({ entryKey: 'b', holds: { recoveryTtlMs: ttlMs } }),
    ]);
    for (const answer of await backend.claimer.claimMany(claims, signal)) {
      expect(answer).toMatchObject({ code: 'COORDINATION_FAILED' });
      expect(String(answer)).toContain('must be a number of milliseconds');
    }
  });
});

describe('on a real clock', () => {
  const namespaceOf = (what: string) => `${what}-${randomUUID()}`;

  it('ten replicas of both clients ask for lapsed claims at once: each is taken once, and all are', async () => {
    const namespace = namespaceOf('races');
    const backends = Array.from(
      { length: 10 },
      (_, i) => new RedisBackend({ client: (connections[i % 2] as Connection).client }),
    );
    const keys = Array.from({ length: 30 }, (_, i) => `entry-${i}`);
    const [first] = backends as [RedisBackend];
    const scheduledAt = new Date();
    const claims = keys.flatMap((entryKey) =>
      [0, 1, 2, 3, 4].map((back) =>
        asked({
          ...{ namespace, entryKey, instanceId: 'the dead one', holds: { recoveryTtlMs: MINUTE } },
          scheduledAt: new Date(scheduledAt.getTime() - back),
        }),
      ),
    );
    expect(await first.claimer.claimMany(claims, signal)).toEqual(claims.map(() => true));
    await Promise.all(claims.map(({ context }) => first.recovery.release(context, signal)));
    const taken = await Promise.all(
      backends.map(async ({ recovery }, i) => {
        const all: LapsedClaim[] = [];
        for (;;) {
          const some = await recovery.takeLapsed(
            request(keys, { namespace, instanceId: `replica-${i}`, limit: 7 }),
            signal,
          );
          if (some.length === 0) return all;
          expect(some.length).toBeLessThanOrEqual(7);
          all.push(...some);
        }
      }),
    );
    const fires = taken.flat().map(({ entryKey, scheduledAt: at }) => `${entryKey}@${at.toISOString()}`);
    expect(new Set(fires).size).toBe(claims.length);
    expect(fires).toHaveLength(claims.length);
    for (const key of keys) await first.claimer.forget(namespace, key, signal);
  });

  it('of many claims of one entry the earliest has the overlap lease, through a pool of connections too', async () => {
    const pool = createClientPool({ url: server.url }, { minimum: 4, maximum: 8 });
    pool.on('error', () => undefined);
    await pool.connect();
    try {
      const { claimer } = new RedisBackend({ client: pool });
      for (let round = 0; round < 5; round += 1) {
        const namespace = namespaceOf('pool');
        const nowMs = Date.now();
        // Latest first, and every second one asks for nothing.
        const claims = Array.from({ length: 700 }, (_, i) =>
          asked({
            ...{ namespace, scheduledAt: new Date(nowMs - i) },
            ...(i % 2 === 0 ? {} : { holds: { overlapTtlMs: MINUTE } }),
          }),
        );
        const answers = await claimer.claimMany(claims, signal);
        // They ascend in the store, so that what it removes as too many is never one that is still to come.
        expect(answers).toEqual(
          claims.map(({ context: { holds } }, i) =>
            holds === undefined ? true : i === 699 ? { granted: true, overlapToken: 1 } : 'overlap',
          ),
        );
        await claimer.forget(namespace, 'report', signal);
      }
    } finally {
      pool.destroy();
    }
  });

  it('once a pause was answered no claim is granted any more, whoever asks', async () => {
    const [one, other] = connections.map(({ client }) => new RedisBackend({ client })) as [RedisBackend, RedisBackend];
    for (let round = 0; round < 10; round += 1) {
      const namespace = namespaceOf('pause');
      let paused = false;
      const pausing = one.claimer.pause(namespace, 'report', signal).then(() => {
        paused = true;
      });
      for (let i = 0; i < 30; i += 1) {
        const before = paused;
        const holds = i % 2 === 0 ? undefined : { recoveryTtlMs: MINUTE };
        const claim = asked({ namespace, scheduledAt: new Date(Date.now() - 60 + i), ...(holds && { holds }) });
        const [answer] = await other.claimer.claimMany([claim], signal);
        expect([true, 'paused']).toContain(answer);
        if (before) expect(answer).toBe('paused');
      }
      await pausing;
      await one.claimer.forget(namespace, 'report', signal);
    }
  });
});
