import { SeededRandom } from '../processes/random.js';

/**
 * `surge` is a Deployment with `maxUnavailable: 0`: the new replica takes part before the old one is told to go. `swap` is one with `maxSurge: 0`, and faster: the old one is told, and
 * the new one starts while it drains.
 */
export const REPLACEMENT_KINDS = ['surge', 'swap'] as const;
export type ReplacementKind = (typeof REPLACEMENT_KINDS)[number];

export interface Replacement {
  readonly kind: ReplacementKind;
  readonly old: number;
  readonly new: number;
  /** Milliseconds from the beginning; later where the one before is not done. */
  readonly atMs: number;
  /** Where within a second the old one gets its SIGTERM. */
  readonly phaseMs: number;
}

/** Before the first replacement and after the last, the fleet is looked at too. */
export const CALM_MS = 1_500;
/** Every entry is due at the full second. Just after it claims are on the way, just before it nothing is. */
const PHASES_MS: readonly (readonly [least: number, most: number])[] = [
  [2, 30],
  [0, 999],
  [970, 999],
];

/** Replicas 1 to n by n+1 to 2n, in an order of chance. The same seed makes the same plan; each has both kinds and every phase. */
export function planRollout(given: {
  readonly seed: number;
  readonly seconds: number;
  readonly replicas: number;
}): Replacement[] {
  const { seed, seconds, replicas } = given;
  const random = new SeededRandom(seed);
  const order = random.shuffled(Array.from({ length: replicas }, (_, i) => i + 1));
  const kinds = random.shuffled(
    order.map((_, i) => REPLACEMENT_KINDS[i % REPLACEMENT_KINDS.length] as ReplacementKind),
  );
  const phases = random.shuffled(
    order.map((_, i) => random.between(...(PHASES_MS[i % PHASES_MS.length] as [number, number]))),
  );
  const spacingMs = (seconds * 1_000 - 2 * CALM_MS) / replicas;
  return order.map((old, i) => ({
    kind: kinds[i] as ReplacementKind,
    old,
    new: replicas + i + 1,
    atMs: Math.round(CALM_MS + i * spacingMs),
    phaseMs: phases[i] as number,
  }));
}

/** How long until the wall clock shows the phase. */
export function waitForPhaseMs(phaseMs: number, nowMs: number): number {
  return (((phaseMs - nowMs) % 1_000) + 1_000) % 1_000;
}

export function describeReplacement({ kind, atMs, old, new: next, phaseMs }: Replacement): string {
  const from = `${(atMs / 1_000).toFixed(1).padStart(5)} s`;
  return `${from}  ${kind}  replica ${old} by ${next}, SIGTERM ${String(phaseMs).padStart(3)} ms into a second`;
}
