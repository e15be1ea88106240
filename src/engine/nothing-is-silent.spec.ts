import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { MISSED_POLICIES, OVERLAP_POLICIES } from '../domain/policies.js';
import { definition, every, replica } from './replica.fixture.js';
import { MAX_WAIT_MS } from './wake-loop.js';

const ENDS = new Set(['fire.completed', 'fire.failed', 'fire.rejected', 'fire.skipped', 'fire.canceled']);

describe('nothing is silent', () => {
  it('every instant that came due has one end or is counted as missed, whatever time and methods do', async () => {
    const moves = fc.oneof(
      fc.record({ move: fc.constant('advance' as const), ms: fc.integer({ min: 0, max: 3_000 }) }),
      fc.record({ move: fc.constant('suspend' as const), ms: fc.integer({ min: 0, max: 20_000 }) }),
      fc.record({ move: fc.constant('step' as const), ms: fc.integer({ min: 0, max: 20_000 }) }),
      fc.record({ move: fc.constant('wakeEarly' as const), ms: fc.integer({ min: 1, max: 20 }) }),
    );
    const policies = fc.record({
      missed: fc.constantFrom(...MISSED_POLICIES),
      overlap: fc.constantFrom(...OVERLAP_POLICIES),
      missedToleranceMs: fc.constantFrom(0, 500, 60_000),
      catchUpWithinMs: fc.constantFrom(3_000, 86_400_000),
      jitterMs: fc.constantFrom(0, 700),
      timeoutMs: fc.constantFrom(null, 300),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(moves, { minLength: 1, maxLength: 12 }),
        policies,
        fc.constantFrom(130, 1_000, 2_700),
        fc.constantFrom(0, 0, 450),
        async (steps, chosen, stepMs, methodMs) => {
          const { clock, scheduler, events, ofType } = replica();
          const run = () => (methodMs === 0 ? 1 : new Promise((end) => clock.setTimer(() => end(1), methodMs)));
          scheduler.add(definition('a', every(stepMs), { ...chosen, run }));
          scheduler.start();
          const fromMs = clock.now();
          for (const { move, ms } of steps) await clock[move](ms);
          // What came due is reached before the end is looked at, and all that is under way has ended.
          await clock.advance(MAX_WAIT_MS);
          const reachedMs = clock.now();
          scheduler.remove('a');
          // Those that are caught up run one after the other where they may not overlap.
          await clock.advance(600_000);

          const due = Math.floor(reachedMs / stepMs) - Math.floor(fromMs / stepMs);
          const ended = events.filter(
            (event) => ENDS.has(event.type) && 'fire' in event && event.fire.scheduledAt.getTime() <= reachedMs,
          );
          expect(ended.length + ofType('fire.missed').reduce((sum, { count }) => sum + count, 0)).toBe(due);
          expect(new Set(ended.map((event) => 'fire' in event && event.fire.fireKey)).size).toBe(ended.length);
        },
      ),
      { numRuns: 150 },
    );
  }, 60_000);
});
