import { describe, expect, it } from '@jest/globals';
import { SchedulerStoppedError } from '../domain/errors.js';
import type { FireContext } from '../fire/fire-context.js';
import { ABORT_GRACE_MS } from './drain.js';
import { chance, definition, every, follow, HOUR, heldMethod, MINUTE, replica, SECOND } from './replica.fixture.js';

/** A claimer whose answers are given by hand. */
function heldClaimer() {
  const asked = new Map<
    string,
    { readonly grant: () => void; readonly refuse: () => void; readonly fail: () => void }
  >();
  return {
    asked,
    claimer: {
      claim: (_: string, { entryKey }: { readonly entryKey: string }) =>
        new Promise<boolean>((resolve, reject) =>
          asked.set(entryKey, {
            grant: () => resolve(true),
            refuse: () => resolve(false),
            fail: () => reject(new Error('store')),
          }),
        ),
    },
  };
}

/** A method that ends when its signal is aborted, as a good one does. */
const untilAborted = ({ signal }: FireContext) =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));

/**
 * One method running, another due in a second, a third in its jitter wait, a fourth with its claim on the wire; then `drain` starts.
 */
async function inTheMiddle() {
  const { claimer, asked } = heldClaimer();
  const running = heldMethod();
  const it = replica({ claimer, random: chance(0.9) });
  const { scheduler, clock } = it;
  scheduler.add(definition('running', every(HOUR), { run: running.run }));
  scheduler.add(definition('on the wire', every(HOUR)));
  scheduler.add(definition('in jitter', every(HOUR), { jitterMs: 10 * MINUTE }));
  scheduler.start();
  await clock.advanceTo('2026-01-01T01:00:00Z');
  scheduler.add(definition('due in a second', every(SECOND)));
  asked.get('running')?.grant();
  await clock.settle();
  expect(it.story()).toEqual(['started']);
  return { ...it, asked, running };
}

