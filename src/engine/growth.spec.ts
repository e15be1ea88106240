import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it, jest } from '@jest/globals';
import type { CoordinationBackend } from '../coordination/coordination-backend.js';
import { GuardedBackend } from '../coordination/guarded-backend.js';
import { MemoryBackend } from '../coordination/memory/memory-backend.js';
import { MemoryStore } from '../coordination/memory/memory-store.js';
import { VirtualClock } from '../testing/virtual-clock.js';
import { Coordination } from './coordination.js';
import { chance, definition, every, HOUR, MINUTE, SECOND } from './replica.fixture.js';
import { Scheduler } from './scheduler.js';

setFlagsFromString('--expose-gc');
// Nothing here waits; collections of a large heap take their time on a busy machine.
jest.setTimeout(300_000);

const collect = runInNewContext('gc') as () => void;

/** What is left on the heap when nothing else can be collected. */
async function heapBytes(): Promise<number> {
  for (let round = 0; round < 3; round += 1) {
    await new Promise((resolve) => setImmediate(resolve));
    collect();
  }
  return process.memoryUsage().heapUsed;
}

/** A scheduler of whose events only the number is kept. */
function quiet(clock: VirtualClock, backend: CoordinationBackend) {
  const settings = {
    ...{ namespace: 'shop', instanceId: 'replica-1', coordinationTimeoutMs: 5 * SECOND, claimPatienceMs: 30 * SECOND },
    ...{ maxClockSkewMs: 10 * SECOND, retentionMs: HOUR, leaseTtlMs: 30 * SECOND, drainDeadlineMs: 10 * SECOND },
  };
  const random = chance(0.5);
  const told = new Map<string, number>();
  const claims = new GuardedBackend(backend, settings, { clock, random });
  const scheduler = new Scheduler({
    ...settings,
    clock,
    random,
    instance: { id: 'replica-1', hostname: 'host', pid: 1 },
    emit: ({ type }) => void told.set(type, (told.get(type) ?? 0) + 1),
    watched: () => true,
    coordination: new Coordination({ backend: claims, guard: () => claims }),
  });
  scheduler.start();
  return { scheduler, told };
}

const MB = 1_000_000;

describe('the heap returns to where it was', () => {
  it('after 100,000 entries that were added, had their history read, and were removed', async () => {
    const clock = new VirtualClock();
    const { scheduler, told } = quiet(clock, new MemoryBackend({ store: new MemoryStore({ clock }) }));
    const round = async (count: number) => {
      for (let index = 0; index < count; index += 1)
        scheduler.add(definition(`entry-${index}`, HOURLY, { recovery: index % 2 === 0 ? 'rerun' : 'off' }));
      await clock.advance(MINUTE);
      for (let index = 0; index < count; index += 1) scheduler.remove(`entry-${index}`);
      await clock.advance(MINUTE);
    };
    await round(1_000);
    const before = await heapBytes();
    await round(100_000);
    expect(told.get('entry.removed')).toBe(101_000);
    expect((await heapBytes()) - before).toBeLessThan(4 * MB);
    await scheduler.stop();
  });

  it('after 100,000 fires that another replica had', async () => {
    const clock = new VirtualClock();
    const claimer = {
      claim: async () => false,
      claimMany: async (claims: readonly unknown[]) => claims.map(() => false),
      repeatable: true,
    };
    const { scheduler, told } = quiet(clock, { store: 'custom', claimer });
    for (let index = 0; index < 1_000; index += 1) scheduler.add(definition(`entry-${index}`, EVERY_SECOND));
    await clock.advance(10 * SECOND);
    const before = await heapBytes();
    await clock.advance(100 * SECOND);
    expect(told.get('fire.skipped')).toBe(110_000);
    expect((await heapBytes()) - before).toBeLessThan(MB);
    await scheduler.stop();
  });
});

const HOURLY = every(HOUR);
const EVERY_SECOND = every(SECOND);
