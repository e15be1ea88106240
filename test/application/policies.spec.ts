import { describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import {
  CLAIMER,
  type ConfigurationError,
  DistributedCron,
  type DistributedCronModuleOptions,
  type LastRun,
  MemoryBackend,
} from 'nestjs-distributed-cron';
import { VirtualClock } from 'nestjs-distributed-cron/testing';
import { refused, started } from './application.fixture.js';

/** An application with one job, a quarter past the minute. */
async function withJob(options: DistributedCronModuleOptions, run: () => unknown) {
  @Injectable()
  class Jobs {
    @DistributedCron('* * * * *', { key: 'job' })
    job() {
      return run();
    }
  }
  return started({ clock: new VirtualClock('2026-01-01T00:00:15Z'), options, providers: [Jobs] });
}

/** A method that runs for ten seconds, and how many of it ran at once. */
function tenSeconds(clock: () => VirtualClock) {
  const seen = { now: 0, most: 0, ran: 0 };
  const run = async () => {
    seen.now += 1;
    seen.ran += 1;
    seen.most = Math.max(seen.most, seen.now);
    await new Promise<void>((resolve) => void clock().setTimer(resolve, 10_000));
    seen.now -= 1;
  };
  return { seen, run };
}

describe('of a replica', () => {
  it('maxConcurrentFires counts all entries together: one more is rejected before its claim', async () => {
    const asked: string[] = [];
    const claimer = { claim: async (fireKey: string) => asked.push(fireKey) > 0 };
    const clock = new VirtualClock('2026-01-01T00:00:15Z');
    const { app, registry, ofType } = await started({ clock, options: { claimer, maxConcurrentFires: 2 } });
    const { run, seen } = tenSeconds(() => clock);
    for (const key of ['a', 'b', 'c']) registry.add(key, '* * * * *', run);
    await clock.advance(60_000);
    expect(seen).toMatchObject({ most: 2, ran: 2 });
    expect(asked).toHaveLength(2);
    expect(ofType('fire.rejected')).toMatchObject([{ reason: 'concurrency-limit' }]);
    await app.close();
  });

  it.each([[1], [2]])(
    'catchUpConcurrency %d: so many caught-up fires run at once, the others after them',
    async (most) => {
      let clock: VirtualClock | undefined;
      const { run, seen } = tenSeconds(() => clock as VirtualClock);
      const application = await withJob({ missed: 'run-all', missedTolerance: 0, catchUpConcurrency: most }, run);
      clock = application.clock;
      application.registry.pause('job');
      await clock.advance(180_000);
      application.registry.resume('job', { catchUp: true });
      await clock.advance(0);
      expect(seen.now).toBe(most);
      await clock.advance(9_999);
      expect(seen.ran).toBe(most);
      await clock.advance(30_000);
      expect(seen).toMatchObject({ most, ran: 3 });
      await application.app.close();
    },
  );
});

describe('of an entry, by configuration', () => {
  it('retry calls a method that throws again, within its fire', async () => {
    let calls = 0;
    const { app, clock, story, registry } = await withJob(
      { retry: false, entries: { job: { retry: { attempts: 3, min: '1s', factor: 2, jitter: 0 } } } },
      () => {
        calls += 1;
        if (calls < 3) throw new Error('no paper');
      },
    );
    await clock.advance(45_000);
    expect(calls).toBe(1);
    await clock.advance(1_000);
    expect(calls).toBe(2);
    await clock.advance(2_000);
    expect(story()).toEqual(['started', 'retrying', 'retrying', 'completed']);
    expect(registry.snapshot()).toMatchObject({ counters: { started: 1, retried: 2, completed: 1 } });
    await app.close();
  });

  it("overlap 'queue' lets one wait for the earlier one's end", async () => {
    let clock: VirtualClock | undefined;
    const { run, seen } = tenSeconds(() => clock as VirtualClock);
    const application = await withJob({ entries: { job: { overlap: 'queue' } } }, run);
    const { app, registry, story } = application;
    clock = application.clock;
    for (let i = 0; i < 3; i++) registry.trigger('job');
    await clock.advance(20_000);
    expect(seen).toEqual({ now: 0, most: 1, ran: 2 });
    expect(story()).toEqual(['started', 'rejected overlap', 'completed', 'started', 'completed']);
    await app.close();
  });

  it.each<[string, LastRun]>([
    ['a date', new Date('2026-01-01T11:00:00Z')],
    ['a function of its key', async (key) => (key === 'job' ? new Date('2026-01-01T11:00:00Z') : null)],
  ])('lastRun, as %s, says from when on instants were missed, where no store does', async (_, lastRun) => {
    const ran: string[] = [];
    const clock = new VirtualClock('2026-01-01T14:30:00Z');
    const { app, registry, ofType } = await started({ clock, options: { claimer: { claim: async () => true } } });
    registry.add('job', '0 * * * *', ({ fireKey, origin }) => void ran.push(`${origin} ${fireKey}`), { lastRun });
    await clock.advance(0);
    expect(ran).toEqual(['catch-up job@2026-01-01T14:00:00Z']);
    expect(ofType('fire.missed')).toMatchObject([{ foundBy: 'start', count: 2 }]);
    await app.close();
  });
});

describe('what holds a lease', () => {
  const faultsOf = (error: ConfigurationError) => error.faults.map(({ subject, code }) => `${subject} ${code}`);

  @Injectable()
  class Jobs {
    @DistributedCron('* * * * *', { key: 'guarded', overlap: 'skip', overlapScope: 'fleet' })
    guarded() {}

    @DistributedCron('* * * * *', { key: 'rerun', recovery: 'rerun' })
    rerun() {}
  }

  it('is refused at start without a store that can, all of it in one report', async () => {
    const own = { claimer: { claim: async () => true } };
    for (const options of [{}, own, { ...own, entries: { rerun: { recovery: 'off' } } }] as const) {
      const error = await refused({ options: options as DistributedCronModuleOptions, providers: [Jobs] });
      expect(faultsOf(error)).toEqual([
        'Jobs.guarded, key "guarded" OVERLAP_CONFLICT',
        ...('entries' in options ? [] : ['Jobs.rerun, key "rerun" RECOVERY_CONFLICT']),
      ]);
    }
  });

  it('goes by the claimer that is injected, not by the backend behind it', async () => {
    const error = await refused({
      options: { backend: new MemoryBackend() },
      providers: [Jobs],
      override: (builder) => builder.overrideProvider(CLAIMER).useValue({ claim: async () => true }),
    });
    expect(error.faults.map(({ got }) => got)).toEqual(Array(2).fill('the store "custom", which cannot'));
  });

  it('needs a leaseTtl of three calls to the store, said once', async () => {
    const options = { backend: new MemoryBackend(), leaseTtl: '5s', coordinationTimeout: '2s' };
    expect(faultsOf(await refused({ options, providers: [Jobs] }))).toEqual(['forRoot.leaseTtl OPTION_CONFLICT']);
    const { app, registry } = await started({
      options: { backend: new MemoryBackend(), leaseTtl: '5s', coordinationTimeout: '2s' },
    });
    expect(() => registry.add('job', '* * * * *', () => undefined, { recovery: 'rerun' })).toThrow(
      'forRoot.leaseTtl: expected at least three times coordinationTimeout (6s), since there are entries with recovery',
    );
    await app.close();
  });

  it('starts with a store that can', async () => {
    const { app, keys } = await started({ options: { backend: new MemoryBackend() }, providers: [Jobs] });
    expect(keys()).toEqual(['guarded', 'rerun']);
    await app.close();
  });
});
