import { describe, expect, it } from '@jest/globals';
import type { ClaimOutcome } from './claim-request.js';
import type { Claim, ClaimAnswer, Claimer } from './claimer.js';
import { batchClaimer, follow, guarded, request, word } from './fixtures/guarded.js';

/**
 * - `up`: answers at once. `refuses`: every call fails at once.
 * - `black hole`: a call that arrives in it is never answered. `paused`: a call that arrives in it is answered when the store goes on.
 */
type Mode = 'up' | 'refuses' | 'black hole' | 'paused';

function outage(mode: Mode = 'up', patience: { claimPatienceMs?: number } = {}) {
  const store = { mode, slowMs: 0 };
  let goOn: (() => void)[] = [];
  let onTheWire = 0;
  let mostOnTheWire = 0;
  const times: number[] = [];
  const answer = async (claims: readonly Claim[]): Promise<ClaimAnswer[]> => {
    times.push(clock.monotonic());
    if (store.mode === 'refuses') throw new Error('ECONNREFUSED');
    if (store.mode === 'black hole') return new Promise(() => undefined);
    if (store.mode === 'paused') await new Promise<void>((resolve) => goOn.push(resolve));
    if (store.slowMs > 0) await new Promise<void>((resolve) => clock.setTimer(resolve, store.slowMs));
    return claims.map(() => true);
  };
  const { claimer, batches, keys } = batchClaimer((claims, signal) => {
    onTheWire += 1;
    mostOnTheWire = Math.max(mostOnTheWire, onTheWire);
    const ended = () => {
      onTheWire -= 1;
    };
    signal.addEventListener('abort', ended, { once: true });
    const answered = answer(claims);
    answered.then(ended, ended);
    return answered;
  });
  const { guard, clock } = guarded({ claimer }, patience);
  const comeBack = () => {
    store.mode = 'up';
    for (const resolve of goOn.splice(0)) resolve();
    goOn = [];
  };
  return { store, guard, clock, batches, keys, times, comeBack, most: () => mostOnTheWire };
}

type Outage = ReturnType<typeof outage>;

/** Claims one fire, which waits until its next instant. */
const fire = ({ guard, clock }: Outage, entryKey: string, periodMs: number) => {
  const scheduledAt = new Date(clock.now());
  const outcome = guard.claim(
    request(entryKey, { scheduledAt, claimId: `${entryKey} ${clock.now()}`, untilMs: clock.now() + periodMs }),
  );
  return follow(outcome);
};

const words = (fires: readonly { value?: ClaimOutcome }[]) => [
  ...new Set(fires.map(({ value }) => (value === undefined ? 'waits' : word(value)))),
];

/** Fires 150 entries every 2 s and 150 every 30 s for as long as is said. */
async function fires(store: Outage, forMs: number) {
  const short: ReturnType<typeof fire>[] = [];
  const long: ReturnType<typeof fire>[] = [];
  for (let atMs = 0; atMs < forMs; atMs += 2_000) {
    if (atMs % 30_000 === 0) for (let i = 0; i < 150; i += 1) long.push(fire(store, `long ${i}`, 30_000));
    for (let i = 0; i < 150; i += 1) short.push(fire(store, `short ${i}`, 2_000));
    await store.clock.advance(Math.min(2_000, forMs - atMs));
  }
  return { short, long };
}

