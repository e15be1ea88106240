import type { Capability } from './capabilities.js';
import type { OpenedStore } from './open-store.js';

/** What of a backend a rule is about; the suite goes through them in this order. */
export type Layer = 'backend' | 'claims' | 'leases' | 'membership' | 'overlap' | 'pause' | 'recovery' | 'forget';

/** One rule of a layer. It throws where a backend breaks it. */
export interface ConformanceRule {
  readonly layer: Layer;
  readonly rule: string;
  /** What a backend must declare for the rule to hold for it. */
  readonly needs: readonly Capability[];
  /** The rule needs a clock that the harness moves. */
  readonly moves: boolean;
  readonly check: (store: OpenedStore) => Promise<void>;
}

/** Writes the rules of a layer that all need the same, and some of them more. */
export function ruleIn(layer: Layer, common: readonly Capability[]) {
  return (
    rule: string,
    check: ConformanceRule['check'],
    { needs = [], moves = false }: { readonly needs?: readonly Capability[]; readonly moves?: boolean } = {},
  ): ConformanceRule => ({ layer, rule, needs: [...common, ...needs], moves, check });
}
