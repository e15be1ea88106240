import type { Claimer } from '../coordination/claimer.js';
import type { Capability } from './capabilities.js';
import type { Layer } from './conformance-rule.js';
import type { ConformanceStore } from './conformance-store.js';
import type { ConformanceHarness } from './describe-coordination-backend.js';
import { type ClaimFaults, FAULTS, wrongClaims } from './wrong-claimers.js';
import { LEASE_FAULTS, type LeaseFault, wrongLeaseStore } from './wrong-leases.js';
import { MEMBERSHIP_FAULTS, type MembershipFault, wrongMembershipStore } from './wrong-memberships.js';
import { OVERLAP_FAULTS } from './wrong-overlaps.js';
import { FORGET_FAULTS, PAUSE_FAULTS } from './wrong-pauses.js';
import { RECOVERY_FAULTS } from './wrong-recoveries.js';

/** A backend with one fault, each of a kind that runs a fire twice, eats one, lets two hold one lease, keeps the dead on the ring, runs what is paused, or leaves what died. */
export interface WrongBackend extends ConformanceHarness {
  /** What is wrong with it. */
  readonly fault: string;
  /** The layer whose rules it breaks. */
  readonly layer: Layer;
}

interface Faults extends ClaimFaults {
  readonly leases?: LeaseFault;
  readonly membership?: MembershipFault;
}

/** What each layer of rules stands on, which is all that a backend with a fault of that layer has: in the rules of those that stand on it, the fault would show too. */
const FIRST: readonly Capability[] = ['repeatable', 'claimMany', 'lastFire', 'leases', 'membership'];
const OVERLAP: readonly Capability[] = [...FIRST, 'holding'];
const PAUSE: readonly Capability[] = [...OVERLAP, 'pause'];
const RECOVERY: readonly Capability[] = [...PAUSE, 'recovery'];
const FORGET: readonly Capability[] = [...RECOVERY, 'forget'];

const harness = (faults: Faults, capabilities: readonly Capability[]) => ({
  capabilities,
  movesClock: true,
  setUp: () => plainStore(faults, capabilities),
});

/** A plain backend without a fault: it passes. */
export const FAULTLESS_BACKEND: ConformanceHarness = harness({}, FORGET);

const wrong = <T extends keyof Faults & Layer>(
  layer: T,
  faults: readonly NonNullable<Faults[T]>[],
  capabilities: readonly Capability[],
): WrongBackend[] => faults.map((fault) => ({ fault, layer, ...harness({ [layer]: fault }, capabilities) }));

/** The suite rejects every one of them. */
export const WRONG_BACKENDS: readonly WrongBackend[] = [
  ...wrong('claims', FAULTS, FIRST),
  ...wrong('leases', LEASE_FAULTS, FIRST),
  ...wrong('membership', MEMBERSHIP_FAULTS, FIRST),
  ...wrong('overlap', OVERLAP_FAULTS, OVERLAP),
  ...wrong('pause', PAUSE_FAULTS, PAUSE),
  ...wrong('recovery', RECOVERY_FAULTS, RECOVERY),
  ...wrong('forget', FORGET_FAULTS, FORGET),
];

/** Each part has a clock of its own; they are moved together. */
function plainStore(faults: Faults, capabilities: readonly Capability[]): ConformanceStore {
  const leases = wrongLeaseStore(faults.leases);
  const claims = wrongClaims(faults, leases);
  const membership = wrongMembershipStore(faults.membership);
  return {
    clock: {
      now: () => claims.clock.now(),
      advance: async (ms) => {
        for (const pass of [claims.clock.advance.bind(claims.clock), leases.pass, membership.pass]) await pass(ms);
      },
      step: (ms) => {
        claims.clock.step(ms);
        leases.step?.(ms);
      },
    },
    replica: async () => {
      const has = (capability: Capability) => capabilities.includes(capability);
      const { holding, pause, resume, forget, ...claimer } = claims.replica() as Required<Claimer>;
      return {
        store: 'plain',
        claimer: {
          ...claimer,
          ...(has('holding') && { holding }),
          ...(has('pause') && { pause, resume }),
          ...(has('forget') && { forget }),
        },
        leases: await leases.replica(),
        membership: await membership.replica(),
        ...(has('recovery') && { recovery: claims.recovery }),
      };
    },
  };
}
