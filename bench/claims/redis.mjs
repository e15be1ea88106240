import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { Redis } from 'ioredis';
import { createClient } from 'redis';

// The built library. BENCH_LIBRARY names another build of it.
const library = process.env.BENCH_LIBRARY ?? '../../dist/cjs';
const { RedisBackend } = createRequire(import.meta.url)(`${library}/coordination/redis/index.js`);

const CLAIMS = 1_000;
const ROUNDS = 30;
const SET_ALL = `for i = 1, #KEYS do redis.call('SET', KEYS[i], ARGV[i]) end`;
const { signal } = new AbortController();
const INSTANCE = randomUUID();
const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];

/** REDIS_URL, or a server that lives as long as the measurement. */
async function startServer() {
  if (process.env.REDIS_URL) return { url: process.env.REDIS_URL, stop: () => undefined };
  const port = await new Promise((resolve) => {
    const probe = createServer().listen(0, '127.0.0.1', () => {
      const { port } = probe.address();
      probe.close(() => resolve(port));
    });
  });
  const folder = mkdtempSync(join(tmpdir(), 'distributed-cron-bench-'));
  const child = spawn(
    'redis-server',
    ['--port', port, '--bind', '127.0.0.1', '--save', '', '--dir', folder].map(String),
  );
  await new Promise((resolve, reject) => {
    child.stdout.on('data', (text) => String(text).includes('Ready to accept') && resolve());
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`redis-server ended with ${code}`)));
  });
  process.once('exit', () => child.kill('SIGKILL'));
  return {
    url: `redis://127.0.0.1:${port}`,
    stop: () => {
      child.kill('SIGKILL');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const CLIENTS = {
  ioredis: async (url) => {
    const client = new Redis(url);
    return {
      client,
      set: (keys, values) => client.eval(SET_ALL, keys.length, ...keys, ...values),
      command: (...words) => client.call(...words),
      close: () => client.disconnect(),
    };
  },
  'node-redis': async (url) => {
    const client = await createClient({ url }).connect();
    return {
      client,
      set: (keys, values) => client.eval(SET_ALL, { keys, arguments: values }),
      command: (...words) => client.sendCommand(words),
      close: () => client.destroy(),
    };
  },
};

/** The next instants come a second apart; all lie in the past, so that none is early. */
function turnOf(namespace, turn, startMs) {
  const scheduledAt = new Date(startMs + turn * 1_000);
  return Array.from({ length: CLAIMS }, (_, i) => {
    const entryKey = `Reports.job-${i}`;
    return {
      fireKey: `${entryKey}@${scheduledAt.toISOString()}`,
      context: {
        namespace,
        entryKey,
        scheduledAt,
        claimId: randomUUID(),
        instanceId: INSTANCE,
        schedule: '9f3c5a1b',
        signal,
      },
    };
  });
}

async function measure(name, { client, set, command }) {
  const namespace = `bench-${randomUUID()}`;
  const { claimer } = new RedisBackend({ client });
  const startMs = Date.now() - 86_400_000;
  const taken = { set: [], first: [], next: [], full: [], lost: [] };
  const timed = async (into, work) => {
    const startedMs = performance.now();
    const result = await work();
    into?.push(performance.now() - startedMs);
    return result;
  };
  const claim = async (into, claims, expected) => {
    const answers = await timed(into, () => claimer.claimMany(claims, signal));
    if (answers.some((answer) => answer !== expected)) throw new Error(`not all were ${expected}`);
  };

  const values = Array.from({ length: CLAIMS }, () => randomUUID());
  for (let round = -5; round < ROUNDS; round += 1) {
    const keep = (list) => (round < 0 ? undefined : list);
    const keys = values.map((_, i) => `${namespace}:${round}:${i}`);
    await timed(keep(taken.set), () => set(keys, values));
    await claim(keep(taken.first), turnOf(`${namespace}-${round}`, 0, startMs), true);
    const turn = turnOf(namespace, round + 5, startMs);
    await claim(keep(taken.next), turn, true);
    await claim(
      keep(taken.lost),
      turn.map((asked) => ({ ...asked, context: { ...asked.context, claimId: randomUUID() } })),
      false,
    );
  }
  // Until every entry has all the claims that are kept, and removes some now and then.
  for (let turn = ROUNDS + 5; turn < 400; turn += 1) await claim(undefined, turnOf(namespace, turn, startMs), true);
  await command('CONFIG', 'RESETSTAT');
  await command('CONFIG', 'SET', 'slowlog-log-slower-than', '1000');
  await command('CONFIG', 'SET', 'slowlog-max-len', '10000');
  await command('SLOWLOG', 'RESET');
  for (let turn = 400; turn < 400 + 2 * 64; turn += 1) await claim(taken.full, turnOf(namespace, turn, startMs), true);
  const stats = String(await command('INFO', 'commandstats'));
  const evalsha = /cmdstat_evalsha:calls=(\d+),usec=(\d+)/.exec(stats);
  const slow = await command('SLOWLOG', 'GET', '10000');
  const [, [entry]] = await command('SCAN', '0', 'MATCH', `${namespace}:{*}:*`, 'COUNT', '1000000');
  const memory = Number(await command('MEMORY', 'USAGE', entry, 'SAMPLES', '0'));

  const base = median(taken.set);
  const line = (label, list) => {
    const ms = median(list);
    console.log(`${`${name}: ${label}`.padEnd(58)} ${ms.toFixed(2).padStart(7)} ms   ratio ${(base / ms).toFixed(2)}`);
  };
  console.log();
  line(`one bare EVAL that sets ${CLAIMS} keys`, taken.set);
  line(`${CLAIMS} claims, first of their entries`, taken.first);
  line(`${CLAIMS} claims, next of their entries`, taken.next);
  line(`${CLAIMS} claims, entries with all claims that are kept`, taken.full);
  line(`${CLAIMS} claims, lost`, taken.lost);
  console.log(
    `${name}: ${evalsha[1] / 128} commands a turn, ${(evalsha[2] / evalsha[1]).toFixed(0)} µs each at the server; ${slow.length} of ${evalsha[1]} above 1 ms${slow.length > 0 ? `, the longest ${Math.max(...slow.map((entry) => Number(entry[2])))} µs` : ''}; a full entry ${(memory / 1024).toFixed(1)} KiB`,
  );
}

export async function benchmark() {
  const server = await startServer();
  try {
    for (const [name, connect] of Object.entries(CLIENTS)) {
      const connection = await connect(server.url);
      try {
        await measure(name, connection);
      } finally {
        connection.close();
      }
    }
  } finally {
    server.stop();
  }
}
