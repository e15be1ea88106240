/**
 * What placement changes: three replicas and 300 entries that are due together, on one virtual clock and one memory store. Counts, not times: how the
 * runs lie over the replicas, how many first asks win, and how often a replica calls the store for an instant: one call in each of its turns, of which `spread` has two.
 */
import 'reflect-metadata';
import { Test } from '@nestjs/testing';
import {
  CLOCK,
  DistributedCronModule,
  DistributedCronRegistry,
  MemoryBackend,
  MemoryStore,
} from '../dist/esm/index.js';
import { VirtualClock } from '../dist/esm/testing/index.js';

const REPLICAS = 3;
const ENTRIES = 300;
const TURNS = 20;
const PERIOD_MS = 10_000;
/** What is asked for this long after its instant was asked for by a replica that is not its home. */
const TAKEOVER_MS = 2_000;

async function replica(clock, store, placement, memberName) {
  const backend = new MemoryBackend({ store });
  const count = { calls: 0, firstAsks: 0, firstWins: 0, runs: 0 };
  const claimMany = backend.claimer.claimMany.bind(backend.claimer);
  backend.claimer.claimMany = async (claims) => {
    count.calls += 1;
    const answers = await claimMany(claims);
    for (const [index, { context }] of claims.entries()) {
      if (clock.now() - context.scheduledAt.getTime() >= TAKEOVER_MS) continue;
      count.firstAsks += 1;
      if (answers[index] === true) count.firstWins += 1;
    }
    return answers;
  };
  const module = await Test.createTestingModule({
    imports: [DistributedCronModule.forRoot({ backend, placement, memberName })],
  })
    .setLogger(false)
    .overrideProvider(CLOCK)
    .useValue(clock)
    .compile();
  const app = await module.init();
  const registry = app.get(DistributedCronRegistry);
  for (let entry = 0; entry < ENTRIES; entry++) {
    registry.add(`entry-${entry}`, '*/10 * * * * *', () => {
      count.runs += 1;
    });
  }
  return { app, count };
}

async function measure(placement) {
  const clock = new VirtualClock();
  const store = new MemoryStore({ clock });
  const replicas = [];
  for (let index = 0; index < REPLICAS; index++)
    replicas.push(await replica(clock, store, placement, `replica-${index}`));
  await clock.advance(PERIOD_MS / 2);
  await clock.advance(TURNS * PERIOD_MS);
  await Promise.all(replicas.map(({ app }) => app.close()));
  const total = (field) => replicas.reduce((sum, { count }) => sum + count[field], 0);
  const percent = (part, whole) => `${((100 * part) / whole).toFixed(1)} %`;
  console.log(
    `${placement.padEnd(7)} runs ${replicas.map(({ count }) => percent(count.runs, total('runs'))).join(' / ')}`.padEnd(
      40,
    ),
    `first asks that win ${percent(total('firstWins'), total('firstAsks'))}`.padEnd(30),
    `calls per replica and instant ${(total('calls') / REPLICAS / TURNS).toFixed(2)}`,
  );
}

console.log(`${REPLICAS} replicas, ${ENTRIES} entries due together, ${TURNS} turns`);
await measure('any');
await measure('spread');
