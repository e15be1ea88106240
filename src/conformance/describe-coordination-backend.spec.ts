import { describe, expect, it } from '@jest/globals';
import type { CoordinationBackend } from '../coordination/coordination-backend.js';
import { MemoryBackend } from '../coordination/memory/memory-backend.js';
import { MemoryStore } from '../coordination/memory/memory-store.js';
import type { Capability } from './capabilities.js';
import type { ConformanceStore } from './conformance-store.js';
import { describeCoordinationBackend } from './describe-coordination-backend.js';

/** A test runner that runs what it is given when it is told to. */
function runner() {
  const tests: { name: string; body: () => Promise<void> }[] = [];
  const path: string[] = [];
  return {
    tests,
    describe: (name: string, body: () => void) => {
      path.push(name);
      body();
      path.pop();
    },
    it: (name: string, body: () => Promise<void>) => void tests.push({ name: [...path, name].join(' > '), body }),
    run: async () => {
      const failed: string[] = [];
      for (const { name, body } of tests)
        await body().catch((error: Error) => failed.push(`${name}: ${error.message}`));
      return failed;
    },
  };
}

const suiteOf = (capabilities: readonly Capability[], setUp: () => ConformanceStore, movesClock = false) => {
  const own = runner();
  describeCoordinationBackend('mine', { capabilities, movesClock, setUp }, own);
  return own;
};

/** The five lines of the documentation, on a map. */
function fiveLines(): ConformanceStore {
  const claimed = new Map<string, string>();
  const claim: CoordinationBackend['claimer']['claim'] = async (fireKey, { namespace, claimId }) => {
    const key = JSON.stringify([namespace, fireKey]);
    if (claimed.has(key)) return false;
    claimed.set(key, claimId);
    return true;
  };
  return { replica: () => ({ store: 'map', claimer: { claim } }) };
}

describe('describeCoordinationBackend', () => {
  it('takes a claimer of five lines, and says what it does not test', async () => {
    const suite = suiteOf([], fiveLines);
    expect(await suite.run()).toEqual([]);
    expect(suite.tests.length).toBeGreaterThanOrEqual(7);
    expect(suite.tests[0]?.name).toBe(
      'coordination backend mine > has what is declared, and nothing else: claim; not tested: repeatable, claimMany, lastFire, holding, pause, forget, leases, membership, recovery, now, what needs the clock moved',
    );
  });

  it.each([
    ['declares what it does not have', ['leases'] as const, {}],
    ['has what it does not declare', [] as const, { now: async () => 0 }],
  ])('fails where a backend %s', async (_, capabilities, more) => {
    const failed = await suiteOf(capabilities, () => ({
      replica: async () => ({ ...(await fiveLines().replica()), ...more }),
    })).run();
    expect(failed.filter((name) => name.includes('has what is declared'))).toHaveLength(1);
  });

  it('needs no clock that is moved: short waits do for leases, members, pauses and recovery', async () => {
    const suite = suiteOf(
      ['repeatable', 'claimMany', 'lastFire', 'holding', 'pause', 'forget', 'leases', 'membership', 'recovery', 'now'],
      () => {
        const store = new MemoryStore();
        return { replica: () => new MemoryBackend({ store }) };
      },
    );
    const waiting = suite.tests.filter(({ name }) =>
      /expired cannot be renewed|gone at its expiry|newest 256|> (overlap|pause|forget|recovery) >/.test(name),
    );
    expect(waiting.length).toBeGreaterThan(50);
    expect(suite.tests.filter(({ name }) => /set back|whole retention|past the retention/.test(name))).toEqual([]);
    // Each has a store of its own: they wait together.
    await Promise.all(waiting.map(({ body }) => body()));
  });

  it('fails where a clock is declared and none is given', async () => {
    const failed = await suiteOf([], fiveLines, true).run();
    expect(failed[0]).toMatch(/movesClock/);
  });

  it('closes every backend it opened, and then the store, also where a rule is broken', async () => {
    const order: string[] = [];
    const suite = suiteOf([], () => ({
      replica: async () => ({
        store: 'mine',
        claimer: { claim: () => Promise.reject(new Error('broken')) },
        open: async () => void order.push('open'),
        close: async () => void order.push('close'),
      }),
      close: () => order.push('store closed'),
    }));
    const broken = suite.tests.find(({ name }) => name.includes('different instants'));
    await expect(broken?.body()).rejects.toThrow('broken');
    expect(order).toEqual(['open', 'open', 'close', 'close', 'store closed']);
  });

  it('says what to do where there is no test runner', () => {
    const harness = { capabilities: [], movesClock: false, setUp: fiveLines };
    const { describe: ownDescribe } = globalThis as { describe?: unknown };
    try {
      Object.assign(globalThis, { describe: undefined });
      expect(() => describeCoordinationBackend('mine', harness)).toThrow(/node:test/);
    } finally {
      Object.assign(globalThis, { describe: ownDescribe });
    }
  });
});