describe('an outage of ten seconds, with 300 entries of 2 s and of 30 s', () => {
  it.each([
    // 1 batch, 16 of it one by one, then probes: 5 while the wait doubles, and one each 0.75 s.
    ['refuses', 34, 1],
    // 3 batches until the first of them times out after 5 s, then a probe each 0.75 s.
    ['black hole', 11, 3],
    ['paused', 11, 3],
  ] as const)(
    'of a store that is in mode "%s" costs at most %d calls, and all that wait go in one batch at its return',
    async (mode, most, atOnce) => {
      const store = outage(mode);
      const { short, long } = await fires(store, 10_000);
      expect(store.times.length).toBeLessThanOrEqual(most);
      // The batches of the start, or the 16 one by one; after them no more than two probes at a time.
      expect(store.most()).toBeLessThanOrEqual(mode === 'refuses' ? 16 : atOnce + 2);
      expect(words(long)).toEqual(['waits']);
      const asked = store.batches.length;
      store.comeBack();
      await store.clock.advance(1_000);
      expect(words(long)).toEqual(['granted']);
      const batches = store.batches.slice(asked).map((batch) => batch.length);
      expect(Math.max(...batches)).toBeGreaterThanOrEqual(149);
      expect(batches.length).toBeLessThanOrEqual(2);
      // A fire of the short ones ended when the next one came; only the last of each may wait.
      expect(words(short.slice(0, -150))).toEqual([
        mode === 'refuses' ? 'COORDINATION_FAILED' : 'COORDINATION_TIMEOUT',
      ]);
      await store.clock.advance(5_000);
      expect(store.clock.pendingTimers).toBe(0);
    },
  );

  it('holds one timer for all that wait, and one for each probe', async () => {
    const store = outage('black hole');
    await fires(store, 9_000);
    expect(store.clock.pendingTimers).toBeLessThanOrEqual(3);
    store.guard.stopAsking();
  });
});

