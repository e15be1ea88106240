import { AsyncLocalStorage } from 'node:async_hooks';
import { describe, expect, it } from '@jest/globals';
import { VirtualClock } from './virtual-clock.js';

const START = Date.UTC(2026, 0, 1);

describe('virtual clock', () => {
  it('stops at every due timer, shows its time, and lets what it set off settle before it goes on', async () => {
    const clock = new VirtualClock();
    const seen: string[] = [];
    clock.setTimer(() => {
      seen.push(`timer at ${clock.now() - START}`);
      void Promise.resolve()
        .then(() => undefined)
        .then(() => seen.push(`settled at ${clock.now() - START}`));
      clock.setTimer(() => seen.push(`set on the way at ${clock.now() - START}`), 5);
    }, 10);
    clock.setTimer(() => seen.push(`later at ${clock.now() - START}`), 20);
    await clock.advance(20);
    expect(seen).toEqual(['timer at 10', 'settled at 10', 'set on the way at 15', 'later at 20']);
    expect(clock.now() - START).toBe(20);
    expect(clock.monotonic()).toBe(20);
  });

  it('calls timers of one moment back in the order they were set', async () => {
    const clock = new VirtualClock();
    const seen: number[] = [];
    for (const n of [1, 2, 3]) clock.setTimer(() => seen.push(n), 7);
    await clock.advance(7);
    expect(seen).toEqual([1, 2, 3]);
  });

  it('a step moves the wall clock alone: no timer comes nearer', async () => {
    const clock = new VirtualClock();
    let called = false;
    clock.setTimer(() => {
      called = true;
    }, 1_000);
    clock.step(-3_600_000);
    clock.step(7_200_000);
    await clock.settle();
    expect(clock.now() - START).toBe(3_600_000);
    expect(clock.monotonic()).toBe(0);
    expect(called).toBe(false);
  });

  it('a suspension calls back nothing on the way, then all that is due, late', async () => {
    const clock = new VirtualClock();
    const seen: number[] = [];
    for (const ms of [10, 20, 200]) clock.setTimer(() => seen.push(clock.monotonic()), ms);
    await clock.suspend(100);
    expect(seen).toEqual([100, 100]);
    expect(clock.pendingTimers).toBe(1);
  });

  it('wakes the earliest timer early', async () => {
    const clock = new VirtualClock();
    let atMs = Number.NaN;
    clock.setTimer(() => {
      atMs = clock.monotonic();
    }, 1_000);
    await clock.wakeEarly(4);
    expect(atMs).toBe(996);
    await expect(clock.wakeEarly(4)).rejects.toThrow('no timer is set');
  });

  it('tells when so many timers are set', async () => {
    const clock = new VirtualClock();
    let told = false;
    const two = clock.waitForTimers(2).then(() => {
      told = true;
    });
    clock.setTimer(() => undefined, 1);
    await clock.settle();
    expect(told).toBe(false);
    clock.setTimer(() => undefined, 1);
    await two;
    await clock.waitForTimers(2);
  });

  it('calls a timer back in the context it was set in, as Node does', async () => {
    const clock = new VirtualClock();
    const context = new AsyncLocalStorage<string>();
    let seen: string | undefined;
    context.run('mine', () =>
      clock.setTimer(() => {
        seen = context.getStore();
      }, 5),
    );
    await clock.advance(5);
    expect(seen).toBe('mine');
  });

  it('a cleared timer is not called back, and no longer pending', async () => {
    const clock = new VirtualClock();
    const timer = clock.setTimer(() => {
      throw new Error('called');
    }, 5);
    clock.clearTimer(timer);
    expect(clock.pendingTimers).toBe(0);
    await clock.advance(10);
  });

  it.each([2 ** 31, Number.POSITIVE_INFINITY, Number.NaN])(
    'refuses a wait of %p ms, which Node would not wait',
    (ms) => {
      expect(() => new VirtualClock().setTimer(() => undefined, ms)).toThrow(RangeError);
    },
  );

  it('refuses to go back, to no instant, and to start at none', async () => {
    await expect(new VirtualClock().advance(-1)).rejects.toThrow(RangeError);
    await expect(new VirtualClock().advance(Number.NaN)).rejects.toThrow(RangeError);
    expect(() => new VirtualClock().advanceTo('2025-12-31')).toThrow(RangeError);
    expect(() => new VirtualClock('never')).toThrow(RangeError);
  });
});
