import { describe, expect, it } from '@jest/globals';
import { systemRandom } from '../ambient/random.js';
import { MemoryElection } from '../coordination/memory/memory-elector.js';
import type { CronEvent } from '../events/cron-event.js';
import { at, chance, definition, every, fleet, HOUR, MINUTE, SECOND } from './replica.fixture.js';

const fireKeys = (events: readonly CronEvent[]) =>
  events.flatMap((event) => ('fire' in event ? [event.fire.fireKey] : []));

describe('fleet on one store', () => {
  it('two replicas, a 5 ms method, clocks 3 s apart, 90 s: one run per minute', async () => {
    const { clock, replicas } = fleet(2, (index) => ({ offsetMs: index * 3 * SECOND }));
    for (const { scheduler } of replicas) {
      const run = () => new Promise((end) => clock.setTimer(() => end(1), 5));
      scheduler.add(definition('minutely', every(MINUTE), { run }));
      scheduler.start();
    }
    await clock.advance(90 * SECOND);
    const runs = replicas.flatMap(({ ofType }) => fireKeys(ofType('fire.completed')));
    expect(runs).toEqual(['minutely@2026-01-01T00:01:00Z']);
    expect(replicas.flatMap(({ ofType }) => ofType('fire.skipped').map(({ reason }) => reason))).toEqual([
      'already-claimed',
    ]);
    await clock.advance(9 * MINUTE);
    const all = replicas.flatMap(({ ofType }) => fireKeys(ofType('fire.completed')));
    expect(new Set(all).size).toBe(10);
    expect(all).toHaveLength(10);
  });

  it('three replicas, ten fires: ten runs, twenty already-claimed, and nothing on a loser that reads as if it ran', async () => {
    const { clock, replicas } = fleet(3);
    for (const { scheduler } of replicas) {
      scheduler.add(definition('minutely', every(MINUTE)));
      scheduler.start();
    }
    await clock.advance(10 * MINUTE);
    const completed = replicas.flatMap(({ ofType }) => fireKeys(ofType('fire.completed')));
    expect(new Set(completed).size).toBe(10);
    expect(completed).toHaveLength(10);
    const skipped = replicas.flatMap(({ ofType }) => ofType('fire.skipped'));
    expect(skipped).toHaveLength(20);
    expect(new Set(skipped.map(({ reason }) => reason))).toEqual(new Set(['already-claimed']));
    for (const { events } of replicas) {
      const lost = new Set(events.flatMap((event) => (event.type === 'fire.skipped' ? [event.fire.fireKey] : [])));
      const told = events.filter((event) => 'fire' in event && lost.has(event.fire.fireKey));
      expect(told.map(({ type }) => type)).toEqual(Array(lost.size).fill('fire.skipped'));
    }
  });

  it('with jitter: one run per fire, shared among the replicas, each under its scheduled instant', async () => {
    const { clock, replicas } = fleet(3, () => ({ random: systemRandom }));
    for (const { scheduler } of replicas) {
      scheduler.add(definition('minutely', every(MINUTE), { jitterMs: 20 * SECOND }));
      scheduler.start();
    }
    await clock.advance(60 * MINUTE + 20 * SECOND);
    const started = replicas.map(({ ofType }) => ofType('fire.started'));
    const keys = started.flatMap(fireKeys);
    expect(new Set(keys).size).toBe(60);
    expect(keys).toHaveLength(60);
    expect(keys.every((key) => /^minutely@2026-01-01T0[01]:\d\d:00Z$/.test(key))).toBe(true);
    // Each replica draws its own wait: were one always first, this would come once in 2^60.
    expect(started.filter((events) => events.length > 0).length).toBeGreaterThan(1);
    expect(replicas.flatMap(({ ofType }) => ofType('fire.skipped'))).toHaveLength(120);
  });

  it('an entry that is removed and added again reaches its fire a second time: another claim id, and the answer is no', async () => {
    const { clock, replicas } = fleet(1);
    const [{ scheduler, story }] = replicas as [(typeof replicas)[0]];
    const instant = clock.now() + MINUTE;
    scheduler.add(definition('once', at(instant)));
    scheduler.start();
    await clock.advance(MINUTE);
    expect(story()).toEqual(['started', 'completed']);
    clock.step(-30 * SECOND);
    scheduler.remove('once');
    scheduler.add(definition('once', at(instant)));
    await clock.advance(30 * SECOND);
    expect(story()).toEqual(['started', 'completed', 'skipped already-claimed']);
  });

  it('an entry that is updated in the middle of its fire reaches it a second time, and runs once', async () => {
    const { clock, replicas } = fleet(1, () => ({ random: chance(0.5) }));
    const [{ scheduler, ofType, story }] = replicas as [(typeof replicas)[0]];
    scheduler.add(definition('minutely', every(MINUTE)));
    scheduler.start();
    await clock.advance(MINUTE);
    clock.step(-10 * SECOND);
    scheduler.update('minutely', { schedule: every(30 * SECOND) });
    await clock.advance(20 * SECOND);
    expect(story()).toEqual(['started', 'completed', 'skipped already-claimed']);
    expect(fireKeys(ofType('fire.skipped'))).toEqual(['minutely@2026-01-01T00:01:00Z']);
  });

  it('leadership that changes hands, with a claimer: one run per fire, also for replicas that disagree on the time', async () => {
    const election = new MemoryElection();
    const { clock, replicas } = fleet(2, (index) => ({
      offsetMs: index * 3 * SECOND,
      elector: election.elector(`replica-${index}`),
    }));
    for (const { scheduler } of replicas) {
      scheduler.add(definition('minutely', every(MINUTE)));
      scheduler.start();
    }
    election.elect('replica-1');
    await clock.advance(MINUTE - SECOND);
    // The one whose clock is ahead ran it; now the other leads, and its own minute begins a second later.
    election.elect('replica-0');
    await clock.advance(MINUTE - SECOND);
    const runs = replicas.flatMap(({ ofType }) => fireKeys(ofType('fire.completed')));
    expect(runs).toEqual(['minutely@2026-01-01T00:01:00Z']);
    const [first, second] = replicas.map(({ story }) => story());
    expect(first).toEqual(['skipped already-claimed']);
    expect(second).toEqual(['started', 'completed', 'skipped not-leader']);
  });

  it('elected by turns: a replica runs, skips, runs; the next instant is the same on both, and in the future', async () => {
    const election = new MemoryElection();
    const { clock, replicas } = fleet(2, (index) => ({ elector: election.elector(`replica-${index}`) }));
    for (const { scheduler } of replicas) {
      scheduler.add(definition('minutely', every(MINUTE)));
      scheduler.start();
    }
    for (const leader of ['replica-0', 'replica-1', 'replica-0']) {
      election.elect(leader);
      await clock.advance(MINUTE);
      const next = replicas.map(({ scheduler }) => scheduler.list()[0]?.nextAt?.getTime());
      expect(next).toEqual([clock.now() + MINUTE, clock.now() + MINUTE]);
    }
    expect(replicas[0]?.story()).toEqual(['started', 'completed', 'skipped not-leader', 'started', 'completed']);
    expect(replicas[1]?.story()).toEqual(['skipped not-leader', 'started', 'completed', 'skipped not-leader']);
  });

  it('a replica whose clock is an hour ahead eats no fire of the others', async () => {
    const { clock, replicas } = fleet(2, (index) => ({ offsetMs: index * HOUR }));
    for (const { scheduler } of replicas) {
      scheduler.add(definition('minutely', every(MINUTE)));
      scheduler.start();
    }
    await clock.advance(5 * MINUTE);
    expect(replicas[0]?.ofType('fire.completed')).toHaveLength(5);
    expect(replicas[1]?.ofType('fire.started')).toEqual([]);
    expect(replicas[1]?.ofType('fire.skipped')[0]).toMatchObject({
      reason: 'claim-error',
      error: { code: 'CLOCK_AHEAD' },
    });
  });

  it('replaced one by one under load: one run per instant before, during and after', async () => {
    const { clock, replicas } = fleet(8);
    const [...waiting] = replicas;
    const up: typeof replicas = [];
    const boot = () => {
      const next = waiting.shift()!;
      next.scheduler.add(definition('second', every(SECOND)));
      next.scheduler.start();
      up.push(next);
    };
    for (let i = 0; i < 4; i++) boot();
    await clock.advance(5_300);
    for (let i = 0; i < 4; i++) {
      boot();
      void up.shift()?.scheduler.drain();
      await clock.advance(1_700);
    }
    await clock.advance(5_000);
    const runs = replicas.flatMap(({ ofType }) => fireKeys(ofType('fire.completed')));
    const instants = Math.floor((clock.now() - Date.UTC(2026, 0, 1)) / SECOND);
    expect(new Set(runs).size).toBe(instants);
    expect(runs).toHaveLength(instants);
  });
});
