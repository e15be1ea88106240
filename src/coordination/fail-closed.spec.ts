import { describe, expect, it } from '@jest/globals';
import type { Claimer } from './claimer.js';
import { CoordinationError } from './coordination-error.js';
import { batchClaimer, follow, guarded, held, request, word } from './fixtures/guarded.js';

const answering = (answer: unknown): Claimer => ({ claim: () => answer as Promise<boolean> });

describe('a claim fails closed', () => {
  it.each([
    ['true', Promise.resolve(true), 'granted'],
    ['a bare true', true, 'granted'],
    ['false', Promise.resolve(false), 'refused'],
    ['undefined', undefined, 'COORDINATION_ANSWER'],
    ['a promise of nothing', Promise.resolve(), 'COORDINATION_ANSWER'],
    ['the text "true"', Promise.resolve('true'), 'COORDINATION_ANSWER'],
    ['1', Promise.resolve(1), 'COORDINATION_ANSWER'],
    ['null', Promise.resolve(null), 'COORDINATION_ANSWER'],
    ['a boxed true', Promise.resolve(Object(true)), 'COORDINATION_ANSWER'],
    ['"superseded", which only a batch may say', Promise.resolve('superseded'), 'COORDINATION_ANSWER'],
    ['an error as a value', Promise.resolve(new Error('no')), 'COORDINATION_ANSWER'],
  ])('only the literal true grants, only the literal false refuses: %s', async (_, answer, expected) => {
    const { guard, clock } = guarded({ claimer: answering(answer) });
    expect(word(await guard.claim(request('report')))).toBe(expected);
    expect(clock.pendingTimers).toBe(0);
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('down');
      },
    ],
    ['rejects', () => Promise.reject(new Error('down'))],
    [
      'answers with a thenable that throws',
      () => ({
        // biome-ignore lint/suspicious/noThenProperty: that is the case
        then: () => {
          throw new Error('down');
        },
      }),
    ],
  ])('a claimer that %s is an error with its cause, and the claim does not reject', async (_, claim) => {
    const { guard, clock } = guarded({ claimer: { claim: claim as Claimer['claim'] } });
    const outcome = await guard.claim(request('report'));
    expect(outcome).toMatchObject({
      kind: 'error',
      error: { code: 'COORDINATION_FAILED', store: 'fake', operation: 'claim', cause: { message: 'down' } },
    });
    expect(clock.pendingTimers).toBe(0);
  });

  it.each([
    ['undefined', () => undefined],
    ['an object that throws when it is described', () => ({ toString: null, valueOf: null })],
    [
      'a proxy that throws whatever is asked of it',
      () =>
        new Proxy(
          {},
          {
            get() {
              throw new Error('no');
            },
            getPrototypeOf() {
              throw new Error('no');
            },
          },
        ),
    ],
  ])('survives a rejection with %s', async (_, reason) => {
    const { guard } = guarded({ claimer: { claim: () => Promise.reject(reason()) } });
    expect(word(await guard.claim(request('report')))).toBe('COORDINATION_FAILED');
  });

  it("a user's claimer that never answers is an error after one coordinationTimeout, and its signal is aborted", async () => {
    let signal: AbortSignal | undefined;
    const late = held<boolean>();
    const { guard, clock } = guarded({
      claimer: {
        claim: (_key, context) => {
          signal = context.signal;
          return late.promise;
        },
      },
    });
    const claim = follow(guard.claim(request('report')));
    await clock.advance(4_999);
    expect(claim.settled).toBe(false);
    expect(signal?.aborted).toBe(false);
    await clock.advance(1);
    expect(claim.value).toMatchObject({ kind: 'error', error: { code: 'COORDINATION_TIMEOUT' } });
    expect(signal?.aborted).toBe(true);
    expect(clock.pendingTimers).toBe(0);

    late.answer(true);
    await clock.settle();
    expect(claim.value).toMatchObject({ kind: 'error' });
  });

  it('a repeatable backend that never answers is an error after claimPatience', async () => {
    const { claimer, batches } = batchClaimer(() => new Promise(() => undefined));
    const { guard, clock } = guarded({ claimer });
    const claim = follow(guard.claim(request('report')));
    await clock.advance(29_999);
    expect(claim.settled).toBe(false);
    await clock.advance(1);
    expect(claim.value).toMatchObject({ kind: 'error', error: { code: 'COORDINATION_TIMEOUT' } });
    expect(batches.length).toBeGreaterThan(1);
    // The probes that are on the wire end at their time limit; no other goes.
    const asked = batches.length;
    await clock.advance(5_000);
    expect(clock.pendingTimers).toBe(0);
    expect(batches).toHaveLength(asked);
  });

  it('a batch grants and refuses each claim for itself', async () => {
    const own = new CoordinationError('COORDINATION_ANSWER', { store: 'fake', operation: 'claim' }, 'odd');
    const { claimer } = batchClaimer(async () => [true, false, 'superseded', own, 'true' as never, undefined as never]);
    const { guard } = guarded({ claimer });
    const outcomes = await Promise.all('abcdef'.split('').map((key) => guard.claim(request(key))));
    expect(outcomes.map(word)).toEqual([
      'granted',
      'refused',
      'superseded',
      'COORDINATION_ANSWER',
      'COORDINATION_ANSWER',
      'COORDINATION_ANSWER',
    ]);
  });

  it.each([
    ['too few answers', [true]],
    ['too many answers', [true, true, true]],
    ['a list with holes', new Array(2)],
    ['no list', 'true'],
    ['nothing', undefined],
  ])('a batch that is answered with %s grants none', async (_, answers) => {
    const { claimer } = batchClaimer(async () => answers as never);
    const { guard, clock } = guarded({ claimer });
    const outcomes = await Promise.all([guard.claim(request('a')), guard.claim(request('b'))]);
    expect(outcomes.map(word)).toEqual(['COORDINATION_ANSWER', 'COORDINATION_ANSWER']);
    expect(clock.pendingTimers).toBe(0);
  });

  it('an error of another copy of this package keeps its code', async () => {
    const foreign = Object.assign(new Error('busy'), { name: 'CoordinationError', code: 'COORDINATION_ANSWER' });
    const { guard } = guarded({ claimer: answering(Promise.reject(foreign)) });
    expect(word(await guard.claim(request('report')))).toBe('COORDINATION_ANSWER');
  });
});
