import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Claim } from '../coordination/claimer.js';
import type { CoordinationBackend } from '../coordination/coordination-backend.js';
import { MemoryBackend } from '../coordination/memory/memory-backend.js';
import { MemoryStore } from '../coordination/memory/memory-store.js';
import type { CronEvent } from '../events/cron-event.js';
import type { FireCounters } from '../fire/fire-tally.js';
import type { FireContext } from '../fire/fire-context.js';
import { PROOF_TIMEOUT_MS, proof } from '../schedule/proof.fixture.js';
import { VirtualClock } from '../testing/virtual-clock.js';
import { ABORT_GRACE_MS } from './drain.js';
import { chance, definition, every, follow, MINUTE, replica, SECOND } from './replica.fixture.js';

const TERMINAL = ['fire.completed', 'fire.failed', 'fire.rejected', 'fire.canceled', 'fire.skipped'];
const DRAIN_DEADLINE_MS = 2 * SECOND;
const MAX_CONCURRENT_FIRES = 4;
const KEYS = ['a', 'b', 'c'] as const;

/** Callers that know nothing of one another: each comes at its own time, also from inside of a method or of a subscriber. */
const caller = fc.record({
  atMs: fc.integer({ min: 0, max: 12_000 }),
  call: fc.oneof(
    // Ends are rare, or nearly every story would be over before it has begun.
    { weight: 1, arbitrary: fc.constantFrom('drain', 'stop') },
    { weight: 2, arbitrary: fc.constant('start') },
    { weight: 5, arbitrary: fc.constantFrom('remove', 'update', 'pause', 'resume', 'add') },
    { weight: 6, arbitrary: fc.constantFrom('trigger', 'triggerAndWait') },
  ),
  key: fc.constantFrom(...KEYS),
});

const entry = fc.record({
  stepMs: fc.constantFrom(400, 1_000, 3_000),
  method: fc.constantFrom('quick', 'throws', 'slow', 'slowly throws', 'deaf', 'calls'),
  overlap: fc.constantFrom('allow', 'skip', 'queue'),
  overlapScope: fc.constantFrom('replica', 'replica', 'fleet'),
  missed: fc.constantFrom('run-once', 'run-all', 'skip'),
  missedToleranceMs: fc.constantFrom(100, 60_000),
  jitterMs: fc.constantFrom(0, 0, 700, 40_000),
  timeoutMs: fc.constantFrom(null, 600),
  retry: fc.constantFrom(
    null,
    { attempts: 3, minMs: 300, maxMs: 900, factor: 2, jitter: 0.5 },
    { attempts: 3, minMs: 40_000, maxMs: 40_000, factor: 1, jitter: 0 },
  ),
  recovery: fc.constantFrom('off', 'off', 'rerun'),
});

const story = fc.record({
  callers: fc.array(caller, { minLength: 3, maxLength: 25, size: 'max' }),
  entries: fc.tuple(entry, entry, entry),
  /** How long the store takes for a claim. */
  claimMs: fc.constantFrom(0, 20, 900),
  blockedMs: fc.constantFrom(0, 0, 3_500),
  /** An event in whose subscriber the scheduler is ended too. */
  endsOn: fc.constantFrom(
    undefined,
    undefined,
    undefined,
    'fire.started',
    'fire.retrying',
    'fire.failed',
    'scheduler.draining',
  ),
});

type Story = typeof story extends fc.Arbitrary<infer T> ? T : never;

/** The test's own timers beside those of the scheduler. */
function timersOn(clock: VirtualClock) {
  const own = new Set<object>();
  return {
    set: (callback: () => void, delayMs: number) => {
      const timer: object = clock.setTimer(() => {
        own.delete(timer);
        callback();
      }, delayMs);
      own.add(timer);
      return timer;
    },
    clear: (timer: object) => {
      own.delete(timer);
      clock.clearTimer(timer);
    },
    get pending() {
      return own.size;
    },
  };
}

type Timers = ReturnType<typeof timersOn>;

