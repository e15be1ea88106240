import { describe, expect, it } from '@jest/globals';
import { FireRejectedError } from '../domain/errors.js';
import type { RetryPolicy } from '../domain/policies.js';
import { currentFire, type FireContext } from './fire-context.js';
import type { Outcome } from './pass.js';
import { entryOf, held, pipelineOf, yes } from './pipeline.fixture.js';

const RETRY: RetryPolicy = { attempts: 3, minMs: 1_000, maxMs: 10_000, factor: 2, jitter: 0 };

/** A method that throws so many times, then answers. */
function failing(times: number, answer: unknown = 'at last') {
  const attempts: number[] = [];
  const errors = Array.from({ length: times }, (_, index) => new Error(`attempt ${index + 1}`));
  const run = ({ attempt }: FireContext) => {
    attempts.push(attempt);
    const error = errors[attempts.length - 1];
    if (error !== undefined) throw error;
    return answer;
  };
  return { run, attempts, errors };
}

describe('retry', () => {
  it('calls a method that threw again within the same fire, after pauses that grow; each attempt is told', async () => {
    const { run, attempts, errors } = failing(2);
    const { clock, send, ofType, story } = pipelineOf();
    const entry = entryOf(run, { retry: RETRY });
    const outcomes: Outcome[] = [];
    send(entry, 'schedule', (outcome) => outcomes.push(outcome));
    await clock.advance(999);
    expect(attempts).toEqual([1]);
    await clock.advance(1);
    expect(attempts).toEqual([1, 2]);
    await clock.advance(1_999);
    expect(attempts).toEqual([1, 2]);
    await clock.advance(1);
    expect(attempts).toEqual([1, 2, 3]);
    expect(story()).toEqual(['started', 'retrying', 'retrying', 'completed']);
    expect(ofType('fire.retrying').map(({ attempt, error, nextInMs }) => [attempt, error, nextInMs])).toEqual([
      [1, errors[0], 1_000],
      [2, errors[1], 2_000],
    ]);
    expect(outcomes).toEqual([{ kind: 'completed', value: 'at last', durationMs: 3_000 }]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('ends the fire with the last error when all attempts have failed', async () => {
    const { run, errors, attempts } = failing(9);
    const { clock, send, ofType, story } = pipelineOf();
    const entry = entryOf(async (context) => run(context), { retry: RETRY });
    send(entry);
    await clock.advance(60_000);
    expect(attempts).toEqual([1, 2, 3]);
    expect(story()).toEqual(['started', 'retrying', 'retrying', 'failed']);
    expect(ofType('fire.failed')[0]).toMatchObject({ error: errors[2], durationMs: 3_000 });
    expect([entry.slots, clock.pendingTimers]).toEqual([0, 0]);
  });

  it.each([
    ['never more than max', { ...RETRY, attempts: 5, maxMs: 2_500 }, [1_000, 2_000, 2_500, 2_500]],
    ['chance takes off at most its part', { ...RETRY, jitter: 0.4 }, [800, 1_600]],
  ])('pauses: %s', async (_, retry, pauses) => {
    const { clock, send, ofType } = pipelineOf({ random: { fraction: () => 0.5 } });
    send(entryOf(failing(9).run, { retry }));
    await clock.advance(60_000);
    expect(ofType('fire.retrying').map(({ nextInMs }) => nextInMs)).toEqual(pauses);
  });

  it('calls a method that ends well once, and one that does so at once costs no turn of the event loop', () => {
    const { run, attempts } = failing(0);
    const { send, story } = pipelineOf();
    send(entryOf(run, { retry: RETRY }));
    expect(story()).toEqual(['started', 'completed']);
    expect(attempts).toEqual([1]);
  });

  it('with one attempt is none', async () => {
    const { clock, send, story } = pipelineOf();
    send(entryOf(failing(1).run, { retry: { ...RETRY, attempts: 1 } }));
    await clock.settle();
    expect(story()).toEqual(['started', 'failed']);
  });

  it('asks for no second claim, and keeps the slot over its pauses', async () => {
    let claims = 0;
    const { clock, send, story } = pipelineOf({ claimer: { claim: async () => ++claims > 0 } });
    const entry = entryOf(failing(1).run, { retry: RETRY, overlap: 'skip' });
    send(entry);
    await clock.advance(500);
    expect(entry.slots).toBe(1);
    send(entry);
    await clock.advance(500);
    expect(story()).toEqual(['started', 'retrying', 'rejected overlap', 'completed']);
    expect(claims).toBe(1);
    expect(entry.slots).toBe(0);
  });

  it('counts on from the attempt of a fire that is run again after its replica died', async () => {
    const { run, attempts } = failing(1);
    const { clock, send, ofType } = pipelineOf({ claimer: yes });
    const pass = send(entryOf(run, { retry: RETRY }));
    pass.attempt = 4;
    await clock.advance(1_000);
    expect(attempts).toEqual([4, 5]);
    expect(ofType('fire.retrying')[0]?.attempt).toBe(4);
  });

  it('gives each attempt a context and a signal of its own, which it finds in its fire context', async () => {
    const contexts: FireContext[] = [];
    const { clock, send } = pipelineOf();
    const run = (context: FireContext) => {
      expect(currentFire()).toBe(context);
      contexts.push(context);
      context.signal.addEventListener('abort', () => undefined);
      throw new Error('no');
    };
    send(entryOf(run, { retry: { ...RETRY, attempts: 2 } }));
    await clock.advance(60_000);
    expect(contexts).toHaveLength(2);
    expect(contexts[0]?.signal).not.toBe(contexts[1]?.signal);
    expect(contexts.map(({ signal }) => signal.aborted)).toEqual([false, false]);
  });

  it('applies to manual fires: whoever waits gets the value of the last attempt, or its error', async () => {
    const { clock, send } = pipelineOf();
    const outcomes: Outcome[] = [];
    for (const times of [1, 9])
      send(entryOf(failing(times).run, { retry: { ...RETRY, attempts: 2 } }), 'manual', (outcome) =>
        outcomes.push(outcome),
      );
    await clock.advance(60_000);
    expect(outcomes).toMatchObject([
      { kind: 'completed', value: 'at last' },
      { kind: 'failed', error: { message: 'attempt 2' } },
    ]);
  });

  describe('timeout', () => {
    it('is for each attempt anew, not for all of them and their pauses', async () => {
      const { clock, send, story } = pipelineOf();
      let calls = 0;
      const run = () =>
        new Promise((end, fail) => clock.setTimer(() => (++calls < 3 ? fail(new Error('no')) : end(1)), 900));
      send(entryOf(run, { retry: RETRY, timeoutMs: 1_000 }));
      await clock.advance(60_000);
      expect(story()).toEqual(['started', 'retrying', 'retrying', 'completed']);
      expect(clock.pendingTimers).toBe(0);
    });

    it('ends the fire: the attempt that ran into it may still run', async () => {
      const { clock, send, ofType, story } = pipelineOf();
      const end = held<void>();
      const entry = entryOf(() => end.promise, { retry: RETRY, timeoutMs: 1_000 });
      send(entry);
      await clock.advance(60_000);
      expect(story()).toEqual(['started', 'failed']);
      expect(ofType('fire.failed')[0]?.error).toMatchObject({ code: 'FIRE_TIMEOUT' });
      expect(entry.slots).toBe(1);
      end.answer();
      await clock.settle();
      expect(story()).toEqual(['started', 'failed', 'returned-late']);
      expect(entry.slots).toBe(0);
    });

    it('ends the fire also where the method rejects on its signal', async () => {
      const { clock, send, story, pipeline } = pipelineOf();
      const run = ({ signal }: FireContext) =>
        new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      const entry = entryOf(run, { retry: RETRY, timeoutMs: 1_000 });
      send(entry);
      await clock.advance(60_000);
      // It has returned before its failure was told, so its slot is free without a further word.
      expect(story()).toEqual(['started', 'failed']);
      expect([entry.slots, pipeline.passes.size, clock.pendingTimers]).toEqual([0, 0, 0]);
    });
  });

  it('does not call again what a guard of the application turned away', async () => {
    const { clock, send, story } = pipelineOf();
    let calls = 0;
    const run = ({ entryKey, fireKey }: FireContext) => {
      calls += 1;
      throw new FireRejectedError(entryKey, fireKey, 'guard');
    };
    send(entryOf(run, { retry: RETRY }));
    await clock.advance(60_000);
    expect(story().at(-1)).toBe('rejected guard');
    expect(calls).toBe(1);
  });

  it('does not call again a method whose signal was aborted while it ran, as when its lease was lost', async () => {
    const { clock, send, story } = pipelineOf();
    const end = held<void>();
    const pass = send(entryOf(() => end.promise, { retry: RETRY }));
    pass.running?.context.abort(new Error('the lease was lost'));
    end.fail(new Error('as told'));
    await clock.advance(60_000);
    expect(story()).toEqual(['started', 'failed']);
  });

  it('an abort in the pause, as when its lease was lost, ends the fire at once with the last error', async () => {
    const { run, errors, attempts } = failing(9);
    const { clock, send, ofType } = pipelineOf();
    const pass = send(entryOf(run, { retry: RETRY }));
    await clock.advance(500);
    pass.running?.context.abort(new Error('the lease was lost'));
    await clock.settle();
    expect(ofType('fire.failed')[0]).toMatchObject({ error: errors[0], durationMs: 0 });
    expect(attempts).toEqual([1]);
    expect(clock.pendingTimers).toBe(0);
  });

  describe.each([
    ['a drain', { draining: true }, {}],
    ['an update of the entry', {}, { generation: 1 }],
    ['removal of the entry', {}, { generation: 1, removed: true }],
  ])('%s', (_, drains, change) => {
    it('in the pause ends the fire at once with the last error, and leaves no timer', async () => {
      const { run, attempts, errors } = failing(9);
      const { clock, send, story, ofType, drain } = pipelineOf();
      const entry = entryOf(run, { retry: RETRY });
      const pass = send(entry);
      await clock.advance(500);
      Object.assign(drain, drains);
      Object.assign(entry, change);
      pass.cutWait?.();
      await clock.settle();
      expect(story()).toEqual(['started', 'retrying', 'failed']);
      expect(ofType('fire.failed')[0]).toMatchObject({ error: errors[0], durationMs: 0 });
      expect(attempts).toEqual([1]);
      expect([entry.slots, clock.pendingTimers]).toEqual([0, 0]);
    });

    it('before the method throws: it is not called again', async () => {
      const { clock, send, story, drain } = pipelineOf();
      const end = held<void>();
      const entry = entryOf(() => end.promise, { retry: RETRY });
      send(entry);
      Object.assign(drain, drains);
      Object.assign(entry, change);
      end.fail(new Error('no'));
      await clock.settle();
      expect(story()).toEqual(['started', 'failed']);
      expect(clock.pendingTimers).toBe(0);
    });

    it('by whoever hears of the retry: no pause begins that nobody is left to cut', async () => {
      const { run, attempts } = failing(9);
      const { clock, send, story, drain, events } = pipelineOf();
      const entry = entryOf(run, { retry: RETRY });
      const push = events.push.bind(events);
      events.push = (event) => {
        if (event.type === 'fire.retrying') {
          Object.assign(drain, drains);
          Object.assign(entry, change);
        }
        return push(event);
      };
      send(entry);
      await clock.settle();
      expect(story()).toEqual(['started', 'retrying', 'failed']);
      expect(attempts).toEqual([1]);
      expect(clock.pendingTimers).toBe(0);
    });
  });
});
