import { describe, expect, it } from '@jest/globals';
import { FireRejectedError } from '../domain/errors.js';
import { type EntryTally, FireTally } from './fire-tally.js';
import { entryOf, pipelineOf, yes } from './pipeline.fixture.js';

const NONE = {
  started: 0,
  completed: 0,
  failed: 0,
  retried: 0,
  canceled: 0,
  missed: 0,
  abandoned: 0,
  skipped: { 'not-leader': 0, 'election-error': 0, 'already-claimed': 0, 'claim-error': 0 },
  rejected: { overlap: 0, 'concurrency-limit': 0, paused: 0, guard: 0 },
};
const boom = () => {
  throw new Error('boom');
};

describe('counters', () => {
  it.each<[string, Parameters<typeof pipelineOf>[0], Parameters<typeof entryOf>, object, object]>([
    ['completed', {}, [() => 1], { started: 1, completed: 1 }, {}],
    ['failed', {}, [boom], { started: 1, failed: 1 }, { error: 'boom' }],
    [
      'failed',
      {},
      [boom, { retry: { attempts: 3, minMs: 1, maxMs: 1, factor: 1, jitter: 0 } }],
      { started: 1, retried: 2, failed: 1 },
      { error: 'boom', durationMs: 2 },
    ],
    [
      'skipped',
      { elector: { isLeader: () => false } },
      [() => 1],
      { skipped: { 'not-leader': 1 } },
      { reason: 'not-leader' },
    ],
    [
      'skipped',
      { elector: { isLeader: boom } },
      [() => 1],
      { skipped: { 'election-error': 1 } },
      { reason: 'election-error', error: 'boom' },
    ],
    [
      'skipped',
      { claimer: { claim: async () => false } },
      [() => 1],
      { skipped: { 'already-claimed': 1 } },
      { reason: 'already-claimed' },
    ],
    [
      'skipped',
      { claimer: { claim: boom } },
      [() => 1],
      { skipped: { 'claim-error': 1 } },
      { reason: 'claim-error', error: expect.stringContaining('boom') },
    ],
    [
      'rejected',
      { maxConcurrentFires: 0 },
      [() => 1],
      { rejected: { 'concurrency-limit': 1 } },
      { reason: 'concurrency-limit' },
    ],
    [
      'rejected',
      {},
      [
        ({ entryKey, fireKey }) => {
          throw new FireRejectedError(entryKey, fireKey, 'guard');
        },
      ],
      { started: 1, rejected: { guard: 1 } },
      { reason: 'guard' },
    ],
  ])('a fire that ends as %s with %j', async (kind, options, [run, policies], counted, told) => {
    const { clock, send, tally } = pipelineOf(options);
    const entry = entryOf(run, policies);
    const { fire } = send(entry);
    await clock.advance(10);
    const { skipped = {}, rejected = {}, ...rest } = counted as Partial<typeof NONE>;
    const expected = {
      ...NONE,
      ...rest,
      skipped: { ...NONE.skipped, ...skipped },
      rejected: { ...NONE.rejected, ...rejected },
    };
    expect(FireTally.of(entry)).toEqual(expected);
    expect(tally.totals).toEqual(expected);
    const ran = 'started' in counted && kind !== 'rejected';
    expect(entry.tally?.lastOutcome(entry.key)).toEqual({
      fireKey: fire.fireKey,
      scheduledAt: fire.scheduledAt,
      origin: 'schedule',
      kind,
      atMs: expect.any(Number),
      ...(ran ? { durationMs: 0 } : {}),
      ...told,
    });
  });

  it('count also what nobody watches', async () => {
    const { clock, send, tally, events } = pipelineOf({ watched: false, claimer: yes });
    const entry = entryOf(() => 1);
    send(entry);
    await clock.settle();
    expect(events).toEqual([]);
    expect(tally.totals).toMatchObject({ started: 1, completed: 1 });
  });

  it('of one entry are not those of another; the totals are the sum', async () => {
    const { clock, send, tally } = pipelineOf();
    const [a, b] = [entryOf(() => 1, {}, 'a'), entryOf(boom, {}, 'b')];
    send(a);
    send(a);
    send(b);
    await clock.settle();
    expect(FireTally.of(a)).toMatchObject({ started: 2, completed: 2, failed: 0 });
    expect(FireTally.of(b)).toMatchObject({ started: 1, completed: 0, failed: 1 });
    expect(tally.totals).toMatchObject({ started: 3, completed: 2, failed: 1 });
  });

  it('of an entry that never fired are nought, and take no memory of it', () => {
    const [a, b] = [entryOf(() => 1), entryOf(() => 1)];
    expect(FireTally.of(a)).toEqual(NONE);
    expect(FireTally.of(a)).toBe(FireTally.of(b));
    expect('tally' in a).toBe(false);
  });

  it('that were read do not change any more', () => {
    const { send, tally } = pipelineOf();
    const entry = entryOf(() => 1);
    send(entry);
    const [read, totals] = [FireTally.of(entry), tally.totals];
    send(entry);
    expect([read.completed, totals.completed]).toEqual([1, 1]);
  });

  it('count a missed plan by its instants, and an abandoned fire as the last outcome', () => {
    const tally = new FireTally();
    const entry = entryOf(() => 1);
    const fire = {
      entryKey: 'job',
      fireKey: 'job@1970-01-01T00:00:00.005Z',
      scheduledAt: new Date(5),
      origin: 'recovery',
    } as const;
    tally.missed(entry, 30);
    tally.missed(undefined, 4);
    tally.abandoned(entry, fire, 7);
    tally.abandoned(undefined, fire, 8);
    expect(FireTally.of(entry)).toMatchObject({ missed: 30, abandoned: 1 });
    expect(tally.totals).toMatchObject({ missed: 34, abandoned: 2 });
    expect((entry as { tally?: EntryTally }).tally?.lastOutcome(entry.key)).toEqual({
      fireKey: fire.fireKey,
      scheduledAt: new Date(5),
      origin: 'recovery',
      kind: 'abandoned',
      atMs: 7,
    });
  });

  it('name a manual fire that ended by its own key', async () => {
    const { clock, send } = pipelineOf();
    const entry = entryOf(() => 1);
    const { fire } = send(entry, 'manual', undefined, {
      entryKey: 'job',
      fireKey: 'job@2026-01-01T00:00:00Z#manual-7',
      scheduledAt: new Date('2026-01-01T00:00:00Z'),
      origin: 'manual',
    });
    await clock.settle();
    expect((entry as { tally?: EntryTally }).tally?.lastOutcome(entry.key)?.fireKey).toBe(fire.fireKey);
  });

  it('when a method was last called and how its last fire ended are two: it may run still', async () => {
    const { clock, send } = pipelineOf();
    const entry = entryOf(({ origin }) => (origin === 'manual' ? new Promise(() => undefined) : 1));
    const startMs = clock.now();
    send(entry);
    await clock.advance(1_000);
    send(entry, 'manual');
    const { tally } = entry as ReturnType<typeof entryOf> & {
      tally?: EntryTally;
    };
    expect(tally?.lastStartedAtMs).toBe(startMs + 1_000);
    expect(tally?.lastOutcome(entry.key)).toMatchObject({ kind: 'completed', origin: 'schedule', atMs: startMs });
  });

  it.each<[string, unknown, string]>([
    ['nothing', undefined, 'undefined'],
    ['a text', 'text', 'text'],
    ['an object without a prototype', Object.create(null), 'an error that cannot be read'],
    [
      'an error whose message throws',
      Object.defineProperty(new Error('x'), 'message', { get: boom }),
      'an error that cannot be read',
    ],
    ['a very long message', new Error('x'.repeat(100_000)), 'x'.repeat(1_000)],
  ])('show the error of a method that threw %s', async (_, thrown, shown) => {
    const { clock, send, story } = pipelineOf();
    const entry = entryOf(() => {
      throw thrown;
    });
    send(entry);
    await clock.settle();
    expect(story()).toEqual(['started', 'failed']);
    expect((entry as { tally?: EntryTally }).tally?.lastOutcome(entry.key)).toMatchObject({
      kind: 'failed',
      error: shown,
    });
  });
});
