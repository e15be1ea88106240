import { describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import {
  type Claimer,
  DistributedCron,
  type DistributedCronModuleOptions,
  EntryInUseError,
  EntryNotFoundError,
  FleetPauseUnavailableError,
  ForgetUnavailableError,
  MemoryBackend,
  MemoryStore,
} from 'nestjs-distributed-cron';
import { VirtualClock } from 'nestjs-distributed-cron/testing';
import { started } from './application.fixture.js';

/** Applications on one store, and what ran on any of them. */
function fleetOf() {
  const clock = new VirtualClock('2026-01-01T00:00:30Z');
  const store = new MemoryStore({ clock });
  const ran: string[] = [];
  @Injectable()
  class Jobs {
    @DistributedCron('* * * * *', { key: 'job' })
    run(fire: { fireKey: string; origin: string }) {
      ran.push(`${fire.origin} ${fire.fireKey}`);
    }
  }
  const replica = (options: DistributedCronModuleOptions = {}) =>
    started({ clock, options: { backend: new MemoryBackend({ store }), ...options }, providers: [Jobs] });
  return { clock, store, ran, replica };
}

describe('a pause of the fleet', () => {
  it('holds on every replica from the next fire on, on those that start later too, until somebody resumes it', async () => {
    const { clock, ran, replica } = fleetOf();
    const [one, two] = [await replica(), await replica()];
    await one.registry.pause('job', { scope: 'fleet' });
    expect(one.ofType('entry.paused')).toMatchObject([{ entryKey: 'job', scope: 'fleet' }]);
    await one.app.close();
    const three = await replica();
    await clock.advance(120_000);
    expect(ran).toEqual([]);
    for (const { story } of [two, three]) expect(story()).toEqual(['rejected paused', 'rejected paused']);

    await three.registry.resume('job', { scope: 'fleet' });
    await clock.advance(60_000);
    expect(ran).toEqual(['schedule job@2026-01-01T00:03:00Z']);
    await Promise.all([two.app.close(), three.app.close()]);
  });

  it('leaves manual triggers alone, and a pause of one replica beside it', async () => {
    const { clock, ran, replica } = fleetOf();
    const [one, two] = [await replica(), await replica()];
    one.registry.pause('job');
    await one.registry.pause('job', { scope: 'fleet' });
    await one.registry.triggerAndWait('job');
    expect(ran).toHaveLength(1);
    await two.registry.resume('job', { scope: 'fleet' });
    await clock.advance(60_000);
    expect(one.story().at(-1)).toBe('rejected paused');
    expect(ran.slice(1)).toEqual(['schedule job@2026-01-01T00:01:00Z']);
    await Promise.all([one.app.close(), two.app.close()]);
  });

  it('that ends with catchUp is made up for by the missed policy, once over the fleet', async () => {
    const { clock, ran, replica } = fleetOf();
    const [one, two] = [await replica(), await replica()];
    await clock.advance(60_000);
    await one.registry.pause('job', { scope: 'fleet' });
    await clock.advance(600_000);
    await two.registry.resume('job', { scope: 'fleet', catchUp: true });
    await clock.advance(0);
    // The newest is within the tolerance, so it is an ordinary fire.
    expect(ran).toEqual(['schedule job@2026-01-01T00:01:00Z', 'schedule job@2026-01-01T00:11:00Z']);
    expect(two.ofType('fire.missed')).toMatchObject([{ foundBy: 'resume', policy: 'run-once', count: 9 }]);
    await Promise.all([one.app.close(), two.app.close()]);
  });

  const claimer: Claimer = { claim: async () => true };

  it.each<[string, DistributedCronModuleOptions, Claimer | null | undefined]>([
    ['there is no claimer', {}, undefined],
    ['the claimer cannot', { claimer }, undefined],
    ['the entry has none', { backend: new MemoryBackend() }, null],
    ['the entry has one of its own, which cannot', { backend: new MemoryBackend() }, claimer],
  ])('is refused where %s', async (_, options, own) => {
    const { app, registry, events } = await started({ options });
    registry.add('job', '* * * * *', () => undefined, own === undefined ? {} : { claimer: own });
    const before = events.length;
    await expect(registry.pause('job', { scope: 'fleet' })).rejects.toBeInstanceOf(FleetPauseUnavailableError);
    await expect(registry.resume('job', { scope: 'fleet' })).rejects.toMatchObject({ code: 'FLEET_PAUSE_UNAVAILABLE' });
    expect(events).toHaveLength(before);
    await app.close();
  });

  it('of an unknown key rejects with an EntryNotFoundError', async () => {
    const { app, registry } = await started();
    await expect(registry.pause('job', { scope: 'fleet' })).rejects.toBeInstanceOf(EntryNotFoundError);
    await expect(registry.resume('job', { scope: 'fleet' })).rejects.toBeInstanceOf(EntryNotFoundError);
    await app.close();
  });
});

describe('forget', () => {
  it('drops what the store keeps of a key, a pause of the fleet too', async () => {
    const { clock, ran, replica } = fleetOf();
    const { app, registry } = await replica();
    registry.add('old', '* * * * *', (fire) => void ran.push(`${fire.origin} ${fire.fireKey}`));
    await registry.pause('old', { scope: 'fleet' });
    registry.remove('old');
    await registry.forget('old');
    registry.add('old', '* * * * *', (fire) => void ran.push(`${fire.origin} ${fire.fireKey}`));
    await clock.advance(60_000);
    expect(ran.sort()).toEqual(['schedule job@2026-01-01T00:01:00Z', 'schedule old@2026-01-01T00:01:00Z']);
    await app.close();
  });

  it('is refused while the entry exists on this replica, also where configuration disables it', async () => {
    const { replica } = fleetOf();
    for (const options of [{}, { entries: { job: { enabled: false } } }]) {
      const { app, registry } = await replica(options);
      await expect(registry.forget('job')).rejects.toBeInstanceOf(EntryInUseError);
      await app.close();
    }
  });

  it.each<[string, DistributedCronModuleOptions]>([
    ['there is no store', {}],
    ['the claimer cannot', { claimer: { claim: async () => true } }],
  ])('is refused where %s', async (_, options) => {
    const { app, registry } = await started({ options });
    await expect(registry.forget('old')).rejects.toBeInstanceOf(ForgetUnavailableError);
    await app.close();
  });
});
