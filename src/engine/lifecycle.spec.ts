import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { MemoryBackend } from '../coordination/memory/memory-backend.js';
import { MemoryStore } from '../coordination/memory/memory-store.js';
import { DrainDeadlineError, SchedulerStoppedError } from '../domain/errors.js';
import type { CronEvent } from '../events/cron-event.js';
import type { FireContext } from '../fire/fire-context.js';
import { VirtualClock } from '../testing/virtual-clock.js';
import { Lifecycle, type LifecycleState } from './lifecycle.js';
import { definition, every, replica, SECOND } from './replica.fixture.js';

const TERMINAL = new Set(['fire.completed', 'fire.failed', 'fire.rejected', 'fire.canceled', 'fire.skipped']);

describe('lifecycle', () => {
  const STATES = ['idle', 'started', 'draining', 'stopped'] as const;
  const ways: Readonly<Record<LifecycleState, LifecycleState[]>> = {
    idle: [],
    started: ['started'],
    draining: ['draining'],
    stopped: ['draining', 'stopped'],
  };

  it.each([
    ['idle', ['started', 'draining']],
    ['started', ['draining']],
    ['draining', ['stopped']],
    ['stopped', []],
  ] as const)('from %s it goes to %j and nowhere else', (from, to) => {
    for (const next of STATES) {
      const lifecycle = new Lifecycle();
      for (const step of ways[from]) expect(lifecycle.enter(step)).toBe(true);
      const may = (to as readonly LifecycleState[]).includes(next);
      expect(lifecycle.enter(next)).toBe(may);
      expect(lifecycle.state).toBe(may ? next : from);
      expect(lifecycle.ending).toBe(['draining', 'stopped'].includes(lifecycle.state));
    }
  });

  it('start, drain, stop, add, remove, update, pause and trigger in any order leave one state, no timer, and each fire one end', async () => {
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.record({ advance: fc.integer({ min: 0, max: 2_500 }) }) },
      { weight: 1, arbitrary: fc.record({ suspend: fc.integer({ min: 0, max: 200_000 }) }) },
      { weight: 1, arbitrary: fc.record({ step: fc.integer({ min: -20_000, max: 20_000 }) }) },
      {
        weight: 8,
        arbitrary: fc.record({
          // Ends are rare, or nearly every sequence would be over before it has begun.
          call: fc.oneof(
            { weight: 1, arbitrary: fc.constantFrom('drain', 'stop') },
            { weight: 12, arbitrary: fc.constantFrom('add', 'add', 'remove', 'update', 'pause', 'resume', 'trigger') },
            { weight: 4, arbitrary: fc.constant('start') },
          ),
          key: fc.constantFrom('a', 'b', 'c'),
          kind: fc.oneof(
            { weight: 1, arbitrary: fc.constantFrom('drains', 'removes') },
            { weight: 9, arbitrary: fc.constantFrom('sync', 'throws', 'async', 'slow', 'deaf') },
          ),
          stepMs: fc.constantFrom(300, 1_000, 7_000),
          jitterMs: fc.constantFrom(0, 0, 900),
          timeoutMs: fc.constantFrom(null, 400, 100_000),
          overlap: fc.constantFrom('allow', 'skip'),
          missed: fc.constantFrom('skip', 'run-once', 'run-all'),
        }),
      },
    );
    const run = async (
      steps: readonly (typeof step extends fc.Arbitrary<infer T> ? T : never)[],
      coordinated: boolean,
    ) => {
      const clock = new VirtualClock();
      const { scheduler, events, subscriberErrors, claims } = replica({
        clock,
        drainDeadlineMs: 2 * SECOND,
        ...(coordinated ? { backend: new MemoryBackend({ store: new MemoryStore({ clock }) }) } : {}),
      });
      const drains = new Set<Promise<void>>();
      const refusals: unknown[] = [];
      const methods: Record<string, (context: FireContext) => unknown> = {
        sync: () => 1,
        throws: () => {
          throw new Error('no');
        },
        async: async () => 1,
        slow: ({ signal }) =>
          new Promise((end, fail) => {
            const timer = clock.setTimer(() => end(1), 1_500);
            signal.addEventListener('abort', () => {
              clock.clearTimer(timer);
              fail(signal.reason);
            });
          }),
        deaf: () => new Promise(() => undefined),
        drains: () => void drains.add(scheduler.drain()),
        removes: ({ entryKey }) => scheduler.remove(entryKey),
      };
      for (const each of steps) {
        if ('advance' in each) await clock.advance(each.advance);
        else if ('suspend' in each) await clock.suspend(each.suspend);
        else if ('step' in each) clock.step(each.step);
        else {
          const { call, key, kind, stepMs, ...policies } = each;
          try {
            const made = definition(key, every(stepMs), { run: methods[kind]!, ...policies, maxConcurrent: 3 });
            if (call === 'start') scheduler.start();
            else if (call === 'add') scheduler.add(made);
            else if (call === 'update') scheduler.update(key, made);
            else if (call === 'drain' || call === 'stop') drains.add(scheduler[call]());
            else scheduler[call](key);
          } catch (error) {
            refusals.push(error);
          }
        }
      }
      drains.add(scheduler.stop());
      await clock.advance(20 * SECOND);

      expect(drains.size).toBe(1);
      await Promise.all(drains);
      expect(scheduler.state).toBe('stopped');
      await claims?.close();
      expect(clock.pendingTimers).toBe(0);
      expect(subscriberErrors).toEqual([]);
      for (const error of refusals)
        expect(['EntryExistsError', 'EntryNotFoundError', SchedulerStoppedError.name]).toContain((error as Error).name);
      expectOneEndEach(events, coordinated);
    };
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { minLength: 10, maxLength: 40, size: 'max' }),
        fc.boolean(),
        (steps, coordinated) => run(steps as never, coordinated),
      ),
      { numRuns: 100 },
    );
  }, 60_000);
});

/** Every fire that was told of has one end, its start before it; nothing starts after the scheduler stopped. */
function expectOneEndEach(events: readonly CronEvent[], coordinated: boolean): void {
  const fires = new Map<object, string[]>();
  const started = new Map<string, number>();
  const late = new Set<object>();
  let stopped = false;
  for (const event of events) {
    if (event.type === 'scheduler.stopped') stopped = true;
    if (!('fire' in event)) continue;
    if (stopped) expect(event.type).toBe('fire.returned-late');
    if (event.type === 'fire.failed' && event.error instanceof DrainDeadlineError) late.add(event.fire);
    if (event.type === 'fire.started') started.set(event.fire.fireKey, (started.get(event.fire.fireKey) ?? 0) + 1);
    fires.set(event.fire, [...(fires.get(event.fire) ?? []), event.type]);
  }
  for (const [fire, types] of fires) {
    expect(types.filter((type) => TERMINAL.has(type))).toHaveLength(1);
    const ran = types.includes('fire.completed') || types.includes('fire.failed');
    // A caught-up fire that has its claim and waits for its place ends at the drain deadline, without a start.
    if (types[0] !== 'fire.failed' || !late.has(fire)) expect(types[0] === 'fire.started').toBe(ran);
  }
  if (coordinated) for (const runs of started.values()) expect(runs).toBe(1);
}
