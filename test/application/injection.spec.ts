import { expect, it } from '@jest/globals';
import { Inject, Injectable } from '@nestjs/common';
import {
  CLAIMER,
  type ClaimContext,
  type Claimer,
  type Clock,
  DistributedCron,
  ELECTOR,
  type ElectionContext,
  type Elector,
  InjectClaimer,
  InjectClock,
  InjectElector,
  InjectSkippedFires,
  MemoryBackend,
  MemoryStore,
  SKIPPED_FIRES,
  type SkippedFireEvent,
} from 'nestjs-distributed-cron';
import { VirtualClock } from 'nestjs-distributed-cron/testing';
import type { Observable } from 'rxjs';
import { started } from './application.fixture.js';

@Injectable()
class Jobs {
  runs = 0;

  @DistributedCron('* * * * *', { key: 'job' })
  run() {
    this.runs += 1;
  }
}

it('a test can override the claimer, and the backend of the options is not asked', async () => {
  const asked: [string, ClaimContext][] = [];
  const claimer: Claimer = {
    claim: async (fireKey, context) => {
      asked.push([fireKey, context]);
      return asked.length === 2;
    },
  };
  const clock = new VirtualClock();
  const store = new MemoryStore({ clock });
  const { app, story } = await started({
    clock,
    options: { backend: new MemoryBackend({ store }), namespace: 'shop' },
    providers: [Jobs],
    override: (builder) => builder.overrideProvider(CLAIMER).useValue(claimer),
  });
  await clock.advance(150_000);
  expect(story()).toEqual(['skipped already-claimed', 'started', 'completed']);
  expect(asked[0]?.[0]).toBe('job@2026-01-01T00:01:00Z');
  expect(asked[0]?.[1]).toMatchObject({ namespace: 'shop', entryKey: 'job' });
  expect(store.lastFire('shop', 'job')).toBeUndefined();
  await app.close();
});

it('a test can override the elector', async () => {
  const asked: ElectionContext[] = [];
  const leads: Elector = {
    isLeader: (context) => {
      asked.push(context);
      return asked.length !== 2;
    },
  };
  const { app, clock, registry, story } = await started({
    options: { claimer: { claim: async () => true }, elector: { isLeader: () => false } },
    providers: [Jobs],
    override: (builder) => builder.overrideProvider(ELECTOR).useValue(leads),
  });
  await clock.advance(190_000);
  // Yes, no, yes: the fire that was not led is lost here, and the next one is neither early nor late.
  expect(story()).toEqual(['started', 'completed', 'skipped not-leader', 'started', 'completed']);
  expect(registry.list()[0]?.nextAt?.toISOString()).toBe('2026-01-01T00:04:00.000Z');
  await app.close();
});

it('what coordinates can be injected by name, and is null where there is none', async () => {
  const claimer: Claimer = { claim: async () => false };
  @Injectable()
  class Watcher {
    readonly seen: SkippedFireEvent[] = [];

    constructor(
      @InjectClaimer() readonly claimer: Claimer | null,
      @InjectElector() readonly elector: Elector | null,
      @InjectClock() readonly clock: Clock,
      @InjectSkippedFires() skipped: Observable<SkippedFireEvent>,
      @Inject(SKIPPED_FIRES) readonly sameStream: unknown,
    ) {
      skipped.subscribe((event) => void this.seen.push(event));
    }
  }
  const { app, clock } = await started({ options: { claimer }, providers: [Jobs, Watcher] });
  await clock.advance(60_000);
  const watcher = app.get(Watcher);
  expect(watcher.claimer).toBe(claimer);
  expect(watcher.elector).toBeNull();
  expect(watcher.clock).toBe(clock);
  expect(watcher.seen).toEqual([
    {
      entry: 'job',
      fireKey: 'job@2026-01-01T00:01:00Z',
      scheduledAt: new Date('2026-01-01T00:01:00Z'),
      reason: 'already-claimed',
      superseded: false,
    },
  ]);
  await app.close();
});

it('the streams complete when the application closes', async () => {
  let completed = 0;
  const { app } = await started({ providers: [Jobs] });
  app.get<Observable<SkippedFireEvent>>(SKIPPED_FIRES).subscribe({ complete: () => void completed++ });
  await app.close();
  expect(completed).toBe(1);
});
