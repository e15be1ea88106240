import { describe, expect, it } from '@jest/globals';
import type { Claim, ClaimAnswer, Claimer } from './claimer.js';
import { CoordinationError } from './coordination-error.js';
import { batchClaimer, follow, guarded, held, request, word } from './fixtures/guarded.js';

const granting: Claimer = { claim: async () => true };
const busy = () => new CoordinationError('STORE_BUSY', { store: 'fake', operation: 'open' }, 'locked');

describe('opening', () => {
  it('happens once, with the settings, shared by concurrent calls and before the first claim', async () => {
    const opened = held<void>();
    const settings: unknown[] = [];
    const order: string[] = [];
    const { guard, clock } = guarded({
      claimer: {
        claim: async () => {
          order.push('claim');
          return true;
        },
      },
      open: (given) => {
        settings.push(given);
        order.push('open');
        return opened.promise;
      },
    });
    const claim = guard.claim(request('a'));
    const opening = Promise.all([guard.open(), guard.open()]);
    await clock.settle();
    expect(order).toEqual(['open']);
    opened.answer();
    await opening;
    expect(word(await claim)).toBe('granted');
    await guard.open();
    expect(settings).toEqual([{ maxClockSkewMs: 10_000, retentionMs: 3_600_000, coordinationTimeoutMs: 5_000 }]);
  });

  it('is tried again by the next use after a failure, and rejects with a CoordinationError', async () => {
    let attempts = 0;
    const { guard } = guarded({
      claimer: granting,
      open: async () => {
        attempts += 1;
        if (attempts === 1) throw new Error('no such host');
      },
    });
    await expect(guard.open()).rejects.toMatchObject({
      name: 'CoordinationError',
      code: 'COORDINATION_FAILED',
      operation: 'open',
      cause: { message: 'no such host' },
    });
    expect(word(await guard.claim(request('a')))).toBe('granted');
    expect(attempts).toBe(2);
  });

  it('is an error of the claims that wait for it, which a repeatable backend asks again', async () => {
    let attempts = 0;
    const open = async () => {
      attempts += 1;
      if (attempts < 3) throw new Error('not yet');
    };
    const once = guarded({ claimer: granting, open });
    expect(await once.guard.claim(request('a'))).toMatchObject({ kind: 'error', error: { operation: 'open' } });

    attempts = 0;
    const { claimer } = batchClaimer(async (claims) => claims.map(() => true));
    const { guard, clock } = guarded({ claimer, open });
    const claim = follow(guard.claim(request('a')));
    await clock.advance(1_000);
    expect(claim.value).toEqual({ kind: 'granted' });
  });

  it('asks a busy store again, within its time limit', async () => {
    let attempts = 0;
    const { guard, clock } = guarded({
      claimer: granting,
      open: async () => {
        attempts += 1;
        throw busy();
      },
    });
    const opening = follow(guard.open());
    await clock.advance(4_900);
    expect(opening.settled).toBe(false);
    expect(attempts).toBeGreaterThan(100);
    await clock.advance(100);
    expect(opening.reason).toMatchObject({ code: 'STORE_BUSY' });
    expect(clock.pendingTimers).toBe(0);
  });

  it('has a time limit', async () => {
    const { guard, clock } = guarded({ claimer: granting, open: () => new Promise(() => undefined) });
    const opening = follow(guard.open());
    await clock.advance(5_000);
    expect(opening.reason).toMatchObject({ code: 'COORDINATION_TIMEOUT', operation: 'open' });
  });
});

