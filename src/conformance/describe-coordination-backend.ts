import { CAPABILITIES, type Capability } from './capabilities.js';
import type { ConformanceRule, Layer } from './conformance-rule.js';
import type { ConformanceStore } from './conformance-store.js';
import { type OpenedStore, openStore } from './open-store.js';
import { CONFORMANCE_RULES, checkDeclared } from './rules.js';

/** The part of a test runner that is used: `describe` and `it` of Jest, Vitest, `node:test` and Mocha all have this shape. */
export interface TestRunner {
  describe(name: string, body: () => void): unknown;
  it(name: string, body: () => Promise<void>): unknown;
}

export interface ConformanceHarness {
  /** What the backend has beside `claim`: each of it is tested, and what it does not have must be absent from this list. */
  readonly capabilities: readonly Capability[];
  /** Whether the stores of `setUp` have a clock that the suite moves. Where they have not, the rules that cannot wait for the time to pass are left out. */
  readonly movesClock: boolean;
  /** Makes an empty store. Called for each rule. */
  setUp(): ConformanceStore | Promise<ConformanceStore>;
}

const LAYERS: readonly Layer[] = [
  'backend',
  'claims',
  'leases',
  'membership',
  'overlap',
  'pause',
  'recovery',
  'forget',
];

/**
 * Holds a backend to all the library relies on: one test per rule, layer by layer. What a backend does not declare is a test too, which fails if the
 * backend has it after all.
 *
 * @param runner default the globals `describe` and `it`
 * @throws TypeError if there is no test runner
 */
export function describeCoordinationBackend(
  name: string,
  harness: ConformanceHarness,
  runner: TestRunner = globalRunner(),
): void {
  const { describe, it } = runner;
  const rules = rulesFor(harness);
  describe(`coordination backend ${name}`, () => {
    it(
      declarationOf(harness),
      withStore(harness, async ({ replica }) => checkDeclared(await replica(), harness.capabilities)),
    );
    for (const layer of LAYERS) {
      const ofLayer = rules.filter((rule) => rule.layer === layer);
      if (ofLayer.length === 0) continue;
      describe(layer, () => {
        for (const { rule, check } of ofLayer) it(rule, withStore(harness, check));
      });
    }
  });
}

/** The rules that a backend breaks, checked without a test runner. */
export async function brokenRules(harness: ConformanceHarness): Promise<string[]> {
  const broken: string[] = [];
  for (const { layer, rule, check } of rulesFor(harness)) {
    await withStore(harness, check)().catch(() => broken.push(`${layer}: ${rule}`));
  }
  return broken;
}

/** A test of its own, so that nothing stays untested in silence. */
function declarationOf({ capabilities, movesClock }: ConformanceHarness): string {
  const has = [...capabilities, ...(movesClock ? ['a clock that is moved'] : [])];
  const lacks = CAPABILITIES.filter((capability) => !capabilities.includes(capability));
  const untested = [...lacks, ...(movesClock ? [] : ['what needs the clock moved'])];
  const not = untested.length === 0 ? '' : `; not tested: ${untested.join(', ')}`;
  return `has what is declared, and nothing else: ${has.join(', ') || 'claim'}${not}`;
}

function rulesFor({ capabilities, movesClock }: ConformanceHarness): ConformanceRule[] {
  return CONFORMANCE_RULES.filter(
    ({ needs, moves }) => (movesClock || !moves) && needs.every((capability) => capabilities.includes(capability)),
  );
}

/** A store for one rule alone. */
function withStore(harness: ConformanceHarness, check: (store: OpenedStore) => Promise<void>): () => Promise<void> {
  return async () => {
    const given = await harness.setUp();
    const store = openStore(given);
    try {
      if (harness.movesClock !== (given.clock !== undefined))
        throw new TypeError('movesClock: is there a clock, or not?');
      await check(store);
    } finally {
      await store.close();
    }
  };
}

function globalRunner(): TestRunner {
  const { describe, it } = globalThis as Partial<TestRunner>;
  if (describe !== undefined && it !== undefined) return { describe, it };
  throw new TypeError(
    "describeCoordinationBackend: there is no global describe and it. Pass your runner's, e.g. { describe, it } from 'node:test'.",
  );
}
