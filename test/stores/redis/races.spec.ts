import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { RedisBackend } from '../../../src/coordination/redis/index.js';
import { entryName } from '../../../src/coordination/redis/redis-keys.js';
import { anyRedis } from '../../servers/redis.js';
import { asked, CLIENTS, type Connection, type Own, ownKeys } from './redis.fixture.js';

const REPLICAS = 10;
const ROUNDS = 500;
/** Rounds that run at the same time, each with an entry of its own. */
const LANES = 25;

let server: Awaited<ReturnType<typeof anyRedis>>;
const connections: Connection[] = [];

beforeAll(async () => {
  server = await anyRedis();
  for (let i = 0; i < REPLICAS; i += 1) connections.push(await CLIENTS[i % 2 === 0 ? 0 : 1].connect(server.url));
}, 30_000);
afterAll(async () => {
  for (const connection of connections) await connection.close();
  await server?.stop();
});

it(`ten replicas, five of each client, claim one fire at once, ${ROUNDS} rounds: one winner each, and the others are refused`, async () => {
  const namespace = `races-${connections.length}-${Date.now()}`;
  const claimers = connections.map(({ client }) => new RedisBackend({ client }).claimer);
  const startMs = Date.now() - ROUNDS * 1_000;
  for (let round = 0; round < ROUNDS; round += LANES) {
    const lanes = Array.from({ length: LANES }, (_, lane) => {
      const scheduledAt = new Date(startMs + round * 1_000);
      const entryKey = `report-${lane}`;
      return Promise.all(
        claimers.map((claimer, i) => {
          const { fireKey, context } = asked({ namespace, entryKey, scheduledAt, instanceId: `replica-${i}` });
          return claimer.claim(fireKey, context);
        }),
      );
    });
    for (const answers of await Promise.all(lanes)) {
      expect(answers.filter((answer) => answer === true)).toHaveLength(1);
      expect(answers.filter((answer) => answer === false)).toHaveLength(REPLICAS - 1);
    }
  }
}, 120_000);

it('all claims of a fire are on the record with the claim id and the instance that made them', async () => {
  const own: Own = ownKeys((connections[0] as Connection).client);
  const { claimer } = new RedisBackend({ client: own });
  const { fireKey, context } = asked({ claimId: 'pass-1', instanceId: 'replica:7' });
  expect(await claimer.claim(fireKey, context)).toBe(true);
  const row = await own.eval(
    `return redis.call('HGET', KEYS[1], ARGV[1])`,
    1,
    entryName('shop', 'report'),
    String(context.scheduledAt.getTime()),
  );
  expect(row).toMatch(/^\d{13}:pass-1:replica%3A7$/);
  await own.clear();
});
