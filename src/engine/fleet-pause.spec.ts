import { describe, expect, it } from '@jest/globals';
import { MemoryBackend } from '../coordination/memory/memory-backend.js';
import { MemoryStore } from '../coordination/memory/memory-store.js';
import type { EntryPolicies } from '../domain/entry.js';
import { VirtualClock } from '../testing/virtual-clock.js';
import { mortal } from './mortal-backend.fixture.js';
import { definition, every, follow, MINUTE, replica, SECOND } from './replica.fixture.js';

/** Replicas on one store with one entry that fires every minute. More can be started later. */
function fleetOf(size: number, policies: Partial<EntryPolicies> = {}) {
  const clock = new VirtualClock();
  const store = new MemoryStore({ clock });
  const runs: string[] = [];
  const start = (id: string) => {
    const { life, backend } = mortal(new MemoryBackend({ store }));
    const made = replica({ id, clock, backend });
    made.scheduler.add(
      definition('job', every(MINUTE), { run: ({ fireKey }) => void runs.push(fireKey.slice(-9)), ...policies }),
    );
    made.scheduler.start();
    return { ...made, life };
  };
  const replicas = Array.from({ length: size }, (_, index) => start(`replica-${index}`));
  return { clock, store, runs, replicas, start };
}

type Replica = ReturnType<ReturnType<typeof fleetOf>['start']>;

describe('an entry that one replica pauses over the fleet', () => {
  it('is rejected as paused on every replica from the next fire on, and goes on after another has resumed it', async () => {
    const { clock, runs, replicas } = fleetOf(3);
    const [a, b, c] = replicas as [Replica, Replica, Replica];
    await clock.advance(MINUTE);
    expect(runs).toEqual(['00:01:00Z']);
    await a.scheduler.pauseFleet('job');
    expect(a.ofType('entry.paused')).toMatchObject([{ entryKey: 'job', scope: 'fleet' }]);
    await clock.advance(3 * MINUTE);
    expect(runs).toEqual(['00:01:00Z']);
    for (const { ofType } of replicas)
      expect(ofType('fire.rejected').map(({ reason }) => reason)).toEqual(['paused', 'paused', 'paused']);

    await c.scheduler.resumeFleet('job');
    expect(c.ofType('entry.resumed')).toMatchObject([{ entryKey: 'job', scope: 'fleet' }]);
    await clock.advance(2 * MINUTE);
    expect(runs).toEqual(['00:01:00Z', '00:05:00Z', '00:06:00Z']);
    expect(b.ofType('fire.missed')).toEqual([]);
  });

  it('stays paused for a fleet that restarts, and for one that never ran it', async () => {
    const { clock, runs, replicas, start } = fleetOf(1);
    const [first] = replicas as [Replica];
    await first.scheduler.pauseFleet('job');
    await first.scheduler.drain();
    const second = start('later');
    await clock.advance(3 * MINUTE);
    expect(runs).toEqual([]);
    expect(second.ofType('fire.rejected').map(({ reason }) => reason)).toEqual(['paused', 'paused', 'paused']);
  });

  it('can be run by hand', async () => {
    const { clock, runs, replicas } = fleetOf(2);
    const [a, b] = replicas as [Replica, Replica];
    await a.scheduler.pauseFleet('job');
    const ran = follow(b.scheduler.triggerAndWait('job'));
    await clock.settle();
    expect(ran.settled).toBe(true);
    expect(runs).toHaveLength(1);
  });

  it('makes up for nothing when it goes on, also not in a replica that starts afterwards', async () => {
    const { clock, runs, replicas, start } = fleetOf(1);
    const [first] = replicas as [Replica];
    await clock.advance(MINUTE);
    await first.scheduler.pauseFleet('job');
    await clock.advance(10 * MINUTE + SECOND);
    await first.scheduler.resumeFleet('job');
    await first.scheduler.drain();
    const second = start('later');
    await clock.advance(10 * SECOND);
    expect(second.ofType('fire.missed')).toEqual([]);
    expect(runs).toEqual(['00:01:00Z']);
  });

  it.each([
    ['run-once', ['00:03:00Z']],
    ['run-all', ['00:02:00Z', '00:03:00Z']],
    ['skip', []],
  ] as const)(
    'with catchUp the missed policy %s is applied to the pause, once over the fleet',
    async (missed, made) => {
      const { clock, runs, replicas } = fleetOf(3, { missed, missedToleranceMs: 0 });
      const [a, b] = replicas as [Replica, Replica];
      await clock.advance(MINUTE);
      await a.scheduler.pauseFleet('job');
      await clock.advance(2 * MINUTE + SECOND);
      await b.scheduler.resumeFleet('job', { catchUp: true });
      await clock.settle();
      expect(runs).toEqual(['00:01:00Z', ...made]);
      await clock.advance(MINUTE);
      expect(runs).toEqual(['00:01:00Z', ...made, '00:04:00Z']);
    },
  );

  it('is not resumed twice', async () => {
    const { replicas } = fleetOf(2);
    const [a, b] = replicas as [Replica, Replica];
    await a.scheduler.pauseFleet('job');
    await b.scheduler.resumeFleet('job');
    await a.scheduler.resumeFleet('job');
    expect(a.ofType('entry.resumed')).toEqual([]);
  });

  it('a store that does not answer rejects, and nothing is told', async () => {
    const { clock, replicas } = fleetOf(1);
    const [a] = replicas as [Replica];
    a.life.reaches = false;
    const asked = follow(a.scheduler.pauseFleet('job'));
    await clock.advance(6 * SECOND);
    expect(asked.reason).toMatchObject({ code: 'COORDINATION_TIMEOUT', operation: 'pause' });
    expect(a.ofType('entry.paused')).toEqual([]);
  });

  it.each([
    ['no claimer', {}],
    ['a claimer that cannot pause', { claimer: { claim: async () => true } }],
  ])('with %s it is refused by name', async (_, options) => {
    const { scheduler } = replica(options);
    scheduler.add(definition('job', every(MINUTE)));
    await expect(scheduler.pauseFleet('job')).rejects.toMatchObject({
      code: 'FLEET_PAUSE_UNAVAILABLE',
      entryKey: 'job',
    });
    await expect(scheduler.resumeFleet('job')).rejects.toMatchObject({ code: 'FLEET_PAUSE_UNAVAILABLE' });
    await expect(scheduler.pauseFleet('other')).rejects.toMatchObject({ code: 'ENTRY_NOT_FOUND' });
  });
});

describe('a key that is forgotten', () => {
  it('leaves nothing in the store', async () => {
    const { clock, replicas, store } = fleetOf(1);
    const [a] = replicas as [Replica];
    await clock.advance(MINUTE);
    expect(store.lastFire('shop', 'job')).toBeDefined();
    a.scheduler.remove('job');
    await a.scheduler.forget('job');
    expect(store.lastFire('shop', 'job')).toBeUndefined();
  });

  it('must not exist any more: its fires could be claimed again', async () => {
    const { clock, replicas, store } = fleetOf(1);
    await clock.advance(MINUTE);
    await expect(replicas[0]!.scheduler.forget('job')).rejects.toMatchObject({ code: 'ENTRY_IN_USE', entryKey: 'job' });
    expect(store.lastFire('shop', 'job')).toBeDefined();
  });

  it.each([
    ['no claimer', {}],
    ['a claimer that cannot forget', { claimer: { claim: async () => true } }],
  ])('with %s it is refused by name', async (_, options) => {
    await expect(replica(options).scheduler.forget('gone')).rejects.toMatchObject({ code: 'FORGET_UNAVAILABLE' });
  });
});
