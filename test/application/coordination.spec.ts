import { expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { CLOCK, type Clock, DistributedCron, MemoryBackend, MemoryStore } from 'nestjs-distributed-cron';
import { VirtualClock } from 'nestjs-distributed-cron/testing';
import { started } from './application.fixture.js';

/** A replica's clock on the fleet's time: its wall clock is off. */
function off(clock: VirtualClock, byMs: number): Clock {
  return {
    now: () => clock.now() + byMs,
    monotonic: () => clock.monotonic(),
    setTimer: (callback, delayMs) => clock.setTimer(callback, delayMs),
    clearTimer: (timer) => clock.clearTimer(timer),
  };
}

it('two replicas whose clocks are three seconds apart run each fire once', async () => {
  const clock = new VirtualClock();
  const store = new MemoryStore({ clock });
  const ran: string[] = [];
  @Injectable()
  class Jobs {
    @DistributedCron('* * * * *', { key: 'job' })
    run(fire: { fireKey: string }) {
      ran.push(fire.fireKey);
    }
  }
  const replica = (byMs: number) =>
    started({
      clock,
      options: { backend: new MemoryBackend({ store }) },
      providers: [Jobs],
      override: (builder) => builder.overrideProvider(CLOCK).useValue(off(clock, byMs)),
    });
  const replicas = [await replica(-1_500), await replica(1_500)];
  await clock.advance(90_000);
  expect(ran).toEqual(['job@2026-01-01T00:00:00Z', 'job@2026-01-01T00:01:00Z']);
  await Promise.all(replicas.map(({ app }) => app.close()));
});

it('a granted claim whose reply is lost is asked again by the same pass, and the fire runs once', async () => {
  const clock = new VirtualClock();
  const { claimer, store: name } = new MemoryBackend({ store: new MemoryStore({ clock }) });
  const claimIds: string[] = [];
  let runs = 0;
  const { app, registry, story } = await started({
    clock,
    options: {
      backend: {
        store: name,
        claimer: {
          repeatable: true,
          claim: async (fireKey, context) => {
            claimIds.push(context.claimId);
            const granted = await claimer.claim(fireKey, context);
            if (claimIds.length === 1) throw new Error('connection reset');
            return granted;
          },
        },
      },
    },
  });
  registry.add('job', '* * * * *', () => void runs++);
  await clock.advance(70_000);
  expect(runs).toBe(1);
  expect(claimIds).toHaveLength(2);
  expect(new Set(claimIds).size).toBe(1);

  // The same replica reaches that fire again: a new pass, which has a claim id of its own.
  clock.step(-20_000);
  await clock.advance(15_000);
  expect(story()).toEqual(['started', 'completed', 'skipped already-claimed']);
  expect(new Set(claimIds).size).toBe(2);
  expect(runs).toBe(1);
  await app.close();
});

it('jitter only delays, below its length, and the key holds the scheduled instant', async () => {
  const clock = new VirtualClock();
  const lateness: number[] = [];
  const keys: string[] = [];
  const { app, registry, events } = await started({
    clock,
    options: { claimer: { claim: async () => true }, jitter: '20s' },
  });
  registry.add('job', '* * * * *', ({ fireKey }) => void keys.push(fireKey));
  await clock.advance(20 * 60_000 + 20_000);
  for (const event of events) if (event.type === 'fire.started') lateness.push(event.latenessMs);
  expect(lateness).toHaveLength(20);
  expect(Math.min(...lateness)).toBeGreaterThanOrEqual(0);
  expect(Math.max(...lateness)).toBeLessThanOrEqual(20_000);
  expect(keys).toEqual(
    Array.from({ length: 20 }, (_, minute) => `job@2026-01-01T00:${String(minute + 1).padStart(2, '0')}:00Z`),
  );
  await app.close();
});

it('a replica whose clock is ahead of the store runs nothing early, and says so once a minute with the offset', async () => {
  const clock = new VirtualClock();
  const store = new MemoryStore({ clock });
  const ran: string[] = [];
  @Injectable()
  class Jobs {
    @DistributedCron('*/20 * * * * *', { key: 'job' })
    run(fire: { fireKey: string }) {
      ran.push(fire.fireKey);
    }
  }
  const { app, ofType, journal } = await started({
    clock,
    options: { backend: new MemoryBackend({ store }), claimPatience: '1s' },
    providers: [Jobs],
    override: (builder) => builder.overrideProvider(CLOCK).useValue(off(clock, 3_600_000)),
  });
  await clock.advance(150_000);
  expect(ran).toEqual([]);
  expect(ofType('fire.skipped').map(({ reason }) => reason)).toEqual(Array(7).fill('claim-error'));
  expect(ofType('clock.skewed').map(({ offsetMs }) => offsetMs)).toEqual([-3_600_000, -3_600_000, -3_600_000]);
  expect(journal.texts('warn').filter((text) => text.includes('-3600000 ms off'))).toHaveLength(3);
  await app.close();
});
