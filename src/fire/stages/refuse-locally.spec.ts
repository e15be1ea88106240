import { describe, expect, it } from '@jest/globals';
import type { Outcome } from '../pass.js';
import { entryOf, held, pipelineOf, yes } from '../pipeline.fixture.js';

/** An entry whose methods end by hand, in the order they were called. */
function queueing(options: Parameters<typeof pipelineOf>[0] = {}, policies: Parameters<typeof entryOf>[1] = {}) {
  const calls: ReturnType<typeof held<void>>[] = [];
  const entry = entryOf(
    () => {
      const call = held<void>();
      calls.push(call);
      return call.promise;
    },
    { overlap: 'queue', ...policies },
  );
  return { ...pipelineOf(options), entry, calls };
}

describe("overlap 'queue'", () => {
  it('lets one fire wait for the end of the earlier one; those that come meanwhile are rejected', async () => {
    const { clock, send, story, entry, calls, pipeline } = queueing();
    send(entry);
    const waited = send(entry);
    for (let i = 0; i < 2; i++) send(entry);
    await clock.settle();
    expect(story()).toEqual(['started', 'rejected overlap', 'rejected overlap']);
    // Without a slot, or the second would keep a third away for longer than it has to.
    expect(entry.slots).toBe(1);
    calls[0]?.answer();
    await clock.settle();
    expect(story().slice(3)).toEqual(['completed', 'started']);
    // Its wait is over: a drain has nothing to cut, and counts its method as running.
    expect([waited.cutWait, waited.methodRuns]).toEqual([undefined, true]);
    send(entry);
    await clock.settle();
    calls[1]?.answer();
    await clock.settle();
    calls[2]?.answer();
    await clock.settle();
    expect(story().slice(5)).toEqual(['completed', 'started', 'completed']);
    expect([entry.slots, pipeline.passes.size, clock.pendingTimers]).toEqual([0, 0, 0]);
  });

  it('waits before jitter and claim: an idle replica can run the fire meanwhile, and does so once', async () => {
    let asked = 0;
    const { clock, send, story, entry, calls } = queueing(
      { claimer: { claim: async () => ++asked === 1 }, random: { fraction: () => 0.5 } },
      { jitterMs: 2_000 },
    );
    send(entry);
    await clock.advance(1_000);
    send(entry);
    await clock.advance(60_000);
    expect(asked).toBe(1);
    calls[0]?.answer();
    await clock.advance(999);
    expect(asked).toBe(1);
    await clock.advance(1);
    expect(story()).toEqual(['started', 'completed', 'skipped already-claimed']);
    expect(entry.slots).toBe(0);
  });

  it('waits for a method that overran its time until that has returned', async () => {
    const { clock, send, story, entry, calls } = queueing({}, { timeoutMs: 1_000 });
    send(entry);
    send(entry);
    await clock.advance(60_000);
    expect(story()).toEqual(['started', 'failed']);
    calls[0]?.answer();
    await clock.settle();
    expect(story()).toEqual(['started', 'failed', 'returned-late', 'started']);
  });

  it('waits over the pause between two attempts of the earlier fire', async () => {
    const retry = { attempts: 2, minMs: 1_000, maxMs: 1_000, factor: 1, jitter: 0 };
    const { clock, send, story, entry, calls } = queueing({}, { retry });
    send(entry);
    send(entry);
    calls[0]?.fail(new Error('once'));
    await clock.advance(999);
    expect(story()).toEqual(['started', 'retrying']);
    await clock.advance(1);
    calls[1]?.answer();
    await clock.settle();
    expect(story()).toEqual(['started', 'retrying', 'completed', 'started']);
  });

  it.each([
    ['draining', {}],
    ['removed', { generation: 1, removed: true }],
    ['updated', { generation: 1 }],
  ] as const)('a wait that is cut ends as canceled %s, and its place is free', async (reason, change) => {
    const { clock, send, story, entry, calls, drain, slots } = queueing({ claimer: yes });
    send(entry);
    await clock.settle();
    const waiting = send(entry);
    drain.draining = reason === 'draining';
    Object.assign(entry, change);
    waiting.cutWait?.();
    await clock.settle();
    expect(story()).toEqual(['started', `canceled ${reason}`]);
    expect(slots.isWaitedFor(entry)).toBe(false);
    calls[0]?.answer();
    await clock.settle();
    expect(story()).toEqual(['started', `canceled ${reason}`, 'completed']);
    expect(entry.slots).toBe(0);
  });

  it('no wait begins after a drain began: nobody would be left to cut it', async () => {
    const { clock, send, story, entry, drain, slots } = queueing();
    send(entry);
    drain.draining = true;
    send(entry, 'manual');
    await clock.settle();
    expect(story()).toEqual(['started', 'canceled draining']);
    expect(slots.isWaitedFor(entry)).toBe(false);
  });

  it.each([
    ['schedule', ['started', 'completed', 'rejected paused']],
    ['manual', ['started', 'completed', 'started']],
  ] as const)('an entry that is paused meanwhile: a fire of origin %s that waited', async (origin, told) => {
    const { clock, send, story, entry, calls } = queueing();
    send(entry);
    send(entry, origin);
    Object.assign(entry, { paused: true });
    calls[0]?.answer();
    await clock.settle();
    expect(story()).toEqual(told);
  });

  it('manual fires wait too, and whoever waits for them is told of their end', async () => {
    const { clock, send, entry, calls } = queueing();
    const outcomes: Outcome[] = [];
    send(entry);
    send(entry, 'manual', (outcome) => outcomes.push(outcome));
    send(entry, 'manual', (outcome) => outcomes.push(outcome));
    calls[0]?.answer();
    await clock.settle();
    calls[1]?.answer();
    await clock.settle();
    expect(outcomes.map((outcome) => ('reason' in outcome ? outcome.reason : outcome.kind))).toEqual([
      'overlap',
      'completed',
    ]);
  });

  it('lets a fire wait although the replica is full, as long as its own entry runs', async () => {
    const { clock, send, story, entry, calls } = queueing({ maxConcurrentFires: 1 }, { maxConcurrent: 1 });
    send(entry);
    send(entry);
    calls[0]?.answer();
    await clock.settle();
    expect(story()).toEqual(['started', 'completed', 'started']);
  });

  it('a fire whose turn comes while the replica is full with others is rejected by that limit', async () => {
    const { clock, send, story, entry, calls, slots } = queueing({ maxConcurrentFires: 1 });
    const other = entryOf(() => undefined, {}, 'other');
    send(entry);
    send(entry);
    // Whoever waits with a claim in hand takes the slot first.
    const winner = send(other);
    slots.onFreed(() => void slots.take(winner));
    calls[0]?.answer();
    await clock.settle();
    expect(story()).toEqual(['started', 'rejected concurrency-limit', 'completed', 'rejected concurrency-limit']);
    expect(slots.isWaitedFor(entry)).toBe(false);
  });

  it('a caught-up fire of the entry that has its claim goes first; the one in the queue waits on', async () => {
    const { clock, send, story, entry, calls, ofType } = queueing({ claimer: yes });
    send(entry);
    await clock.settle();
    send(entry);
    send(entry, 'catch-up');
    await clock.settle();
    expect(story()).toEqual(['started']);
    calls[0]?.answer();
    await clock.settle();
    expect(entry.slots).toBe(1);
    calls[1]?.answer();
    await clock.settle();
    expect(story()).toEqual(['started', 'completed', 'started', 'completed', 'started']);
    expect(ofType('fire.started').map(({ fire }) => fire.origin)).toEqual(['schedule', 'catch-up', 'schedule']);
  });
});

describe('maxConcurrentFires', () => {
  it('refuses what comes beyond it before elector and claim, whatever the entry, so that an idle replica takes it', async () => {
    const asked: string[] = [];
    const end = held<void>();
    const { clock, send, story } = pipelineOf({
      maxConcurrentFires: 2,
      claimer: { claim: async (key) => asked.push(key) > 0 },
    });
    const entries = ['a', 'b', 'c'].map((key) => entryOf(() => end.promise, {}, key));
    for (const entry of entries) send(entry);
    await clock.settle();
    expect(story()).toEqual(['rejected concurrency-limit', 'started', 'started']);
    expect(asked).toHaveLength(2);
    end.answer();
    await clock.settle();
    send(entries[2]!);
    await clock.settle();
    expect(story().slice(-2)).toEqual(['started', 'completed']);
  });

  it('counts manual fires, and refuses them', async () => {
    const { send, story, clock } = pipelineOf({ maxConcurrentFires: 1 });
    const entry = entryOf(() => new Promise(() => undefined));
    send(entry, 'manual');
    send(entry, 'manual');
    await clock.settle();
    expect(story()).toEqual(['started', 'rejected concurrency-limit']);
  });
});
