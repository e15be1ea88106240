import { describe, expect, it } from '@jest/globals';
import { countByKind, type FaultKind, kindsFor, planFaults, STORES } from './fault-plan.js';
import { profileFor } from './profile.js';

const plan = (store: (typeof STORES)[number], seconds: number, seed: number, kinds?: readonly FaultKind[]) =>
  planFaults({
    store,
    seconds,
    seed,
    replicas: 6,
    profile: profileFor(seconds),
    ...(kinds === undefined ? {} : { kinds }),
  });

describe.each(STORES)('the plan of faults for %s', (store) => {
  const seeds = Array.from({ length: 200 }, (_, i) => i + 1);

  it('is decided by the seed', () => {
    expect(plan(store, 60, 7)).toEqual(plan(store, 60, 7));
    expect(plan(store, 60, 7)).not.toEqual(plan(store, 60, 8));
  });

  it.each([20, 30, 100])('has every kind that the store can have, in %s s, whatever the seed', (seconds) => {
    const wanted = kindsFor({ store }).sort();
    for (const seed of seeds) expect([...countByKind(plan(store, seconds, seed)).keys()].sort()).toEqual(wanted);
  });

  it.each([20, 30, 100])('stops a replica for longer than the retention, in %s s', (seconds) => {
    const { retentionMs } = profileFor(seconds);
    for (const seed of seeds) {
      const stops = plan(store, seconds, seed).filter(({ kind, lastsMs }) => kind === 'pause' && lastsMs > retentionMs);
      expect(stops.length).toBeGreaterThan(0);
    }
  });

  it('pauses the store for 10 s, sets clocks 5 min ahead and 5 min behind', () => {
    for (const seed of seeds) {
      const faults = plan(store, 30, seed);
      expect(faults.filter(({ kind }) => kind === 'store-pause').every(({ lastsMs }) => lastsMs === 10_000)).toBe(true);
      expect(new Set(faults.flatMap(({ offsetMs }) => offsetMs ?? []))).toEqual(new Set([300_000, -300_000]));
    }
  });

  it('heals everything before the end, and harms a replica, or the store, in one way at a time', () => {
    for (const seed of seeds) {
      const faults = plan(store, 40, seed);
      for (const { atMs, lastsMs } of faults) expect(atMs + lastsMs).toBeLessThan(40_000);
      for (const replica of [undefined, 1, 2, 3, 4, 5, 6]) {
        const mine = faults.filter((fault) => fault.replica === replica);
        for (const [i, { atMs }] of mine.entries()) {
          const before = mine[i - 1];
          if (before !== undefined) expect(atMs).toBeGreaterThan(before.atMs + before.lastsMs);
        }
      }
    }
  });

  it('can be bound to some kinds', () => {
    expect([...countByKind(plan(store, 30, 1, ['kill'])).keys()]).toEqual(['kill']);
  });
});
