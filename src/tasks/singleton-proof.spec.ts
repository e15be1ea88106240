import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { MemoryStore } from '../coordination/memory/memory-store.js';
import { StaticMembership } from '../coordination/static-membership.js';
import { PROOF_TIMEOUT_MS, proof } from '../schedule/proof.fixture.js';
import { VirtualClock } from '../testing/virtual-clock.js';
import type { TaskContext } from './task.js';
import { LEASE_TTL, replica, SECOND, task, watchedLeases } from './tasks.fixture.js';

const STEP = SECOND;
const NAMES = ['a', 'b', 'c'];

/** What befalls a fleet, one after the other, some seconds apart. */
const trouble = fc.record({
  afterSteps: fc.integer({ min: 1, max: 40 }),
  who: fc.integer({ min: 0, max: NAMES.length - 1 }),
  what: fc.oneof(
    fc.record({ kind: fc.constant('stall' as const), steps: fc.integer({ min: 1, max: 90 }) }),
    fc.record({ kind: fc.constant('cut' as const), steps: fc.integer({ min: 1, max: 60 }) }),
    fc.record({ kind: fc.constant('view' as const), members: fc.subarray(NAMES) }),
    fc.record({ kind: fc.constant('runNow' as const) }),
  ),
});
const story = fc.record({
  runSteps: fc.array(fc.integer({ min: 0, max: 70 }), { minLength: 1, maxLength: 5 }),
  nextSteps: fc.array(fc.integer({ min: 0, max: 20 }), { minLength: 1, maxLength: 5 }),
  troubles: fc.array(trouble, { minLength: 1, maxLength: 12 }),
});

interface Run {
  readonly by: number;
  readonly token: number;
  over: boolean;
}

/** Three replicas, each with its own view and its own clock, on one store. */
function fleet({ runSteps, nextSteps }: { runSteps: readonly number[]; nextSteps: readonly number[] }) {
  const clock = new VirtualClock();
  const store = new MemoryStore({ clock });
  const runs: Run[] = [];
  const replicas = NAMES.map((id, index) => {
    const own = new VirtualClock();
    const state = { cutSteps: 0, stalledSteps: 0, missedMs: 0 };
    const members = new StaticMembership(NAMES);
    const backend = watchedLeases(() => {
      if (state.cutSteps > 0) throw new Error('no way to the store');
    });
    const given = replica({ id, clock, own, store, members, backend });
    const run = async (context: TaskContext) => {
      const current: Run = { by: index, token: context.fencingToken!, over: false };
      const count = runs.push(current);
      for (let step = 0; step < runSteps[count % runSteps.length]! && !context.signal.aborted; step++) {
        await new Promise<void>((resume) => own.setTimer(resume, STEP));
      }
      current.over = true;
      return nextSteps[count % nextSteps.length]! * STEP;
    };
    given.tasks.add(task('singleton', run));
    given.tasks.start();
    return { ...given, own, state, members };
  });

  return {
    clock,
    replicas,
    runs,
    async step() {
      await clock.advance(STEP);
      for (const { own, state } of replicas) {
        state.cutSteps = Math.max(0, state.cutSteps - 1);
        if (state.stalledSteps > 0) {
          state.stalledSteps -= 1;
          state.missedMs += STEP;
        } else if (state.missedMs > 0) {
          await own.suspend(state.missedMs + STEP);
          state.missedMs = 0;
        } else await own.advance(STEP);
      }
    },
  };
}

describe('a singleton, whatever befalls its fleet', () => {
  test(
    'runs once at a time but for a replica that stands still past its lease, under tokens that grow, and goes on when all is well again',
    async () => {
      const holds = fc.asyncProperty(story, async ({ troubles, ...given }) => {
        const world = fleet(given);
        const check = () => {
          const open = world.runs.filter(({ over }) => !over);
          // A replica that stands still cannot end its run, nor one that has just woken.
          const awake = open.filter(
            ({ by }) => world.replicas[by]!.state.stalledSteps === 0 && world.replicas[by]!.state.missedMs === 0,
          );
          const told = awake.filter(({ by, token }) => {
            const losses = world.replicas[by]!.ofType('task.lease-lost');
            return !losses.some(({ fencingToken }) => fencingToken === token);
          });
          expect(told.length).toBeLessThanOrEqual(1);
          // No replica runs it twice itself, not even beside a run that lost its lease and has not ended.
          for (const { by } of open) expect(open.filter((run) => run.by === by)).toHaveLength(1);
        };
        for (const { afterSteps, who, what } of troubles) {
          for (let step = 0; step < afterSteps; step++) {
            await world.step();
            check();
          }
          const { state, members, tasks } = world.replicas[who]!;
          if (what.kind === 'stall') state.stalledSteps = what.steps;
          else if (what.kind === 'cut') state.cutSteps = what.steps;
          else if (what.kind === 'view') members.update(what.members);
          else void tasks.runNow('task').catch(() => undefined);
        }
        // When all is well again the task goes on, on one replica: however long its last run, pause, lease and outage.
        for (const { members } of world.replicas) members.update(NAMES);
        const before = world.runs.length;
        for (let step = 0; step < 90 + 60 + 70 + 20 + LEASE_TTL / STEP + 20; step++) {
          await world.step();
          check();
        }
        expect(world.runs.length).toBeGreaterThan(before);
        const tokens = world.runs.map(({ token }) => token);
        expect(tokens).toEqual([...new Set(tokens)].sort((a, b) => a - b));
      });
      await fc.assert(holds, proof(30));
    },
    2 * PROOF_TIMEOUT_MS,
  );
});
