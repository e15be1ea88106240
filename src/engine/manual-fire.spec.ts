import { describe, expect, it } from '@jest/globals';
import { EntryNotFoundError, FireRejectedError, SchedulerStoppedError, TimeoutError } from '../domain/errors.js';
import { currentFire } from '../fire/fire-context.js';
import { definition, every, follow, HOUR, heldMethod, replica, SECOND } from './replica.fixture.js';

describe('manual fire', () => {
  it('runs here and now: no jitter, no elector, no claimer', async () => {
    const asked: string[] = [];
    const { clock, scheduler, ofType } = replica({
      elector: { isLeader: () => asked.push('elector') < 0 },
      claimer: { claim: async () => asked.push('claimer') < 0 },
    });
    scheduler.add(definition('a', every(HOUR), { jitterMs: HOUR, run: () => 7 }));
    scheduler.start();
    await expect(scheduler.triggerAndWait('a')).resolves.toBe(7);
    const fire = scheduler.trigger('a');
    expect(asked).toEqual([]);
    expect(fire).toMatchObject({ entryKey: 'a', origin: 'manual', scheduledAt: new Date(clock.now()) });
    expect(fire.fireKey).toMatch(/^a@2026-01-01T00:00:00Z#manual-.+/);
    expect(ofType('fire.completed')[1]?.fire).toBe(fire);
    expect(new Set(ofType('fire.started').map((event) => event.fire.fireKey)).size).toBe(2);
  });

  it('works while the entry is paused, and does not resume it', async () => {
    const { clock, scheduler, story } = replica();
    scheduler.add(definition('a', every(SECOND)));
    scheduler.start();
    scheduler.pause('a');
    await scheduler.triggerAndWait('a');
    await clock.advance(SECOND);
    expect(story()).toEqual(['started', 'completed', 'rejected paused']);
  });

  it('works on a scheduler that was never started, which schedules nothing', async () => {
    const { clock, scheduler, events } = replica();
    scheduler.add(definition('a', every(SECOND), { run: () => 'ran' }));
    await expect(scheduler.triggerAndWait('a')).resolves.toBe('ran');
    expect(clock.pendingTimers).toBe(0);
    await clock.advance(HOUR);
    expect(events.map(({ type }) => type)).toEqual(['fire.started', 'fire.completed']);
    await scheduler.drain();
    expect(scheduler.state).toBe('stopped');
  });

  it('does not move the schedule: the armed instant stays', async () => {
    const { scheduler, ofType } = replica();
    scheduler.add(definition('a', every(HOUR)));
    scheduler.start();
    const [{ nextAt } = { nextAt: null }] = scheduler.list();
    await scheduler.triggerAndWait('a');
    expect(scheduler.list()[0]?.nextAt).toEqual(nextAt);
    expect(ofType('entry.scheduled')).toHaveLength(1);
  });

  it.each([
    ['overlap', { overlap: 'skip' }],
    ['concurrency-limit', { maxConcurrent: 1 }],
  ] as const)('is refused by %s: triggerAndWait rejects, trigger tells by its event', async (reason, policies) => {
    const { run, calls } = heldMethod();
    const { clock, scheduler, ofType } = replica();
    scheduler.add(definition('a', every(SECOND), { ...policies, run }));
    scheduler.start();
    await clock.advance(SECOND);
    const refused = follow(scheduler.triggerAndWait('a'));
    await clock.settle();
    expect(refused.reason).toBeInstanceOf(FireRejectedError);
    expect(refused.reason).toMatchObject({ reason, entryKey: 'a', code: 'FIRE_REJECTED' });
    expect(() => scheduler.trigger('a')).not.toThrow();
    expect(ofType('fire.rejected').map((event) => event.reason)).toEqual([reason, reason]);
    calls[0]?.end();
    await clock.settle();
    const taken = follow(scheduler.triggerAndWait('a'));
    calls[1]?.end('later');
    await clock.settle();
    expect(taken.value).toBe('later');
  });

  it('holds the slot that a scheduled fire would need', async () => {
    const { run, calls } = heldMethod();
    const { clock, scheduler, story } = replica();
    scheduler.add(definition('a', every(SECOND), { overlap: 'skip', run }));
    scheduler.start();
    scheduler.trigger('a');
    await clock.advance(SECOND);
    calls[0]?.end();
    await clock.settle();
    expect(story()).toEqual(['started', 'rejected overlap', 'completed']);
  });

  it.each([new Error('no'), undefined, 'a text'])('triggerAndWait throws what the method threw: %p', async (error) => {
    const { scheduler, ofType } = replica();
    scheduler.add(definition('a', every(HOUR), { run: () => Promise.reject(error) }));
    await expect(scheduler.triggerAndWait('a')).rejects.toBe(error);
    expect(ofType('fire.failed')[0]?.error).toBe(error);
  });

  it('trigger throws nothing of the method, now or later', async () => {
    const { clock, scheduler, story } = replica();
    scheduler.add(
      definition('a', every(HOUR), {
        run: () => {
          throw new Error('at once');
        },
      }),
    );
    scheduler.add(definition('b', every(HOUR), { run: () => Promise.reject(new Error('later')) }));
    scheduler.trigger('a');
    scheduler.trigger('b');
    await clock.settle();
    expect(story()).toEqual(['started', 'failed', 'started', 'failed']);
  });

  it('has the timeout of its entry', async () => {
    const { clock, scheduler } = replica();
    scheduler.add(definition('a', every(HOUR), { timeoutMs: SECOND, run: () => new Promise(() => undefined) }));
    const waited = follow(scheduler.triggerAndWait('a'));
    await clock.advance(SECOND);
    expect(waited.reason).toBeInstanceOf(TimeoutError);
  });

  it('inside of a method sees its own fire; the caller sees its own again', async () => {
    const { clock, scheduler } = replica();
    const seen: (string | undefined)[] = [];
    scheduler.add(definition('inner', every(HOUR), { run: async () => void seen.push(currentFire()?.entryKey) }));
    scheduler.add(
      definition('outer', every(SECOND), {
        run: async () => {
          await scheduler.triggerAndWait('inner');
          seen.push(currentFire()?.entryKey);
        },
      }),
    );
    scheduler.start();
    await clock.advance(SECOND);
    expect(seen).toEqual(['inner', 'outer']);
  });

  it('of an unknown key is refused by name', async () => {
    const { scheduler } = replica();
    expect(() => scheduler.trigger('typo')).toThrow(EntryNotFoundError);
    await expect(scheduler.triggerAndWait('__proto__')).rejects.toThrow(EntryNotFoundError);
  });

  it('is refused from the moment a drain starts', async () => {
    const { clock, scheduler, story } = replica();
    scheduler.add(definition('a', every(HOUR)));
    const drained = scheduler.drain();
    expect(() => scheduler.trigger('a')).toThrow(SchedulerStoppedError);
    await expect(scheduler.triggerAndWait('a')).rejects.toThrow(SchedulerStoppedError);
    await clock.settle();
    await drained;
    expect(() => scheduler.trigger('a')).toThrow(SchedulerStoppedError);
    expect(story()).toEqual([]);
  });

  it('that waits is told when the drain gives its method up', async () => {
    const { clock, scheduler } = replica();
    scheduler.add(definition('a', every(HOUR), { run: () => new Promise(() => undefined) }));
    const waited = follow(scheduler.triggerAndWait('a'));
    void scheduler.stop();
    await clock.advance(SECOND);
    expect(waited.reason).toMatchObject({ code: 'DRAIN_DEADLINE' });
  });
});
