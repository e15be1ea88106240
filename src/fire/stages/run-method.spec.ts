import { describe, expect, it } from '@jest/globals';
import { FireRejectedError } from '../../domain/errors.js';
import { currentFire, type FireContext } from '../fire-context.js';
import type { Outcome } from '../pass.js';
import { entryOf, held, pipelineOf } from '../pipeline.fixture.js';

describe('run method', () => {
  describe('what a method can end with', () => {
    const error = new Error('no');
    const thenable = (settle: (resolve: (value: unknown) => void, reject: (error: unknown) => void) => void) => {
      const then = (resolve: (value: unknown) => void, reject: (error: unknown) => void) => settle(resolve, reject);
      return { then };
    };
    it.each<[string, () => unknown, Partial<Outcome>]>([
      ['a value', () => 7, { kind: 'completed', value: 7 }],
      ['nothing', () => undefined, { kind: 'completed', value: undefined }],
      ['null', () => null, { kind: 'completed', value: null }],
      ['a promise', async () => 7, { kind: 'completed', value: 7 }],
      ['a thenable', () => thenable((resolve) => resolve(7)), { kind: 'completed', value: 7 }],
      ['an object whose then is no function', () => JSON.parse('{"then": 7}'), { kind: 'completed' }],
      ['a function', () => () => 7, { kind: 'completed' }],
      ['an error that is returned, not thrown', () => error, { kind: 'completed', value: error }],
      [
        'a throw',
        () => {
          throw error;
        },
        { kind: 'failed', error },
      ],
      [
        'a throw of a text',
        () => {
          throw 'no';
        },
        { kind: 'failed', error: 'no' },
      ],
      [
        'a throw of nothing',
        () => {
          throw undefined;
        },
        { kind: 'failed', error: undefined },
      ],
      ['a rejection', () => Promise.reject(error), { kind: 'failed', error }],
      ['a rejection with nothing', () => Promise.reject(undefined), { kind: 'failed', error: undefined }],
      ['a thenable that rejects', () => thenable((_, reject) => reject(error)), { kind: 'failed', error }],
      [
        'a thenable that throws',
        () =>
          thenable(() => {
            throw error;
          }),
        { kind: 'failed', error },
      ],
      [
        'a then that throws when it is looked at',
        () =>
          Object.defineProperty({}, 'then', {
            get() {
              throw error;
            },
          }),
        { kind: 'failed', error },
      ],
      [
        'a revoked proxy',
        () => {
          const { proxy, revoke } = Proxy.revocable({}, {});
          revoke();
          return proxy;
        },
        { kind: 'failed' },
      ],
    ])('%s', async (_, run, expected) => {
      const { clock, send, ofType, story } = pipelineOf();
      const entry = entryOf(run);
      let outcome: Outcome | undefined;
      send(entry, 'schedule', (ended) => {
        outcome = ended;
      });
      await clock.settle();
      expect(outcome).toMatchObject(expected);
      expect(story()).toEqual(['started', expected.kind]);
      if (expected.kind === 'failed' && 'error' in expected)
        expect(ofType('fire.failed')[0]).toStrictEqual(
          expect.objectContaining({ error: (expected as { error: unknown }).error }),
        );
      expect(entry.slots).toBe(0);
    });
  });

  it('a method that returns at once costs no turn of the event loop', () => {
    const { send, story } = pipelineOf();
    send(entryOf(() => 7));
    expect(story()).toEqual(['started', 'completed']);
  });

  it('a method runs in its fire context, without a receiver', async () => {
    let seen: unknown;
    const { send } = pipelineOf();
    const { fire } = send(
      entryOf(function (this: unknown, context: FireContext) {
        seen = { receiver: this ?? undefined, same: context === currentFire(), fireKey: context.fireKey };
      }),
    );
    expect(seen).toEqual({ receiver: undefined, same: true, fireKey: fire.fireKey });
    expect(currentFire()).toBeUndefined();
  });

  it('how long it ran does not count jitter and claim; how late it started does, and neither follows the wall clock', async () => {
    const end = held<void>();
    const { clock, send, ofType } = pipelineOf();
    send(entryOf(() => end.promise, { jitterMs: 2_000 }));
    await clock.advance(1_000);
    clock.step(-3_600_000);
    await clock.advance(250);
    end.answer();
    await clock.settle();
    expect(ofType('fire.started')[0]?.latenessMs).toBe(1_000);
    expect(ofType('fire.completed')[0]?.durationMs).toBe(250);
  });

  describe('timeout', () => {
    it('covers the method alone: not the jitter, not the claim', async () => {
      const claimed = held<boolean>();
      const { clock, send, story } = pipelineOf({ claimer: { claim: () => claimed.promise } });
      send(entryOf(() => new Promise(() => undefined), { jitterMs: 2_000, timeoutMs: 100 }));
      await clock.advance(3_000);
      claimed.answer(true);
      await clock.advance(99);
      expect(story()).toEqual(['started']);
      await clock.advance(1);
      expect(story()).toEqual(['started', 'failed']);
    });

    it('aborts the signal with a TimeoutError and fails the fire once, with that error', async () => {
      let context!: FireContext;
      const { clock, send, ofType, story } = pipelineOf();
      const entry = entryOf(
        (given) => {
          context = given;
          return new Promise((_, reject) => given.signal.addEventListener('abort', () => reject(given.signal.reason)));
        },
        { timeoutMs: 1_000 },
      );
      send(entry);
      await clock.advance(1_000);
      const error = ofType('fire.failed')[0]?.error;
      expect(error).toMatchObject({ code: 'FIRE_TIMEOUT', entryKey: 'job', timeoutMs: 1_000 });
      expect(context.signal.reason).toBe(error);
      expect(ofType('fire.failed')[0]?.durationMs).toBe(1_000);
      // It ended in the very moment of its abort: its slot is free, once.
      expect(story()).toEqual(['started', 'failed', 'returned-late']);
      expect(entry.slots).toBe(0);
    });

    it('a method that ignores its signal keeps its slot until it returns; then an event says so', async () => {
      const end = held<number>();
      const { clock, send, ofType, story } = pipelineOf();
      const entry = entryOf(() => end.promise, { timeoutMs: 1_000, overlap: 'skip' });
      const outcomes: Outcome[] = [];
      send(entry, 'schedule', (outcome) => outcomes.push(outcome));
      await clock.advance(5_000);
      expect(entry.slots).toBe(1);
      send(entry);
      expect(story()).toEqual(['started', 'failed', 'rejected overlap']);
      end.answer(7);
      await clock.settle();
      expect(ofType('fire.returned-late')[0]?.durationMs).toBe(5_000);
      expect(entry.slots).toBe(0);
      expect(outcomes.map(({ kind }) => kind)).toEqual(['failed']);
      expect(ofType('fire.completed')).toEqual([]);
    });

    it('a method that rejects after its timeout is no unhandled rejection', async () => {
      const end = held<void>();
      const { clock, send, story } = pipelineOf();
      send(entryOf(() => end.promise, { timeoutMs: 1_000 }));
      await clock.advance(1_000);
      end.fail(new Error('late'));
      await clock.settle();
      expect(story()).toEqual(['started', 'failed', 'returned-late']);
    });

    it('a method that had just ended when it was given up frees its slot once', async () => {
      const end = held<void>();
      const { clock, send, pipeline, story } = pipelineOf();
      const entry = entryOf(() => end.promise, { timeoutMs: 1_000 });
      send(entry);
      // Its end is on the way, but has not been seen yet.
      end.answer();
      for (const pass of pipeline.passes) pass.running?.giveUp(new Error('time'));
      await clock.settle();
      expect(story()).toEqual(['started', 'failed']);
      expect(entry.slots).toBe(0);
      expect(clock.pendingTimers).toBe(0);
    });

    it('a method that ends in time leaves no timer', async () => {
      const { clock, send, alarmsSet } = pipelineOf();
      send(entryOf(async () => 7, { timeoutMs: 1_000 }));
      await clock.settle();
      expect(alarmsSet()).toBe(1);
      expect(clock.pendingTimers).toBe(0);
    });

    it('a method that was given up leaves no timer for its timeout', async () => {
      const { clock, send, pipeline, ofType } = pipelineOf();
      send(entryOf(() => new Promise(() => undefined), { timeoutMs: 3_600_000 }));
      const reason = new Error('the scheduler stopped');
      for (const pass of pipeline.passes) pass.running?.giveUp(reason);
      await clock.settle();
      expect(ofType('fire.failed').map(({ error }) => error)).toEqual([reason]);
      expect(clock.pendingTimers).toBe(0);
    });
  });

  describe('a guard of the application', () => {
    it('that turns the fire away makes it rejected, not failed', async () => {
      const { send, story } = pipelineOf();
      send(
        entryOf(({ entryKey, fireKey }) => {
          throw new FireRejectedError(entryKey, fireKey, 'guard');
        }),
      );
      expect(story().at(-1)).toBe('rejected guard');
    });

    it('of another fire, whose refusal the method passes on, is a failure of this one', async () => {
      const { send, story } = pipelineOf();
      send(
        entryOf(() => {
          throw new FireRejectedError('other', 'other@x', 'guard');
        }),
      );
      expect(story()).toEqual(['started', 'failed']);
    });
  });
});