/** The memory store, whose claims take their time on a virtual clock. */
function slowStore(clock: VirtualClock, timers: Timers, claimMs: number): CoordinationBackend {
  const { store, claimer, leases, membership, recovery } = new MemoryBackend({ store: new MemoryStore({ clock }) });
  const claimMany = async (claims: readonly Claim[]) => {
    if (claimMs > 0) await new Promise<void>((resolve) => void timers.set(resolve, claimMs));
    return claimer.claimMany(claims);
  };
  const slow = new Proxy(claimer, {
    get: (target, name) => {
      if (name === 'claimMany') return claimMany;
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
  return { store, claimer: slow, leases, membership, recovery };
}

async function play({ callers, entries, claimMs, blockedMs, endsOn }: Story): Promise<void> {
  const clock = new VirtualClock();
  const timers = timersOn(clock);
  const { scheduler, stream, events, subscriberErrors, claims } = replica({
    clock,
    backend: slowStore(clock, timers, claimMs),
    random: chance(0.3, 0.9, 0.1, 0.6),
    drainDeadlineMs: DRAIN_DEADLINE_MS,
    maxConcurrentFires: MAX_CONCURRENT_FIRES,
  });
  const running = { now: 0, most: 0 };
  let called = 0;
  const drains = new Set<Promise<void>>();
  const waited: ReturnType<typeof follow>[] = [];
  const refusals: unknown[] = [];
  const pauseMs = (ms: number, { signal }: FireContext) =>
    new Promise<void>((resolve, reject) => {
      const timer = timers.set(resolve, ms);
      signal.addEventListener('abort', () => {
        timers.clear(timer);
        reject(signal.reason);
      });
    });
  const no = () => {
    throw new Error('no');
  };
  const methods: Record<string, (context: FireContext) => unknown> = {
    quick: () => 1,
    throws: no,
    slow: (context) => pauseMs(1_300, context),
    'slowly throws': (context) => pauseMs(250, context).then(no),
    // Hears of no abort, and ends late.
    deaf: () => new Promise<void>((resolve) => void timers.set(resolve, 4_000)),
    calls: () => (++called < 6 ? 1 : drains.add(scheduler.drain())),
  };
  const definitionOf = (key: string) => {
    const { method, stepMs, ...policies } = entries[KEYS.indexOf(key as 'a')]!;
    const run = async (context: FireContext) => {
      running.most = Math.max(running.most, ++running.now);
      try {
        return await methods[method]!(context);
      } finally {
        running.now -= 1;
      }
    };
    // What throws at once, and what answers at once, goes the way without a promise.
    const atOnce = method === 'quick' || method === 'throws';
    return definition(key, every(stepMs), { ...policies, run: atOnce ? methods[method]! : run } as never);
  };
  const ask = (call: (typeof callers)[number]['call'], key: string) => {
    try {
      if (call === 'drain' || call === 'stop') drains.add(scheduler[call]());
      else if (call === 'triggerAndWait') waited.push(follow(scheduler.triggerAndWait(key)));
      else if (call === 'add') scheduler.add(definitionOf(key));
      else if (call === 'update') scheduler.update(key, definitionOf(key));
      else if (call === 'start') scheduler.start();
      else scheduler[call](key);
    } catch (error) {
      refusals.push((error as Error).name);
    }
  };
  stream.events$.subscribe(({ type }) => {
    if (type === endsOn) ask('stop', 'a');
  });
  for (const key of KEYS) scheduler.add(definitionOf(key));
  ask('start', 'a');
  for (const { atMs, call, key } of callers) timers.set(() => ask(call, key), atMs);
  await clock.advance(3_000);
  await clock.suspend(blockedMs);
  await clock.advance(12_000);

  ask('stop', 'a');
  await clock.advance(claimMs + ABORT_GRACE_MS + SECOND);
  expect(scheduler.state).toBe('stopped');
  expect(drains.size).toBe(1);
  await Promise.all(drains);
  await claims?.close();
  // Methods that nobody waits for any more may run on; of the scheduler nothing is left.
  expect(clock.pendingTimers - timers.pending).toBe(0);
  await clock.advance(MINUTE);
  expect(clock.pendingTimers).toBe(0);
  expect(waited.filter(({ settled }) => !settled)).toEqual([]);
  expect(subscriberErrors).toEqual([]);
  const NAMED = ['EntryExistsError', 'EntryNotFoundError', 'SchedulerStoppedError'];
  expect(refusals.filter((name) => !NAMED.includes(name as string))).toEqual([]);
  expect(running.most).toBeLessThanOrEqual(MAX_CONCURRENT_FIRES);
  expect(events.filter(({ type }) => type === 'scheduler.stopped')).toHaveLength(1);
  expectOneEndEach(events);
  expect(scheduler.counters()).toEqual(countedBy(events));
}

/** Every fire that was told of has one end; what started ended as completed or failed; nothing is told of a fire after it. */
function expectOneEndEach(events: readonly CronEvent[]): void {
  const fires = new Map<object, CronEvent[]>();
  for (const event of events) if ('fire' in event) fires.set(event.fire, [...(fires.get(event.fire) ?? []), event]);
  for (const told of fires.values()) {
    const types = told.map(({ type }) => type);
    const ends = told.filter(({ type }) => TERMINAL.includes(type));
    expect({ types, ends: ends.length }).toEqual({ types, ends: 1 });
    const started = types.filter((type) => type === 'fire.started').length;
    const [end] = ends;
    if (end?.type === 'fire.completed') expect(started).toBe(1);
    else if (end?.type !== 'fire.failed') expect({ types, started }).toEqual({ types, started: 0 });
    // Granted when there was no time left to run it in.
    else if (started === 0) expect(end.error).toMatchObject({ code: 'DRAIN_DEADLINE' });
    const after = types.slice(types.findIndex((type) => TERMINAL.includes(type)) + 1);
    expect(after.filter((type) => type !== 'fire.returned-late' && type !== 'fire.lease-lost')).toEqual([]);
    expect(types.filter((type) => type === 'fire.retrying').length).toBeLessThan(3);
  }
}

/** What the events add up to. */
function countedBy(events: readonly CronEvent[]): FireCounters {
  const of = (type: string, reason?: string) =>
    events.filter(
      (event) => event.type === type && (reason === undefined || ('reason' in event && event.reason === reason)),
    ).length;
  return {
    started: of('fire.started'),
    completed: of('fire.completed'),
    failed: of('fire.failed'),
    retried: of('fire.retrying'),
    canceled: of('fire.canceled'),
    missed: events.reduce((sum, event) => sum + (event.type === 'fire.missed' ? event.count : 0), 0),
    abandoned: of('fire.abandoned'),
    skipped: {
      'not-leader': of('fire.skipped', 'not-leader'),
      'election-error': of('fire.skipped', 'election-error'),
      'already-claimed': of('fire.skipped', 'already-claimed'),
      'claim-error': of('fire.skipped', 'claim-error'),
    },
    rejected: {
      overlap: of('fire.rejected', 'overlap'),
      'concurrency-limit': of('fire.rejected', 'concurrency-limit'),
      paused: of('fire.rejected', 'paused'),
      guard: of('fire.rejected', 'guard'),
    },
  };
}

describe('start, drain and stop from many callers at once', () => {
  it(
    'leave one state, one drain, no timer, every promise settled, one end for each fire, and counters that are what the events say',
    async () => {
      await fc.assert(fc.asyncProperty(story, play), proof(120));
    },
    PROOF_TIMEOUT_MS,
  );
});