describe('drain', () => {
  it('with a method running, one due in a second, one in jitter, one with its claim on the wire', async () => {
    const { clock, scheduler, asked, running, story, events } = await inTheMiddle();
    const drained = follow(scheduler.drain());
    await clock.advance(3 * SECOND);
    // No claim is asked any more.
    expect([...asked.keys()]).toEqual(['running', 'on the wire']);
    expect(story('in jitter')).toEqual(['canceled draining']);
    expect(story('due in a second')).toEqual([]);
    expect(drained.settled).toBe(false);
    // The one on the way runs if it is granted.
    asked.get('on the wire')?.grant();
    await clock.settle();
    expect(story('on the wire')).toEqual(['started', 'completed']);
    expect(drained.settled).toBe(false);
    running.calls[0]?.end();
    await clock.settle();
    expect(story('running')).toEqual(['started', 'completed']);
    expect(drained.settled).toBe(true);
    expect(clock.pendingTimers).toBe(0);
    expect(events.filter(({ type }) => type.startsWith('scheduler.'))).toMatchObject([
      { type: 'scheduler.started', entries: 3 },
      { type: 'scheduler.draining', running: 1 },
      { type: 'scheduler.stopped', aborted: 0 },
    ]);
    await clock.advance(HOUR);
    expect(events.at(-1)?.type).toBe('scheduler.stopped');
  });

  it.each(['refuse', 'fail'] as const)(
    'a claim on the wire whose answer is to %s ends in its own event',
    async (answer) => {
      const { clock, scheduler, asked, running, story } = await inTheMiddle();
      const drained = follow(scheduler.drain());
      asked.get('on the wire')?.[answer]();
      running.calls[0]?.end();
      await clock.settle();
      expect(story('on the wire')).toEqual([answer === 'refuse' ? 'skipped already-claimed' : 'skipped claim-error']);
      expect(drained.settled).toBe(true);
      expect(clock.pendingTimers).toBe(0);
    },
  );

  it('waits for a claim on the wire no longer than its time limit', async () => {
    const { clock, scheduler, running, story } = await inTheMiddle();
    const drained = follow(scheduler.drain());
    running.calls[0]?.end();
    await clock.advance(5 * SECOND - 1);
    expect(drained.settled).toBe(false);
    await clock.advance(1);
    expect(story('on the wire')).toEqual(['skipped claim-error']);
    expect(drained.settled).toBe(true);
    expect(clock.pendingTimers).toBe(0);
  });

  it('ends claims that wait to be asked again at once', async () => {
    const { clock, scheduler, story } = replica({
      claimer: { repeatable: true, claim: () => Promise.reject(new Error('down')) },
    });
    scheduler.add(definition('a', every(MINUTE)));
    scheduler.start();
    await clock.advance(MINUTE + SECOND);
    expect(story()).toEqual([]);
    const drained = follow(scheduler.drain());
    await clock.settle();
    expect(story()).toEqual(['skipped claim-error']);
    expect(drained.settled).toBe(true);
    expect(clock.pendingTimers).toBe(0);
  });

  it('aborts what runs at the deadline, with the reason; what ends on that is not given up', async () => {
    const { clock, scheduler, ofType } = replica({ drainDeadlineMs: 3 * SECOND });
    scheduler.add(definition('a', every(SECOND), { run: untilAborted }));
    scheduler.start();
    await clock.advance(SECOND);
    const drained = follow(scheduler.drain());
    await clock.advance(3 * SECOND - 1);
    expect(ofType('fire.failed')).toEqual([]);
    await clock.advance(1);
    expect(ofType('fire.failed')[0]?.error).toMatchObject({ code: 'DRAIN_DEADLINE', drainDeadlineMs: 3 * SECOND });
    expect(ofType('fire.returned-late')).toEqual([]);
    expect(ofType('scheduler.stopped')).toMatchObject([{ aborted: 1 }]);
    expect(drained.settled).toBe(true);
    expect(clock.pendingTimers).toBe(0);
  });

  it('a method that completes its work after the abort completes', async () => {
    const { clock, scheduler, story } = replica({ drainDeadlineMs: SECOND });
    const run = ({ signal }: FireContext) =>
      new Promise((resolve) => signal.addEventListener('abort', () => resolve(1)));
    scheduler.add(definition('a', every(SECOND), { run }));
    scheduler.start();
    await clock.advance(SECOND);
    void scheduler.drain();
    await clock.advance(SECOND);
    expect(story()).toEqual(['started', 'completed']);
  });

  it('is not held for longer than the grace by a method that ignores its signal, whatever its timeout', async () => {
    const { run, calls } = heldMethod();
    const { clock, scheduler, ofType, events } = replica({ drainDeadlineMs: 2 * SECOND });
    scheduler.add(definition('a', every(SECOND), { run, timeoutMs: HOUR }));
    scheduler.start();
    await clock.advance(SECOND);
    const drained = follow(scheduler.drain());
    await clock.advance(2 * SECOND + ABORT_GRACE_MS - 1);
    expect(drained.settled).toBe(false);
    await clock.advance(1);
    expect(drained.settled).toBe(true);
    expect(ofType('fire.failed')[0]?.error).toMatchObject({ code: 'DRAIN_DEADLINE' });
    expect(clock.pendingTimers).toBe(0);
    expect(scheduler.list()).toMatchObject([{ underWay: 1 }]);
    calls[0]?.end();
    await clock.settle();
    expect(events.at(-1)?.type).toBe('fire.returned-late');
    expect(scheduler.list()).toMatchObject([{ underWay: 0 }]);
  });

  it('a claim that is granted after the deadline does not start its method', async () => {
    const { clock, scheduler, asked, running, story, ofType } = await inTheMiddle();
    const stopped = follow(scheduler.stop());
    await clock.settle();
    running.calls[0]?.end();
    asked.get('on the wire')?.grant();
    await clock.settle();
    expect(story('on the wire')).toEqual(['failed']);
    expect(ofType('fire.failed').at(-1)?.error).toMatchObject({ code: 'DRAIN_DEADLINE' });
    expect(stopped.settled).toBe(true);
  });

  it('is one: every call, and stop, answers the same promise', async () => {
    const { clock, scheduler, ofType } = replica();
    scheduler.start();
    const first = scheduler.drain();
    expect(scheduler.drain()).toBe(first);
    expect(scheduler.stop()).toBe(first);
    await clock.settle();
    await first;
    expect(scheduler.drain()).toBe(first);
    expect(ofType('scheduler.draining')).toHaveLength(1);
    expect(ofType('scheduler.stopped')).toHaveLength(1);
  });

  it('is one also for a subscriber that drains when it hears of the drain', async () => {
    const { clock, scheduler, stream, ofType, subscriberErrors } = replica();
    const promises: Promise<void>[] = [];
    stream.events$.subscribe(({ type }) => {
      if (type === 'scheduler.draining') promises.push(scheduler.drain());
    });
    scheduler.start();
    promises.push(scheduler.drain());
    await clock.settle();
    await Promise.all(promises);
    expect(new Set(promises).size).toBe(1);
    expect(ofType('scheduler.draining')).toHaveLength(1);
    expect(subscriberErrors).toEqual([]);
  });

  it('stop during a drain brings the deadline forward to now', async () => {
    const { clock, scheduler, ofType } = replica({ drainDeadlineMs: HOUR });
    scheduler.add(definition('a', every(SECOND), { run: untilAborted }));
    scheduler.start();
    await clock.advance(SECOND);
    const drained = follow(scheduler.drain());
    await clock.advance(MINUTE);
    expect(drained.settled).toBe(false);
    void scheduler.stop();
    await clock.settle();
    expect(drained.settled).toBe(true);
    expect(ofType('scheduler.stopped')).toMatchObject([{ aborted: 1 }]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('that a method starts in its first stretch gives that method its time', async () => {
    const { run, calls } = heldMethod();
    const { clock, scheduler, story } = replica();
    scheduler.add(
      definition('a', every(HOUR), {
        run: () => {
          void scheduler.drain();
          return run();
        },
      }),
    );
    scheduler.start();
    scheduler.trigger('a');
    await clock.advance(5 * SECOND);
    expect(scheduler.state).toBe('draining');
    calls[0]?.end();
    await clock.settle();
    expect(story()).toEqual(['started', 'completed']);
    expect(scheduler.state).toBe('stopped');
    expect(clock.pendingTimers).toBe(0);
  });

  it('that a subscriber starts while the scheduler starts leaves nothing armed', async () => {
    const { clock, scheduler, stream, ofType } = replica();
    stream.events$.subscribe(({ type }) => {
      if (type === 'entry.scheduled') void scheduler.drain();
    });
    for (const key of ['a', 'b']) scheduler.add(definition(key, every(SECOND)));
    scheduler.start();
    await clock.advance(5 * SECOND);
    expect(scheduler.state).toBe('stopped');
    expect(ofType('scheduler.started')).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('of a scheduler that never started ends it; it cannot be started again', async () => {
    const { clock, scheduler, events } = replica();
    scheduler.add(definition('a', every(SECOND)));
    void scheduler.drain();
    await clock.settle();
    expect(scheduler.state).toBe('stopped');
    scheduler.start();
    await clock.advance(MINUTE);
    expect(events.map(({ type }) => type)).toEqual(['scheduler.draining', 'scheduler.stopped']);
    expect(clock.pendingTimers).toBe(0);
  });

  it('refuses what would begin something new, and allows what ends something', async () => {
    const { clock, scheduler } = replica();
    scheduler.add(definition('a', every(SECOND)));
    scheduler.start();
    void scheduler.drain();
    expect(() => scheduler.add(definition('b', every(SECOND)))).toThrow(SchedulerStoppedError);
    expect(() => scheduler.update('a', {})).toThrow(SchedulerStoppedError);
    await expect(scheduler.addAll([definition('b', every(SECOND))])).rejects.toThrow(SchedulerStoppedError);
    scheduler.pause('a');
    scheduler.resume('a');
    scheduler.remove('a');
    await clock.settle();
    expect(scheduler.list()).toEqual([]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('waits for a method whose time limit has passed and that still runs, since it may use what is closed next', async () => {
    const running = heldMethod();
    const { clock, scheduler, story } = replica();
    scheduler.add(definition('a', every(HOUR), { run: running.run, timeoutMs: SECOND }));
    scheduler.start();
    await clock.advance(HOUR + SECOND);
    expect(story()).toEqual(['started', 'failed']);
    const drained = follow(scheduler.drain());
    await clock.advance(2 * SECOND);
    expect(drained.settled).toBe(false);
    running.calls[0]?.end();
    await clock.settle();
    expect(drained.settled).toBe(true);
    expect(story()).toEqual(['started', 'failed', 'returned-late']);
    expect(clock.pendingTimers).toBe(0);
  });

  it('does not wait for such a method beyond the deadline', async () => {
    const { clock, scheduler, story } = replica({ drainDeadlineMs: 10 * SECOND });
    scheduler.add(definition('a', every(HOUR), { run: heldMethod().run, timeoutMs: SECOND }));
    scheduler.start();
    await clock.advance(HOUR + SECOND);
    const drained = follow(scheduler.drain());
    await clock.advance(10 * SECOND + ABORT_GRACE_MS);
    expect(drained.settled).toBe(true);
    expect(story()).toEqual(['started', 'failed']);
    expect(clock.pendingTimers).toBe(0);
  });
});