describe('while a store is down', () => {
  it('new claims wait with the others, and no call goes for them', async () => {
    const store = outage('black hole');
    const first = ['a', 'b'].map((key) => fire(store, key, 60_000));
    await store.clock.advance(5_000);
    const asked = store.times.length;
    const later = Array.from({ length: 50 }, (_, i) => fire(store, `later ${i}`, 60_000));
    await store.clock.settle();
    expect(store.times.length).toBe(asked);
    expect(words([...first, ...later])).toEqual(['waits']);
    store.guard.stopAsking();
  });

  it('a newer fire of an entry finds the older one ended, with the error of the outage', async () => {
    const store = outage('refuses');
    const older = fire(store, 'a', 2_000);
    await store.clock.advance(2_000);
    const newer = fire(store, 'a', 2_000);
    await store.clock.settle();
    expect(words([older])).toEqual(['COORDINATION_FAILED']);
    expect(words([newer])).toEqual(['waits']);
    store.comeBack();
    await store.clock.advance(1_000);
    expect(words([newer])).toEqual(['granted']);
  });

  it('no claim waits longer than claimPatience, asked or not', async () => {
    const store = outage('refuses', { claimPatienceMs: 3_000 });
    const asked = fire(store, 'a', 60_000);
    await store.clock.advance(1_000);
    const unasked = fire(store, 'b', 60_000);
    const third = fire(store, 'c', 60_000);
    await store.clock.advance(1_999);
    expect(words([asked])).toEqual(['waits']);
    await store.clock.advance(1);
    expect(words([asked])).toEqual(['COORDINATION_FAILED']);
    await store.clock.advance(999);
    expect(words([unasked, third])).toEqual(['waits']);
    await store.clock.advance(1);
    expect(words([unasked, third])).toEqual(['COORDINATION_FAILED']);
  });

  it.each([
    ['refuses', 3_333],
    ['refuses', 12_345],
    ['black hole', 5_500],
    ['black hole', 9_999],
    ['black hole', 12_345],
    ['paused', 2_000],
    ['paused', 7_777],
  ] as const)('it is found within a second of its return: "%s" for %d ms', async (mode, forMs) => {
    const store = outage(mode);
    const lone = fire(store, 'lone', 60_000);
    await store.clock.advance(forMs);
    store.comeBack();
    await store.clock.advance(1_000);
    expect(words([lone])).toEqual(['granted']);
  });

  it('a paused store loses no fire of an entry whose period is longer than the pause', async () => {
    const store = outage('paused');
    const all = [10_500, 11_000, 30_000].map((periodMs) => fire(store, `every ${periodMs}`, periodMs));
    await store.clock.advance(4_000);
    all.push(fire(store, 'later', 10_500));
    await store.clock.advance(6_000);
    store.comeBack();
    await store.clock.settle();
    expect(words(all)).toEqual(['granted']);
  });

  it.each([2_000, 30_000])(
    'a store that comes back slow, answering after 2 s, is not locked out (entries of %d ms)',
    async (periodMs) => {
      const store = outage('black hole');
      store.store.slowMs = 2_000;
      const turns: ReturnType<typeof fire>[][] = [];
      const turn = async () => {
        turns.push(Array.from({ length: 10 }, (_, i) => fire(store, `entry ${i}`, periodMs)));
        await store.clock.advance(2_000);
      };
      for (let n = 0; n < 5; n += 1) await turn();
      store.comeBack();
      for (let n = 0; n < 10; n += 1) await turn();
      await store.clock.advance(5_000);
      // At most one coordinationTimeout until a probe with the whole of it went, and its 2 s.
      expect(turns.slice(9).map(words)).toEqual(turns.slice(9).map(() => ['granted']));
    },
  );

  it('the return is noticed by the answer of any call, also one that was sent before the outage was known', async () => {
    const store = outage('paused');
    const first = fire(store, 'a', 60_000);
    await store.clock.advance(4_900);
    const second = fire(store, 'b', 60_000);
    await store.clock.advance(200);
    const third = fire(store, 'c', 60_000);
    await store.clock.settle();
    store.comeBack();
    await store.clock.settle();
    expect(words([first, second, third])).toEqual(['granted']);
  });

  it('a store that is busy is not down: it is asked as before', async () => {
    let asked = 0;
    const { claimer } = batchClaimer(async (claims) => {
      asked += 1;
      if (asked === 1) throw Object.assign(new Error('locked'), { name: 'CoordinationError', code: 'STORE_BUSY' });
      return claims.map(() => true);
    });
    const { guard, clock } = guarded({ claimer });
    const first = follow(guard.claim(request('a')));
    await clock.settle();
    expect(word(await guard.claim(request('b')))).toBe('granted');
    await clock.advance(20);
    expect(words([first])).toEqual(['granted']);
  });

  it('an entry that the store chokes on delays the others by one question, not by an outage', async () => {
    const { claimer } = batchClaimer(async (claims) => {
      if (claims.some(({ context }) => context.entryKey === 'bad')) throw new Error('cannot store this');
      return claims.map(() => true);
    });
    const { guard, clock } = guarded({ claimer });
    const bad = follow(guard.claim(request('bad')));
    await clock.settle();
    const others = ['a', 'b', 'c'].map((key) => follow(guard.claim(request(key))));
    await clock.settle();
    expect(words(others)).toEqual(['granted']);
    for (let n = 0; n < 5; n += 1) {
      await clock.advance(100);
      expect(word(await guard.claim(request(`later ${n}`)))).toBe('granted');
    }
    await clock.advance(30_000);
    expect(words([bad])).toEqual(['COORDINATION_FAILED']);
    expect(clock.pendingTimers).toBe(0);
  });

  it('an entry that failed while others were answered is asked by itself from then on, and no other waits for it', async () => {
    const { claimer, keys } = batchClaimer(async (claims) => {
      if (claims.some(({ context }) => context.entryKey === 'bad')) throw new Error('cannot store this');
      return claims.map(() => true);
    });
    const { guard, clock } = guarded({ claimer });
    void guard.claim(request('bad'));
    void guard.claim(request('a'));
    await clock.settle();
    const before = keys().length;
    for (let turn = 0; turn < 50; turn += 1) {
      const both = [`b ${turn}`, `c ${turn}`].map((key) => follow(guard.claim(request(key))));
      await clock.settle();
      expect(words(both)).toEqual(['granted']);
      await clock.advance(50);
    }
    const later = keys().slice(before);
    expect(later.filter((batch) => batch.includes('bad') && batch.length > 1)).toEqual([]);
    // Every turn in one call: no probe went before it.
    expect(later.filter((batch) => !batch.includes('bad')).every((batch) => batch.length === 2)).toBe(true);
    guard.stopAsking();
  });

  it('an entry whose calls hang holds up the others for a second, not for as long as it hangs', async () => {
    let healthy = false;
    const { claimer } = batchClaimer(async (claims) => {
      if (!healthy && claims.some(({ context }) => context.entryKey === 'locked')) return new Promise(() => undefined);
      return claims.map(() => true);
    });
    const { guard, clock } = guarded({ claimer });
    const locked = follow(guard.claim(request('locked')));
    await clock.advance(5_000);
    // The probe for it hangs; one for another goes within a second.
    const other = follow(guard.claim(request('other', { untilMs: clock.now() + 10_000 })));
    await clock.advance(1_000);
    expect(words([other])).toEqual(['granted']);
    healthy = true;
    await clock.advance(10_000);
    expect(words([locked])).toEqual(['granted']);
  });

  it('a probe goes for a claim that none asks for yet', async () => {
    const store = outage('black hole');
    for (const key of ['a', 'b', 'c']) fire(store, key, 60_000);
    await store.clock.advance(7_000);
    const probed = store.keys().slice(1).flat();
    expect(probed.length).toBeGreaterThanOrEqual(2);
    expect(probed[0]).not.toBe(probed[1]);
    store.guard.stopAsking();
  });

  it('an ask that was cut short, because its claims end, tells nothing of the store when it times out', async () => {
    let asked = 0;
    const hang = new Promise<never>(() => undefined);
    const { claimer } = batchClaimer(async (claims) => {
      asked += 1;
      if (asked === 1) throw Object.assign(new Error('locked'), { name: 'CoordinationError', code: 'STORE_BUSY' });
      return asked === 2 ? hang : claims.map(() => true);
    });
    const { guard, clock } = guarded({ claimer });
    const short = follow(guard.claim(request('short', { untilMs: clock.now() + 500 })));
    await clock.advance(500);
    expect(words([short])).toEqual(['COORDINATION_TIMEOUT']);
    const two = ['a', 'b'].map((key) => follow(guard.claim(request(key))));
    await clock.settle();
    expect(words(two)).toEqual(['granted']);
    // In one call, not after a probe.
    expect(asked).toBe(3);
  });

  it('many entries that the store chokes on starve no other', async () => {
    const { claimer } = batchClaimer(async (claims) => {
      if (claims.some(({ context }) => context.entryKey.startsWith('bad'))) throw new Error('cannot store this');
      return claims.map(() => true);
    });
    const { guard, clock } = guarded({ claimer });
    for (let i = 0; i < 40; i += 1) void guard.claim(request(`bad ${i}`));
    const others = Array.from({ length: 40 }, (_, i) => follow(guard.claim(request(`good ${i}`))));
    await clock.advance(5_000);
    expect(words(others)).toEqual(['granted']);
    guard.stopAsking();
  });

  it('a claim that a probe asks for when the drain begins may still be granted; the others end', async () => {
    const store = outage('paused');
    const fires = ['a', 'b', 'c'].map((key) => fire(store, key, 60_000));
    await store.clock.advance(5_000);
    store.guard.stopAsking();
    await store.clock.settle();
    expect(fires.map(({ value }) => value && word(value)).sort()).toEqual([
      'COORDINATION_STOPPED',
      'COORDINATION_STOPPED',
      undefined,
    ]);
    store.comeBack();
    await store.clock.settle();
    expect(words(fires).sort()).toEqual(['COORDINATION_STOPPED', 'granted']);
    expect(store.clock.pendingTimers).toBe(0);
  });

  it('a claim that a probe asks for when the drain begins ends with the probe where that brings no answer', async () => {
    const store = outage('black hole');
    const only = fire(store, 'a', 60_000);
    await store.clock.advance(6_000);
    store.guard.stopAsking();
    const closed = follow(store.guard.close());
    await store.clock.advance(5_000);
    expect(words([only])).toEqual(['COORDINATION_TIMEOUT']);
    expect(closed.settled).toBe(true);
    expect(store.clock.pendingTimers).toBe(0);
  });
});

describe('a claimer that may be asked once only', () => {
  it('is asked for each claim directly, exactly once, however many have failed', async () => {
    const asked: string[] = [];
    const claimer: Claimer = {
      claim: async (fireKey) => {
        asked.push(fireKey);
        throw new Error('ECONNREFUSED');
      },
    };
    const { guard, clock } = guarded({ claimer });
    for (let n = 0; n < 10; n += 1) {
      expect(word(await guard.claim(request(`entry ${n}`)))).toBe('COORDINATION_FAILED');
      await clock.advance(10);
    }
    await clock.advance(60_000);
    expect(asked).toHaveLength(10);
    expect(clock.pendingTimers).toBe(0);
  });
});
