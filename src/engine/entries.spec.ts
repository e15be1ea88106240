import { describe, expect, it } from '@jest/globals';
import { EntryExistsError, EntryNotFoundError } from '../domain/errors.js';
import { chance, definition, every, HOUR, heldMethod, MINUTE, replica, SECOND } from './replica.fixture.js';

describe('entries', () => {
  it('with one key are refused; keys that differ at all are two', () => {
    const { scheduler } = replica();
    for (const key of ['Job', 'job', '__proto__', 'constructor', 'job ', '🦊'])
      scheduler.add(definition(key, every(HOUR)));
    expect(() => scheduler.add(definition('job', every(HOUR)))).toThrow(EntryExistsError);
    expect(scheduler.list()).toHaveLength(6);
    scheduler.remove('__proto__');
    expect(scheduler.list()).toHaveLength(5);
  });

  it('of an unknown key are refused by name, in every operation', () => {
    const { scheduler } = replica();
    scheduler.add(definition('known', every(HOUR)));
    for (const ask of [
      () => scheduler.remove('typo'),
      () => scheduler.update('typo', {}),
      () => scheduler.pause('typo'),
      () => scheduler.resume('typo'),
      () => scheduler.next('typo'),
      () => scheduler.require('typo'),
    ]) {
      expect(ask).toThrow(EntryNotFoundError);
      expect(ask).toThrow('Known: known.');
    }
  });

  it('are armed when the scheduler starts, or when they are added to a started one', async () => {
    const { clock, scheduler, story } = replica();
    scheduler.add(definition('before', every(MINUTE)));
    await clock.advance(10 * MINUTE);
    expect(story()).toEqual([]);
    expect(scheduler.list()[0]?.nextAt).toBeNull();
    scheduler.start();
    scheduler.start();
    scheduler.add(definition('after', every(MINUTE)));
    expect(scheduler.list().map(({ nextAt }) => nextAt?.getTime())).toEqual([
      clock.now() + MINUTE,
      clock.now() + MINUTE,
    ]);
    await clock.advance(MINUTE);
    expect(story('before')).toEqual(['started', 'completed']);
    expect(story('after')).toEqual(['started', 'completed']);
  });

  it('removed in their jitter wait: the fire is canceled; a running method goes on', async () => {
    const { run, calls } = heldMethod();
    const { clock, scheduler, story } = replica({ random: chance(0.5) });
    scheduler.add(definition('waits', every(MINUTE), { jitterMs: 20 * SECOND }));
    scheduler.add(definition('runs', every(MINUTE), { run }));
    scheduler.start();
    await clock.advance(MINUTE);
    scheduler.remove('waits');
    scheduler.remove('runs');
    await clock.settle();
    expect(story('waits')).toEqual(['canceled removed']);
    expect(story('runs')).toEqual(['started']);
    calls[0]?.end();
    await clock.settle();
    expect(story('runs')).toEqual(['started', 'completed']);
    expect(clock.pendingTimers).toBe(0);
  });

  it('updated in their jitter wait: the fire is canceled, and the new definition counts from now on', async () => {
    const { clock, scheduler, story, ofType } = replica({ random: chance(0.5) });
    scheduler.add(definition('a', every(MINUTE), { jitterMs: 20 * SECOND }));
    scheduler.start();
    await clock.advance(MINUTE);
    scheduler.update('a', { schedule: every(90 * SECOND), run: () => 'new' });
    await clock.settle();
    expect(story()).toEqual(['canceled updated']);
    await clock.advance(40 * SECOND);
    expect(story()).toEqual(['canceled updated', 'started', 'completed']);
    expect(ofType('fire.started')[0]?.fire.scheduledAt).toEqual(new Date('2026-01-01T00:01:30Z'));
  });

  it('updated in what is not given keep it', async () => {
    const { clock, scheduler, ofType } = replica();
    let runs = 0;
    scheduler.add(definition('a', every(MINUTE), { run: () => ++runs }));
    scheduler.start();
    scheduler.update('a', { run: () => (runs += 100) });
    await clock.advance(MINUTE);
    expect(runs).toBe(100);
    expect(ofType('fire.completed')).toHaveLength(1);
    expect(scheduler.list()).toMatchObject([{ key: 'a', expression: 'every 60000 ms' }]);
  });

  it('paused: every due fire is rejected and told; resumed: they go on from now, and nothing is made up for', async () => {
    const { clock, scheduler, story, events } = replica();
    scheduler.add(definition('a', every(MINUTE)));
    scheduler.start();
    scheduler.pause('a');
    scheduler.pause('a');
    await clock.advance(3 * MINUTE);
    expect(scheduler.list()).toMatchObject([{ paused: true }]);
    scheduler.resume('a');
    scheduler.resume('a');
    await clock.advance(MINUTE);
    expect(story()).toEqual([...Array(3).fill('rejected paused'), 'started', 'completed']);
    expect(events.filter(({ type }) => type === 'entry.paused' || type === 'entry.resumed')).toHaveLength(2);
  });

  it('tell their next instants', () => {
    const { clock, scheduler } = replica();
    scheduler.add(definition('a', every(HOUR)));
    scheduler.add(definition('ended', { ...every(HOUR), next: () => null }));
    expect(scheduler.next('a', 3).map((date) => date.getTime() - clock.now())).toEqual([HOUR, 2 * HOUR, 3 * HOUR]);
    expect(scheduler.next('a')).toHaveLength(1);
    expect(scheduler.next('ended', 3)).toEqual([]);
  });

  it('in great number are added in stretches, with the event loop turning in between', async () => {
    const { clock, scheduler } = replica();
    const added = scheduler.addAll(Array.from({ length: 2_500 }, (_, i) => definition(`entry-${i}`, every(HOUR))));
    expect(scheduler.list()).toHaveLength(1_000);
    await added;
    expect(scheduler.list()).toHaveLength(2_500);
    // An application with a virtual clock starts before anybody moves it.
    expect(clock.monotonic()).toBe(0);
  });

  it('in great number are left out from where a drain begins', async () => {
    const { scheduler } = replica();
    const added = scheduler.addAll(Array.from({ length: 2_500 }, (_, i) => definition(`entry-${i}`, every(HOUR))));
    void scheduler.drain();
    await added;
    expect(scheduler.list()).toHaveLength(1_000);
  });

  it('10,000 added and removed leave no entry, nothing armed and no timer', async () => {
    const { clock, scheduler, events } = replica();
    scheduler.start();
    for (let round = 0; round < 2; round++) {
      for (let i = 0; i < 5_000; i++) scheduler.add(definition(`entry-${i}`, every(HOUR + i)));
      for (let i = 0; i < 5_000; i++) scheduler.remove(`entry-${(i * 7) % 5_000}`);
      expect(scheduler.list()).toEqual([]);
      expect(clock.pendingTimers).toBe(0);
    }
    events.length = 0;
    await clock.advance(3 * HOUR);
    expect(events).toEqual([]);
  });

  it.each(['updated', 'removed'] as const)(
    'an instant that was due when its entry was %s is told as canceled, also before the loop came to it',
    async (how) => {
      const { clock, scheduler, story } = replica();
      scheduler.add(definition('a', every(HOUR)));
      scheduler.start();
      // The loop is blocked: the clock goes on and no timer calls back.
      clock.step(HOUR + SECOND);
      if (how === 'updated') scheduler.update('a', { schedule: every(MINUTE) });
      else scheduler.remove('a');
      expect(story()).toEqual([`canceled ${how}`]);
    },
  );
});
