import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Claim } from '../../../src/coordination/claimer.js';
import { MemoryBackend } from '../../../src/coordination/memory/memory-backend.js';
import { MemoryStore } from '../../../src/coordination/memory/memory-store.js';
import { RedisBackend } from '../../../src/coordination/redis/index.js';
import { VirtualClock } from '../../../src/testing/virtual-clock.js';
import { anyRedis } from '../../servers/redis.js';
import { asked, CLIENTS, type Connection, ownKeys, randomOf, signal, wordOf } from './redis.fixture.js';

const SETTINGS = { maxClockSkewMs: 2_000, retentionMs: 400_000, coordinationTimeoutMs: 5_000 };
const SEED = Number(process.env.PROOF_SEED ?? Math.floor(Math.random() * 1e9));
const SECOND = 1_000;

describe(`Redis beside the memory store, which keeps to the rules step by step (PROOF_SEED=${SEED})`, () => {
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

  /** The same claims to both, on one clock, some of entries that are swept for their number, some for their age. */
  async function sideBySide(random: () => number, step: (clock: VirtualClock) => Promise<void>) {
    const clock = new VirtualClock();
    const own = ownKeys(connection.client, clock);
    const redis = new RedisBackend({ client: own });
    const memory = new MemoryBackend({ store: new MemoryStore({ clock }) });
    await redis.open(SETTINGS, signal);
    await memory.open(SETTINGS);
    const pick = (count: number) => Math.floor(random() * count);
    const granted = new Map<string, string>();
    const history = new Map<string, number[]>();
    const answers: { readonly fire: string; readonly redis: unknown; readonly memory: unknown }[] = [];

    for (let turn = 0; turn < 600; turn += 1) {
      await step(clock);
      const claims = new Map<string, Claim>();
      const seconds = Math.floor(clock.now() / SECOND);
      for (let i = 0; i < 12; i += 1) {
        // The first entry outgrows the number that is kept, the last one keeps few claims until they are too old.
        const entryKey = `entry-${[0, 0, 0, 0, 1, 1, 1, 2, 2, 3][pick(10)]}`;
        // Mostly the newest instant; now and then a late one, one below all, or one that comes too early.
        const back = [0, 0, 0, 0, 0, 0, 1, 2, pick(200), pick(2_000), -3][pick(11)] as number;
        // Or a fire that somebody was granted, around where the store forgets it.
        const ran = history.get(entryKey) ?? [];
        const known = pick(3) === 0 ? ran.at(-pick(Math.min(ran.length, 400)) - 1) : undefined;
        const claim = asked({
          entryKey,
          scheduledAt: new Date(known ?? (seconds - back) * SECOND + pick(3) * 300),
          claimId: `pass-${pick(3)}`,
          schedule: `schedule-${pick(4)}`,
        });
        claims.set(claim.fireKey, claim);
      }
      // In the order in which Redis decides a batch.
      const batch = [...claims.values()].sort(
        (a, b) => a.context.scheduledAt.getTime() - b.context.scheduledAt.getTime(),
      );
      const [ofRedis, ofMemory] = [await redis.claimer.claimMany(batch, signal), await memory.claimer.claimMany(batch)];
      for (const [i, { fireKey, context }] of batch.entries()) {
        answers.push({ fire: fireKey, redis: wordOf(ofRedis[i]), memory: wordOf(ofMemory[i]) });
        if (ofRedis[i] !== true) continue;
        if (!granted.has(fireKey)) {
          granted.set(fireKey, context.claimId);
          history.set(context.entryKey, [...(history.get(context.entryKey) ?? []), context.scheduledAt.getTime()]);
        }
        // At most once: nobody else is ever told yes.
        expect([fireKey, granted.get(fireKey)]).toEqual([fireKey, context.claimId]);
      }
    }
    const keys = Array.from({ length: 4 }, (_, i) => `entry-${i}`);
    const [last, lastOfMemory] = [
      await redis.claimer.lastFire('shop', keys, signal),
      await memory.claimer.lastFire('shop', keys),
    ];
    await own.clear();
    return { answers, last, lastOfMemory };
  }

  it('answers every claim alike while the clock goes on', async () => {
    const random = randomOf(SEED);
    const { answers, last, lastOfMemory } = await sideBySide(random, (clock) =>
      clock.advance(random() < 0.01 ? SETTINGS.retentionMs : SECOND),
    );
    expect(answers.filter((answer) => answer.redis !== answer.memory)).toEqual([]);
    expect(last).toEqual(lastOfMemory);
    const seen = new Set(answers.map(({ redis }) => redis));
    expect(seen).toEqual(new Set([true, false, 'superseded', 'CLOCK_AHEAD']));
  }, 60_000);

  it('removes a claim by its own age where the clock was set back between it and the one before', async () => {
    const clock = new VirtualClock();
    const own = ownKeys(connection.client, clock);
    const { claimer } = new RedisBackend({ client: own });
    claimer.settings = SETTINGS;
    const startMs = clock.now();
    const claim = async (atMs: number) => {
      const [answer] = await claimer.claimMany([asked({ scheduledAt: new Date(atMs) })], signal);
      return answer;
    };
    expect(await claim(startMs - 300 * SECOND)).toBe(true);
    clock.step(-100 * SECOND);
    expect(await claim(startMs - 200 * SECOND)).toBe(true);
    await clock.advance(SETTINGS.retentionMs + 1);
    expect(await claim(startMs - 250 * SECOND)).toBe('superseded');
    await own.clear();
  });

  it('tells no second pass yes, whatever its clock does', async () => {
    const random = randomOf(SEED + 1);
    await sideBySide(random, async (clock) => {
      const dice = random();
      if (dice < 0.03) clock.step(-Math.floor(random() * 2 * SETTINGS.retentionMs));
      else if (dice < 0.06) clock.step(Math.floor(random() * 2 * SETTINGS.retentionMs));
      else await clock.advance(SECOND);
    });
  }, 60_000);
});
