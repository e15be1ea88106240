import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Claim, ClaimAnswer } from '../../../src/coordination/claimer.js';
import { MemoryBackend } from '../../../src/coordination/memory/memory-backend.js';
import { MemoryStore } from '../../../src/coordination/memory/memory-store.js';
import { overlapLeaseName } from '../../../src/coordination/overlap-lease.js';
import type { HeldClaim, LapsedClaim, TakeLapsedRequest } from '../../../src/coordination/recovery-store.js';
import { RedisBackend } from '../../../src/coordination/redis/index.js';
import { VirtualClock } from '../../../src/testing/virtual-clock.js';
import { anyRedis } from '../../servers/redis.js';
import { asked, CLIENTS, type Connection, ownKeys, randomOf, signal, wordOf } from './redis.fixture.js';

// So few claims are made within the retention that none goes because of the number that is kept: which of those that are beyond it go at once, when some of them can be taken over, the stores may decide each
// in its own way.
const SETTINGS = { maxClockSkewMs: 2_000, retentionMs: 40_000, coordinationTimeoutMs: 5_000 };
const SEED = Number(process.env.PROOF_SEED ?? Math.floor(Math.random() * 1e9));
const SECOND = 1_000;
const TURNS = 500;
const KEYS = ['plain', 'recovered', 'recovered too', 'guarded'];

describe(`Redis beside the memory store: holds, recovery, pause and forgetting (PROOF_SEED=${SEED})`, () => {
  let server: Awaited<ReturnType<typeof anyRedis>>;
  let connection: Connection;

  beforeAll(async () => {
    server = await anyRedis();
    connection = await CLIENTS[0].connect(server.url);
  }, 30_000);
  afterAll(async () => {
    await connection?.close();
    await server?.stop();
  });

  it('answers every step of a long walk alike', async () => {
    const random = randomOf(SEED);
    const pick = (count: number) => Math.floor(random() * count);
    const clock = new VirtualClock();
    const own = ownKeys(connection.client, clock);
    const redis = new RedisBackend({ client: own });
    const memory = new MemoryBackend({ store: new MemoryStore({ clock }) });
    await redis.open(SETTINGS, signal);
    await memory.open(SETTINGS);

    const held: HeldClaim[] = [];
    const granted = new Map<string, string>();
    const seen = new Map<string, number>();
    const count = (what: unknown) => seen.set(String(what), (seen.get(String(what)) ?? 0) + 1);
    let turn = 0;
    /** The same asked of both, which must answer alike. */
    async function both<T>(what: string, ask: (backend: RedisBackend | MemoryBackend) => Promise<T>): Promise<T> {
      const [ofRedis, ofMemory] = [await ask(redis), await ask(memory)];
      expect({ turn, what, answer: ofRedis }).toEqual({ turn, what, answer: ofMemory });
      return ofRedis;
    }
    // No two expire at once, so that the order of those that lapsed is told by their expiry alone.
    let drawn = 0;
    const ttlMs = (mostSeconds: number) => (1 + pick(mostSeconds)) * SECOND + (drawn++ % 999) + 1;

    const claims = () => {
      const batch = new Map<string, Claim>();
      for (let i = 0; i < 6; i += 1) {
        const entryKey = KEYS[pick(KEYS.length)] as string;
        const back = [0, 0, 0, 0, 1, 2, pick(60), -3, -2, -1][pick(10)] as number;
        const claim = asked({
          ...{ entryKey, scheduledAt: new Date((Math.floor(clock.now() / SECOND) - back) * SECOND) },
          ...{ claimId: `pass-${pick(3)}`, instanceId: `replica-${pick(3)}`, schedule: `schedule-${pick(3)}` },
        });
        // Asked again, a claim that can be taken over may live longer or not: so it is asked again without.
        const again = granted.get(claim.fireKey) === claim.context.claimId;
        const ttl = ttlMs(10);
        const holds =
          entryKey === 'guarded' ? { overlapTtlMs: ttl } : again || entryKey === 'plain' ? {} : { recoveryTtlMs: ttl };
        batch.set(claim.fireKey, { ...claim, context: { ...claim.context, holds } });
      }
      return [...batch.values()];
    };

    for (; turn < TURNS; turn += 1) {
      await clock.advance(random() < 0.01 ? SETTINGS.retentionMs : SECOND);
      const batch = claims();
      const answers = await both('claims', async ({ claimer }) =>
        ((await claimer.claimMany(batch, signal)) as ClaimAnswer[]).map(wordOf),
      );
      for (const [i, { fireKey, context }] of batch.entries()) {
        const answer = answers[i];
        count(typeof answer === 'object' ? 'a lease' : answer);
        if (answer !== true || context.holds?.recoveryTtlMs === undefined) continue;
        granted.set(fireKey, context.claimId);
        held.push(context);
      }

      const claim = held[held.length - 1 - pick(Math.min(held.length, 30))];
      if (claim !== undefined) {
        const ttl = ttlMs(10);
        const dice = pick(4);
        if (dice === 0) count(`renewed ${await both('renew', (on) => on.recovery.renew(claim, ttl, signal))}`);
        if (dice === 1) count(`finished ${await both('finish', (on) => on.recovery.finish(claim, signal))}`);
        if (dice === 2) count(`released ${await both('release', (on) => on.recovery.release(claim, signal))}`);
      }
      for (let i = pick(3); i > 0; i -= 1) {
        const request: TakeLapsedRequest = {
          ...{
            namespace: 'shop',
            claimId: `scan-${drawn}`,
            instanceId: `replica-${pick(3)}`,
            ttlMs: ttlMs(4),
            limit: 1,
          },
          entries: KEYS.slice(0, 1 + pick(3)).map((entryKey) => ({ entryKey, maxAttempts: 2 })),
        };
        const taken = await both('takeLapsed', (on) => on.recovery.takeLapsed(request, signal));
        for (const { entryKey, scheduledAt, abandoned } of taken as readonly LapsedClaim[]) {
          count(abandoned ? 'abandoned' : 'taken');
          held.push({ namespace: 'shop', entryKey, scheduledAt, claimId: request.claimId });
        }
      }

      const key = KEYS[pick(KEYS.length)] as string;
      const keepWatermark = pick(2) === 0;
      if (pick(12) === 0) await both('pause', (on) => on.claimer.pause('shop', key, signal));
      if (pick(6) === 0) {
        count(
          `resumed ${(await both('resume', (on) => on.claimer.resume('shop', key, { keepWatermark }, signal))) !== null}`,
        );
      }
      if (pick(100) === 0) {
        await both('forget', (on) => on.claimer.forget('shop', key, signal));
        for (const fireKey of granted.keys()) if (fireKey.startsWith(`${key}@`)) granted.delete(fireKey);
      }
      await both('lastFire', (on) => on.claimer.lastFire('shop', KEYS, signal));
    }
    await both('leases', (on) => on.leases.read('shop', KEYS.map(overlapLeaseName), signal));
    await own.clear();

    const words = ['true', 'false', 'superseded', 'paused', 'overlap', 'CLOCK_AHEAD', 'a lease', 'taken', 'abandoned'];
    const yesAndNo = ['renewed', 'finished', 'released', 'resumed'].flatMap((did) => [`${did} true`, `${did} false`]);
    expect([...seen.keys()].sort()).toEqual([...words, ...yesAndNo].sort());
  }, 120_000);
});