describe('stopping to ask', () => {
  function paused() {
    const answer = held<readonly ClaimAnswer[]>();
    const { claimer, batches } = batchClaimer(() => answer.promise);
    return { answer, batches, ...guarded({ claimer }) };
  }

  it('ends what was requested and not asked', async () => {
    const { guard, batches } = paused();
    const claim = guard.claim(request('a'));
    guard.stopAsking();
    expect(word(await claim)).toBe('COORDINATION_STOPPED');
    expect(word(await guard.claim(request('b')))).toBe('COORDINATION_STOPPED');
    expect(batches).toHaveLength(0);
  });

  it('ends what waits to be asked again, naming the error it waited for, and leaves no timer', async () => {
    const { claimer, batches } = batchClaimer(() => Promise.reject(busy()));
    const { guard, clock } = guarded({ claimer });
    const claim = follow(guard.claim(request('a')));
    await clock.settle();
    guard.stopAsking();
    await clock.settle();
    expect(claim.value).toMatchObject({ error: { code: 'COORDINATION_STOPPED', cause: { code: 'STORE_BUSY' } } });
    expect(clock.pendingTimers).toBe(0);
    await clock.advance(60_000);
    expect(batches).toHaveLength(1);
  });

  it('leaves what is on the wire, which may still be granted', async () => {
    const { guard, clock, answer } = paused();
    const claim = follow(guard.claim(request('a')));
    await clock.settle();
    guard.stopAsking();
    await clock.settle();
    expect(claim.settled).toBe(false);
    answer.answer([true]);
    await clock.settle();
    expect(claim.value).toEqual({ kind: 'granted' });
  });

  it('does not ask again for what fails on the wire', async () => {
    const { guard, clock, answer, batches } = paused();
    const claims = [follow(guard.claim(request('a'))), follow(guard.claim(request('b')))];
    await clock.settle();
    guard.stopAsking();
    answer.fail(new Error('connection lost'));
    await clock.advance(60_000);
    expect(claims.map(({ value }) => value && word(value))).toEqual(['COORDINATION_FAILED', 'COORDINATION_FAILED']);
    expect(batches).toHaveLength(1);
  });

  it('asks nothing for a claim that was waiting for the backend to open', async () => {
    const opened = held<void>();
    const { claimer, batches } = batchClaimer(async (claims: readonly Claim[]) => claims.map(() => true));
    const { guard, clock } = guarded({ claimer, open: () => opened.promise });
    const claim = follow(guard.claim(request('a')));
    await clock.settle();
    guard.stopAsking();
    opened.answer();
    await clock.settle();
    expect(word(claim.value as never)).toBe('COORDINATION_STOPPED');
    expect(batches).toHaveLength(0);
  });
});

describe('closing', () => {
  it('happens once, after the calls on the wire', async () => {
    const answer = held<boolean>();
    let closed = 0;
    const { guard, clock } = guarded({
      claimer: { claim: () => answer.promise },
      close: async () => {
        closed += 1;
      },
    });
    const claim = follow(guard.claim(request('a')));
    await clock.settle();
    const closing = Promise.all([guard.close(), guard.close()]);
    await clock.settle();
    expect(closed).toBe(0);
    answer.answer(true);
    await closing;
    expect(claim.value).toEqual({ kind: 'granted' });
    expect(closed).toBe(1);
    expect(clock.pendingTimers).toBe(0);
  });

  it('waits no longer than coordinationTimeout for a call that hangs, and for a close that hangs', async () => {
    const { guard, clock } = guarded({
      claimer: { claim: () => new Promise(() => undefined) },
      close: () => new Promise(() => undefined),
    });
    void guard.claim(request('a'));
    await clock.settle();
    const closing = follow(guard.close());
    await clock.advance(10_000);
    expect(closing.reason).toMatchObject({ code: 'COORDINATION_TIMEOUT', operation: 'close' });
    expect(clock.pendingTimers).toBe(0);
  });

  it('closes nothing that was never opened', async () => {
    let closed = false;
    const { guard } = guarded({
      claimer: granting,
      open: async () => undefined,
      close: async () => {
        closed = true;
      },
    });
    await guard.close();
    expect(closed).toBe(false);
  });

  it('refuses whatever is asked after it', async () => {
    const { guard } = guarded({ claimer: granting, now: async () => 0 });
    await guard.close();
    await expect(guard.open()).rejects.toMatchObject({ code: 'COORDINATION_STOPPED' });
    await expect(guard.clockOffsetMs()).rejects.toMatchObject({ code: 'COORDINATION_STOPPED' });
    expect(word(await guard.claim(request('a')))).toBe('COORDINATION_STOPPED');
  });
});

describe('clock offset', () => {
  it("is the store's clock less ours at the middle of the call", async () => {
    const answer = held<number>();
    const { guard, clock } = guarded({ claimer: granting, now: () => answer.promise });
    const startMs = clock.now();
    const offset = guard.clockOffsetMs();
    await clock.advance(100);
    answer.answer(startMs + 50 + 2_000);
    await expect(offset).resolves.toBe(2_000);
  });

  it('is not told by a store without a clock', async () => {
    await expect(guarded({ claimer: granting }).guard.clockOffsetMs()).resolves.toBeUndefined();
  });

  it.each([Number.NaN, '5', undefined])('is an error where the store answers %p', async (answer) => {
    const { guard } = guarded({ claimer: granting, now: async () => answer as number });
    await expect(guard.clockOffsetMs()).rejects.toMatchObject({ code: 'COORDINATION_ANSWER', operation: 'now' });
  });

  it('has a time limit', async () => {
    const { guard, clock } = guarded({ claimer: granting, now: () => new Promise(() => undefined) });
    const offset = follow(guard.clockOffsetMs());
    await clock.advance(5_000);
    expect(offset.reason).toMatchObject({ code: 'COORDINATION_TIMEOUT', operation: 'now' });
  });
});
