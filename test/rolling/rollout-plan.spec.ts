import { describe, expect, it } from '@jest/globals';
import { CALM_MS, planRollout, REPLACEMENT_KINDS, waitForPhaseMs } from './rollout-plan.js';

const SEEDS = Array.from({ length: 50 }, (_, seed) => seed);

describe('the plan of a rollout', () => {
  it('is decided by its seed', () => {
    const given = { seconds: 30, replicas: 6 };
    expect(planRollout({ ...given, seed: 7 })).toEqual(planRollout({ ...given, seed: 7 }));
    expect(planRollout({ ...given, seed: 7 })).not.toEqual(planRollout({ ...given, seed: 8 }));
  });

  it.each(SEEDS)('replaces each replica once, in each way and at each moment of a second (seed %i)', (seed) => {
    const plan = planRollout({ seed, seconds: 30, replicas: 6 });
    expect(plan.map(({ old }) => old).sort()).toEqual([1, 2, 3, 4, 5, 6]);
    expect(plan.map((replacement) => replacement.new)).toEqual([7, 8, 9, 10, 11, 12]);
    for (const kind of REPLACEMENT_KINDS) expect(plan.filter((each) => each.kind === kind)).toHaveLength(3);
    expect(plan.filter(({ phaseMs }) => phaseMs <= 30).length).toBeGreaterThanOrEqual(2);
    expect(plan.filter(({ phaseMs }) => phaseMs >= 970).length).toBeGreaterThanOrEqual(2);
  });

  it('leaves the fleet alone at its beginning and its end', () => {
    const times = planRollout({ seed: 1, seconds: 20, replicas: 6 }).map(({ atMs }) => atMs);
    expect(times).toEqual([...times].sort((a, b) => a - b));
    expect(times[0]).toBe(CALM_MS);
    expect(times.at(-1)).toBeLessThan(20_000 - CALM_MS);
  });

  it.each([
    [6, 5_000, 6],
    [6, 5_006, 0],
    [6, 5_007, 999],
    [999, 5_000, 999],
    [0, 5_999, 1],
  ])('waits until the clock shows the phase: %i ms at %i', (phaseMs, nowMs, waitMs) => {
    expect(waitForPhaseMs(phaseMs, nowMs)).toBe(waitMs);
  });
});
