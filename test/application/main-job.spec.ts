import { expect, test } from '@jest/globals';
import { Injectable, Module } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  CLOCK,
  type CronEvent,
  DistributedCron,
  DistributedCronEvents,
  DistributedCronModule,
  DistributedCronRegistry,
  MemoryBackend,
  MemoryStore,
} from 'nestjs-distributed-cron';
import { VirtualClock } from 'nestjs-distributed-cron/testing';

async function replica(clock: VirtualClock, store: MemoryStore, runs: string[], name: string) {
  @Injectable()
  class Reports {
    @DistributedCron('*/10 * * * * *', { key: 'report' })
    run() {
      runs.push(name);
    }
  }
  const events: CronEvent[] = [];
  @Module({ imports: [DistributedCronModule.forRoot({ backend: new MemoryBackend({ store }) })], providers: [Reports] })
  class App {}
  const testing = await Test.createTestingModule({ imports: [App] })
    .overrideProvider(CLOCK)
    .useValue(clock)
    .compile();
  testing.get(DistributedCronEvents).events$.subscribe((event) => events.push(event));
  const app = await testing.init();
  return { app, events, registry: app.get(DistributedCronRegistry) };
}

test('three replicas, ten fires: ten runs, twenty already-claimed', async () => {
  const clock = new VirtualClock();
  const store = new MemoryStore({ clock });
  const runs: string[] = [];
  const replicas = await Promise.all(['a', 'b', 'c'].map((name) => replica(clock, store, runs, name)));
  await clock.advance(105_000);
  expect(runs).toHaveLength(10);
  const skipped = replicas.flatMap(({ events }) => events).filter((event) => event.type === 'fire.skipped');
  expect(skipped.map((event) => event.reason)).toEqual(Array(20).fill('already-claimed'));
  await Promise.all(replicas.map(({ app }) => app.close()));
  expect(clock.pendingTimers).toBe(0);
});
