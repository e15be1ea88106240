import { describe, expect, it } from '@jest/globals';
import { VirtualClock } from '../testing/virtual-clock.js';
import { follow, held } from './fixtures/guarded.js';
import { limitTime } from './time-limit.js';

const LIMIT = { limitMs: 1_000, store: 'custom', operation: 'isLeader' };

describe('time limit', () => {
  it('passes an answer on, and leaves no timer', async () => {
    const clock = new VirtualClock();
    await expect(limitTime(clock, LIMIT, () => Promise.resolve(7))).resolves.toBe(7);
    expect(clock.pendingTimers).toBe(0);
  });

  it('needs no timer for an answer that is no promise', async () => {
    const clock = new VirtualClock();
    const answer = limitTime(clock, LIMIT, () => true);
    expect(clock.pendingTimers).toBe(0);
    await expect(answer).resolves.toBe(true);
  });

  it('passes on what was thrown or rejected, as it is, and leaves no timer', async () => {
    const clock = new VirtualClock();
    const thrown = { odd: true };
    await expect(
      limitTime(clock, LIMIT, () => {
        throw thrown;
      }),
    ).rejects.toBe(thrown);
    await expect(limitTime(clock, LIMIT, () => Promise.reject(thrown))).rejects.toBe(thrown);
    expect(clock.pendingTimers).toBe(0);
  });

  it('rejects at the limit, naming store and operation, and aborts the signal with that error', async () => {
    const clock = new VirtualClock();
    let signal: AbortSignal | undefined;
    const answer = follow(
      limitTime(clock, LIMIT, (given) => {
        signal = given;
        return new Promise(() => undefined);
      }),
    );
    await clock.advance(999);
    expect(answer.settled).toBe(false);
    expect(signal?.aborted).toBe(false);
    await clock.advance(1);
    expect(answer.reason).toMatchObject({
      code: 'COORDINATION_TIMEOUT',
      store: 'custom',
      operation: 'isLeader',
      message: 'custom isLeader: no answer within 1000 ms.',
    });
    expect(signal?.reason).toBe(answer.reason);
    expect(clock.pendingTimers).toBe(0);
  });

  it.each(['answer', 'fail'] as const)('takes no notice of a late %s', async (how) => {
    const clock = new VirtualClock();
    const late = held<boolean>();
    const answer = follow(limitTime(clock, LIMIT, () => late.promise));
    await clock.advance(1_000);
    // A rejection that nobody handles would end the run of this file.
    late[how](true);
    await clock.settle();
    expect(answer.reason).toMatchObject({ code: 'COORDINATION_TIMEOUT' });
  });

  it('rejects for a thenable that throws when it is looked at', async () => {
    const clock = new VirtualClock();
    const hostile = Object.defineProperty({}, 'then', {
      get() {
        throw new Error('no');
      },
    });
    await expect(limitTime(clock, LIMIT, () => hostile as Promise<boolean>)).rejects.toThrow('no');
    expect(clock.pendingTimers).toBe(0);
  });

  it('takes an answer that came in time but could not be read because the event loop was blocked', async () => {
    const clock = new VirtualClock();
    const unread = held<boolean>();
    const answer = follow(limitTime(clock, LIMIT, () => unread.promise));
    await clock.suspend(60_000);
    unread.answer(true);
    await clock.advance(1);
    expect(answer.value).toBe(true);
    expect(clock.pendingTimers).toBe(0);
  });

  it('gives a blocked event loop one turn, not more', async () => {
    const clock = new VirtualClock();
    const answer = follow(limitTime(clock, LIMIT, () => new Promise(() => undefined)));
    await clock.suspend(60_000);
    await clock.advance(1);
    expect(answer.reason).toMatchObject({ code: 'COORDINATION_TIMEOUT' });
  });
});
