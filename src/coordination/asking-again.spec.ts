import { describe, expect, it } from '@jest/globals';
import { busyWaitMs, failureWaitMs } from './ask-again.js';
import type { Claim, ClaimAnswer, Claimer } from './claimer.js';
import { CoordinationError, type CoordinationErrorCode } from './coordination-error.js';
import { batchClaimer, follow, guarded, held, request, word } from './fixtures/guarded.js';

const failure = (code: CoordinationErrorCode, aheadMs?: number) =>
  new CoordinationError(
    code,
    { store: 'fake', operation: 'claim', ...(aheadMs === undefined ? {} : { aheadMs }) },
    'no',
  );

const grant = (claims: readonly Claim[]) => claims.map((): ClaimAnswer => true);

/** Fails with each of the errors in turn, then grants. */
function failing(...errors: unknown[]) {
  return batchClaimer(async (claims) => {
    if (errors.length > 0) throw errors.shift();
    return grant(claims);
  });
}

describe('asking again', () => {
  it.each(['COORDINATION_TIMEOUT', 'STORE_BUSY', 'COORDINATION_FAILED'] as const)(
    'a repeatable backend is asked again with the same claim id after %s',
    async (code) => {
      const { claimer, batches } = failing(failure(code), failure(code));
      const { guard, clock } = guarded({ claimer });
      const claim = follow(guard.claim(request('a', { claimId: 'pass-1' })));
      await clock.advance(1_000);
      expect(claim.value).toEqual({ kind: 'granted' });
      expect(batches.map(([ask]) => ask?.context.claimId)).toEqual(['pass-1', 'pass-1', 'pass-1']);
      expect(clock.pendingTimers).toBe(0);
    },
  );

  it('an answer that was lost costs no fire', async () => {
    let calls = 0;
    const { claimer } = batchClaimer((claims) =>
      calls++ === 0 ? new Promise(() => undefined) : Promise.resolve(grant(claims)),
    );
    const { guard, clock } = guarded({ claimer });
    const claim = follow(guard.claim(request('a')));
    await clock.advance(5_100);
    expect(claim.value).toEqual({ kind: 'granted' });
  });

  it('a claimer that is not repeatable is asked exactly once', async () => {
    for (const repeatable of [undefined, false, 'true', 1]) {
      let asked = 0;
      const claimer = {
        repeatable,
        claim: async () => {
          asked += 1;
          throw failure('STORE_BUSY');
        },
      } as unknown as Claimer;
      const { guard, clock } = guarded({ claimer });
      expect(word(await guard.claim(request('a')))).toBe('STORE_BUSY');
      await clock.advance(60_000);
      expect(asked).toBe(1);
    }
  });

  it('a batch of a claimer that is not repeatable is asked exactly once, and not one by one', async () => {
    const { claimer, batches } = batchClaimer(() => Promise.reject(new Error('down')));
    const { guard, clock } = guarded({ claimer: { ...claimer, repeatable: false } });
    const claims = await Promise.all([guard.claim(request('a')), guard.claim(request('b'))]);
    expect(claims.map(word)).toEqual(['COORDINATION_FAILED', 'COORDINATION_FAILED']);
    await clock.advance(60_000);
    expect(batches).toHaveLength(1);
  });

  it('a repeatable claimer without batches is asked again too', async () => {
    let asked = 0;
    const { guard, clock } = guarded({
      claimer: { repeatable: true, claim: async () => (asked++ === 0 ? Promise.reject(failure('STORE_BUSY')) : true) },
    });
    const claim = follow(guard.claim(request('a')));
    await clock.advance(20);
    expect(claim.value).toEqual({ kind: 'granted' });
  });

  it('ends after claimPatience, with the last error', async () => {
    let n = 0;
    const { claimer } = batchClaimer(() => Promise.reject(new Error(`failure ${++n}`)));
    const { guard, clock } = guarded({ claimer }, { claimPatienceMs: 10_000 });
    const claim = follow(guard.claim(request('a')));
    await clock.advance(9_999);
    expect(claim.settled).toBe(false);
    await clock.advance(1);
    expect(claim.value).toMatchObject({ error: { message: `fake claim: failed: failure ${n}` } });
    await clock.advance(60_000);
    expect(claim.value).toMatchObject({ error: { message: `fake claim: failed: failure ${n}` } });
    expect(clock.pendingTimers).toBe(0);
  });

  it("ends at untilMs, the entry's next instant, where that comes first", async () => {
    const { claimer } = batchClaimer(() => Promise.reject(failure('STORE_BUSY')));
    const { guard, clock } = guarded({ claimer });
    const claim = follow(guard.claim(request('a', { untilMs: clock.now() + 700 })));
    await clock.advance(699);
    expect(claim.settled).toBe(false);
    await clock.advance(1);
    expect(word(claim.value as never)).toBe('STORE_BUSY');
    expect(clock.pendingTimers).toBe(0);
  });

  it('is not asked a last time when the timer of its end calls back a little early', async () => {
    const { claimer, batches } = batchClaimer(() => Promise.reject(failure('STORE_BUSY')));
    const { guard, clock } = guarded({ claimer }, { claimPatienceMs: 5 });
    const claim = follow(guard.claim(request('a')));
    await clock.settle();
    await clock.wakeEarly(0.6);
    expect(word(claim.value as never)).toBe('STORE_BUSY');
    expect(batches).toHaveLength(1);
  });

  it('asks at least once, and gives that ask its whole time, even if untilMs has passed', async () => {
    const slow = held<ClaimAnswer[]>();
    const { claimer, batches } = batchClaimer(() => slow.promise);
    const { guard, clock } = guarded({ claimer });
    const claim = follow(guard.claim(request('a', { untilMs: clock.now() - 1 })));
    await clock.advance(4_000);
    slow.answer([true]);
    await clock.settle();
    expect(claim.value).toEqual({ kind: 'granted' });
    expect(batches).toHaveLength(1);
  });

  it('waits no longer when the wall clock jumps past untilMs', async () => {
    const { claimer, batches } = batchClaimer(() => Promise.reject(failure('STORE_BUSY')));
    const { guard, clock } = guarded({ claimer });
    const claim = follow(guard.claim(request('a', { untilMs: clock.now() + 60_000 })));
    await clock.settle();
    clock.step(3_600_000);
    await clock.advance(20);
    expect(claim.settled).toBe(true);
    expect(batches).toHaveLength(1);
  });

  it('all that wait go in one batch, with one timer', async () => {
    let down = true;
    const { claimer, keys } = batchClaimer(async (claims) =>
      down ? Promise.reject(failure('STORE_BUSY')) : grant(claims),
    );
    const { guard, clock } = guarded({ claimer });
    const claims: Promise<unknown>[] = [];
    for (const key of ['a', 'b', 'c']) {
      claims.push(guard.claim(request(key)));
      await clock.settle();
    }
    expect(clock.pendingTimers).toBe(1);
    down = false;
    await clock.advance(20);
    await Promise.all(claims);
    expect(keys()).toEqual([['a'], ['b'], ['c'], ['a', 'b', 'c']]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('ten thousand waiting fires hold one timer and no call', async () => {
    const { claimer } = batchClaimer(() => Promise.reject(failure('STORE_BUSY')));
    const { guard, clock } = guarded({ claimer });
    const claims = Array.from({ length: 10_000 }, (_, i) => guard.claim(request(`entry-${i}`)));
    await clock.settle();
    expect(clock.pendingTimers).toBe(1);
    guard.stopAsking();
    expect(clock.pendingTimers).toBe(0);
    expect((await Promise.all(claims)).every((outcome) => word(outcome) === 'COORDINATION_STOPPED')).toBe(true);
  });

  it('one bad claim of a batch harms only itself', async () => {
    const { claimer } = batchClaimer(async (claims) => {
      if (claims.some(({ context }) => context.entryKey === 'bad')) throw new Error('cannot store this');
      return grant(claims);
    });
    const { guard, clock } = guarded({ claimer }, { claimPatienceMs: 1_000 });
    const claims = ['a', 'bad', 'c'].map((key) => follow(guard.claim(request(key))));
    await clock.settle();
    expect(claims.map(({ value }) => value && word(value))).toEqual(['granted', undefined, 'granted']);
    await clock.advance(1_000);
    expect(word(claims[1]?.value as never)).toBe('COORDINATION_FAILED');
    expect(clock.pendingTimers).toBe(0);
  });

  it('a bad claim that waits spoils no batch of those that wait with it', async () => {
    let busy = false;
    const { claimer, keys } = batchClaimer(async (claims) => {
      if (claims.some(({ context }) => context.entryKey === 'bad')) throw new Error('cannot store this');
      if (busy) throw failure('STORE_BUSY');
      return grant(claims);
    });
    const { guard, clock } = guarded({ claimer });
    void guard.claim(request('a'));
    void guard.claim(request('bad'));
    await clock.settle();
    busy = true;
    const later = follow(guard.claim(request('b')));
    await clock.settle();
    busy = false;
    await clock.advance(100);
    expect(later.value).toEqual({ kind: 'granted' });
    expect(keys().filter((batch) => batch.includes('bad') && batch.length > 1)).toEqual([['a', 'bad']]);
  });

  it('a store that is down is not asked a thousand times for a batch of a thousand', async () => {
    const { claimer, batches } = batchClaimer(() => Promise.reject(new Error('ECONNREFUSED')));
    const { guard, clock } = guarded({ claimer });
    for (let i = 0; i < 1_000; i++) void guard.claim(request(`entry-${i}`));
    await clock.settle();
    expect(batches.length).toBeLessThanOrEqual(20);
    guard.stopAsking();
  });

  it.each([
    [
      'STORE_BUSY',
      [
        ['a', 'b'],
        ['a', 'b'],
      ],
    ],
    ['COORDINATION_TIMEOUT', [['a', 'b'], ['a'], ['b']]],
  ] as const)('a batch that ends in %s is not asked one by one', async (code, expected) => {
    const { claimer, keys } = failing(failure(code));
    const { guard, clock } = guarded({ claimer });
    const claims = Promise.all([guard.claim(request('a')), guard.claim(request('b'))]);
    await clock.advance(100);
    await claims;
    expect(keys()).toEqual(expected);
  });

  it('an error for one claim of a batch asks again for that claim alone', async () => {
    let first = true;
    const { claimer, keys } = batchClaimer(async (claims) => {
      if (!first) return grant(claims);
      first = false;
      return [true, failure('STORE_BUSY'), false];
    });
    const { guard, clock } = guarded({ claimer });
    const claims = Promise.all(['a', 'b', 'c'].map((key) => guard.claim(request(key))));
    await clock.advance(20);
    expect((await claims).map(word)).toEqual(['granted', 'granted', 'refused']);
    expect(keys()).toEqual([['a', 'b', 'c'], ['b']]);
  });

  it('a wrong answer is not asked again: it would come again', async () => {
    const { claimer, batches } = batchClaimer(async () => ['true' as never]);
    const { guard, clock } = guarded({ claimer });
    expect(word(await guard.claim(request('a')))).toBe('COORDINATION_ANSWER');
    await clock.advance(60_000);
    expect(batches).toHaveLength(1);
  });
});

describe('a claim that the store finds early', () => {
  it("is asked again when the store's clock reaches it", async () => {
    const { claimer, batches } = failing(failure('CLOCK_AHEAD', 12_000));
    const { guard, clock } = guarded({ claimer });
    const claim = follow(guard.claim(request('a')));
    await clock.advance(11_999);
    expect(batches).toHaveLength(1);
    await clock.advance(1);
    expect(claim.value).toEqual({ kind: 'granted' });
  });

  it('keeps its time although others are asked again before', async () => {
    let n = 0;
    const { claimer, keys } = batchClaimer(async (claims) => {
      if (n++ === 0) return [failure('CLOCK_AHEAD', 12_000), failure('STORE_BUSY')];
      return grant(claims);
    });
    const { guard, clock } = guarded({ claimer });
    const claims = Promise.all([guard.claim(request('early')), guard.claim(request('busy'))]);
    await clock.settle();
    expect(clock.pendingTimers).toBe(1);
    await clock.advance(12_000);
    expect((await claims).map(word)).toEqual(['granted', 'granted']);
    expect(keys()).toEqual([['early', 'busy'], ['busy'], ['early']]);
    expect(clock.pendingTimers).toBe(0);
  });

  it.each([
    ['patience ends before', 30_000, Number.POSITIVE_INFINITY],
    ['the next instant comes before', 12_000, 10_000],
    ['nobody knows when', undefined, Number.POSITIVE_INFINITY],
  ])('is an error at once where %s', async (_, aheadMs, untilMs) => {
    const { claimer } = failing(failure('CLOCK_AHEAD', aheadMs));
    const { guard, clock } = guarded({ claimer });
    const outcome = await guard.claim(request('a', { untilMs: clock.now() + untilMs }));
    expect(word(outcome)).toBe('CLOCK_AHEAD');
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('waits', () => {
  const random = (fraction: number) => ({ fraction: () => fraction, uuid: () => '' });

  it('a busy store is waited for 1 to 20 ms', () => {
    expect(busyWaitMs(random(0))).toBe(1);
    expect(busyWaitMs(random(0.9999999))).toBe(20);
  });

  it('failures are waited for longer and longer, up to a second, at least half of it', () => {
    const bounds = [1, 2, 3, 4, 5, 6, 60, 6_000].map((failures) => [
      failureWaitMs(failures, random(0)),
      failureWaitMs(failures, random(0.9999999)),
    ]);
    expect(bounds).toEqual([
      [25, 50],
      [50, 100],
      [100, 200],
      [200, 400],
      [400, 800],
      [500, 1_000],
      [500, 1_000],
      [500, 1_000],
    ]);
  });
});
