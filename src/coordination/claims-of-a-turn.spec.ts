import { describe, expect, it } from '@jest/globals';
import type { Claim, ClaimContext } from './claimer.js';
import { batchClaimer, follow, guarded, held, request, word } from './fixtures/guarded.js';

const grantAll = async (claims: readonly Claim[]) => claims.map(() => true);

describe('the claims of one turn', () => {
  it('travel in one call', async () => {
    const { claimer, keys } = batchClaimer(grantAll);
    const { guard } = guarded({ claimer });
    await Promise.all(['a', 'b', 'c'].map((key) => guard.claim(request(key))));
    expect(keys()).toEqual([['a', 'b', 'c']]);
  });

  it('travel in one call although some of them come a few microtasks later', async () => {
    const { claimer, keys } = batchClaimer(grantAll);
    const { guard } = guarded({ claimer });
    const early = guard.claim(request('a'));
    await undefined;
    const later = guard.claim(request('b'));
    await Promise.all([early, later]);
    expect(keys()).toEqual([['a', 'b']]);
  });

  it('do not wait for those of the next turn', async () => {
    const { claimer, keys } = batchClaimer(grantAll);
    const { guard, clock } = guarded({ claimer });
    const first = guard.claim(request('a'));
    await clock.settle();
    await Promise.all([first, guard.claim(request('b'))]);
    expect(keys()).toEqual([['a'], ['b']]);
  });

  it('carry what the store needs, and one signal per call', async () => {
    const { claimer, batches } = batchClaimer(grantAll);
    const { guard } = guarded({ claimer });
    const asked = request('a', { claimId: 'pass-1' });
    await Promise.all([guard.claim(asked), guard.claim(request('b'))]);
    const [a, b] = batches[0] as [Claim, Claim];
    expect(a.fireKey).toBe(asked.fireKey);
    expect(a.context).toEqual({
      namespace: 'shop',
      instanceId: 'replica-1',
      entryKey: 'a',
      scheduledAt: asked.scheduledAt,
      claimId: 'pass-1',
      schedule: 'every-minute',
      signal: expect.any(AbortSignal),
    });
    expect(a.context.signal).toBe(b.context.signal);
  });

  it('travel a thousand to a call, the calls at the same time', async () => {
    const answers = held<void>();
    const { claimer, batches } = batchClaimer(async (claims) => {
      await answers.promise;
      return claims.map(() => true);
    });
    const { guard, clock } = guarded({ claimer });
    const claims = Array.from({ length: 2_500 }, (_, i) => guard.claim(request(`entry-${i}`)));
    await clock.settle();
    expect(batches.map((batch) => batch.length)).toEqual([1_000, 1_000, 500]);
    expect(clock.pendingTimers).toBe(3);
    answers.answer();
    expect((await Promise.all(claims)).every(({ kind }) => kind === 'granted')).toBe(true);
    expect(clock.pendingTimers).toBe(0);
  });

  it('of one entry stay in one call where they fit: side by side, later instants could be decided before earlier ones', async () => {
    const { claimer, batches } = batchClaimer(grantAll);
    const { guard } = guarded({ claimer });
    const fires = (entryKey: string, count: number) =>
      Array.from({ length: count }, (_, i) => guard.claim(request(entryKey, { scheduledAt: new Date(i * 1_000) })));
    await Promise.all([...fires('a', 600), ...fires('b', 600), ...fires('c', 400), ...fires('d', 1_001)]);
    const callsOf = (key: string) => batches.filter((batch) => batch.some(({ context }) => context.entryKey === key));
    expect(['a', 'b', 'c'].map((key) => callsOf(key).length)).toEqual([1, 1, 1]);
    expect(callsOf('d').map((batch) => batch.length)).toEqual([1_000, 1]);
    expect(batches.flat()).toHaveLength(2_601);
  });

  it('never hold one fire twice in a call: the second pass goes in a call of its own', async () => {
    const { claimer, keys } = batchClaimer(grantAll);
    const { guard } = guarded({ claimer });
    await Promise.all([
      guard.claim(request('a', { claimId: '1' })),
      guard.claim(request('a', { claimId: '2' })),
      guard.claim(request('b')),
    ]);
    expect(keys()).toEqual([['a', 'b'], ['a']]);
  });

  it('are asked one each, at the same time, of a claimer without batches', async () => {
    const asked: ClaimContext[] = [];
    const answers = held<boolean>();
    const claimer = {
      prefix: 'a method keeps its object',
      claim(_fireKey: string, context: ClaimContext) {
        expect(this.prefix).toBeDefined();
        asked.push(context);
        return answers.promise;
      },
    };
    const { guard, clock } = guarded({ claimer });
    const claims = ['a', 'b', 'c'].map((key) => guard.claim(request(key)));
    await clock.settle();
    expect(asked.map(({ entryKey }) => entryKey)).toEqual(['a', 'b', 'c']);
    answers.answer(false);
    expect((await Promise.all(claims)).map(word)).toEqual(['refused', 'refused', 'refused']);
  });

  it('of a slow call hold up none of the turns after it', async () => {
    const slow = held<boolean[]>();
    const { claimer } = batchClaimer((claims) =>
      claims[0]?.context.entryKey === 'slow' ? slow.promise : grantAll(claims),
    );
    const { guard, clock } = guarded({ claimer });
    const first = follow(guard.claim(request('slow')));
    await clock.settle();
    expect(word(await guard.claim(request('quick')))).toBe('granted');
    expect(first.settled).toBe(false);
    slow.answer([true]);
    await clock.settle();
    expect(first.value).toEqual({ kind: 'granted' });
  });
});
