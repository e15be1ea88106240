import { describe, expect, it } from '@jest/globals';
import type { Claim, ClaimContext, Claimer } from '../coordination/claimer.js';
import { MemoryBackend } from '../coordination/memory/memory-backend.js';
import { MemoryStore } from '../coordination/memory/memory-store.js';
import { VirtualClock } from '../testing/virtual-clock.js';
import { chance, definition, every, type ReplicaOptions, replica, SECOND } from './replica.fixture.js';

/** A memory store that counts the round trips it takes. */
function counted(options: ReplicaOptions = {}) {
  const clock = new VirtualClock();
  const { claimer } = new MemoryBackend({ store: new MemoryStore({ clock }) });
  const trips: number[] = [];
  const counting: Claimer = {
    repeatable: true,
    claim: (key: string, context: ClaimContext) => {
      trips.push(1);
      return claimer.claim(key, context);
    },
    claimMany: (claims: readonly Claim[]) => {
      trips.push(claims.length);
      return claimer.claimMany(claims);
    },
  };
  return { trips, ...replica({ clock, claimer: counting, ...options }) };
}

describe('claims of one turn', () => {
  it.each<[string, ReplicaOptions, number]>([
    ['as they come', {}, 0],
    ['with an elector that answers at once', { elector: { isLeader: () => true } }, 0],
    ['with an elector that has to ask', { elector: { isLeader: async () => true } }, 0],
    [
      'with an elector that takes its time',
      {
        elector: {
          isLeader: async () => {
            for (let i = 0; i < 20; i++) await undefined;
            return true;
          },
        },
      },
      0,
    ],
    ['after equal jitter', { random: chance(0.5) }, 600],
    ['after equal jitter, with an elector', { random: chance(0.5), elector: { isLeader: async () => true } }, 600],
  ])('300 entries that are due together are one round trip: %s', async (_, options, jitterMs) => {
    const { clock, scheduler, trips, ofType } = counted(options);
    for (let i = 0; i < 300; i++) scheduler.add(definition(`entry-${i}`, every(SECOND), { jitterMs }));
    scheduler.start();
    await clock.advance(SECOND + jitterMs / 2);
    expect(trips).toEqual([300]);
    expect(ofType('fire.completed')).toHaveLength(300);
    await clock.advance(SECOND);
    expect(trips).toEqual([300, 300]);
  });

  it('of different turns are not held back for one another', async () => {
    const { clock, scheduler, trips } = counted();
    scheduler.add(definition('a', every(SECOND)));
    scheduler.add(definition('b', every(700)));
    scheduler.start();
    await clock.advance(SECOND);
    expect(trips).toEqual([1, 1]);
  });

  it('a plan that catches up many asks for all of them together, oldest first', async () => {
    const { clock, scheduler, trips, ofType } = counted();
    scheduler.add(definition('a', every(SECOND), { missed: 'run-all', missedToleranceMs: 0 }));
    scheduler.start();
    await clock.suspend(100 * SECOND + 1);
    expect(trips).toEqual([100]);
    const runs = ofType('fire.started').map(({ fire }) => fire.scheduledAt.getTime());
    expect(runs).toEqual(runs.toSorted((a, b) => a - b));
    expect(runs).toHaveLength(100);
  });

  it('are asked when the next instants are armed: a fire waits for its store until then, and no longer', async () => {
    const { clock, scheduler, story } = replica({
      claimer: { repeatable: true, claim: () => Promise.reject(new Error('down')) },
    });
    scheduler.add(definition('a', every(4 * SECOND)));
    scheduler.start();
    await clock.advance(8 * SECOND - 1);
    expect(story()).toEqual([]);
    await clock.advance(1);
    expect(story()).toEqual(['skipped claim-error']);
  });
});
