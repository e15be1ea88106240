import { CAPABILITIES, type Capability } from './capabilities.js';
import type { Layer } from './conformance-rule.js';
import type { ConformanceStore } from './conformance-store.js';
import type { ConformanceHarness } from './describe-coordination-backend.js';
import { FAULTS, type Fault, wrongStore } from './wrong-claimers.js';
import { LEASE_FAULTS, type LeaseFault, wrongLeaseStore } from './wrong-leases.js';
import { MEMBERSHIP_FAULTS, type MembershipFault, wrongMembershipStore } from './wrong-memberships.js';

/** A backend with one fault, each of a kind that runs a fire twice, eats one, lets two hold one lease, or keeps the dead on the ring. */
export interface WrongBackend extends ConformanceHarness {
  /** What is wrong with it. */
  readonly fault: string;
  /** The layer whose rules it breaks. */
  readonly layer: Layer;
}

interface Faults {
  readonly claims?: Fault;
  readonly leases?: LeaseFault;
  readonly membership?: MembershipFault;
}

const LACKS: readonly Capability[] = ['now', 'holding', 'pause', 'forget', 'recovery'];
const capabilities = CAPABILITIES.filter((capability) => !LACKS.includes(capability));

const harness = (faults: Faults) => ({ capabilities, movesClock: true, setUp: () => plainStore(faults) });

/** A plain backend without a fault: it passes. */
export const FAULTLESS_BACKEND: ConformanceHarness = harness({});

/** The suite rejects every one of them. */
export const WRONG_BACKENDS: readonly WrongBackend[] = [
  ...FAULTS.map((fault) => ({ fault, layer: 'claims' as const, ...harness({ claims: fault }) })),
  ...LEASE_FAULTS.map((fault) => ({ fault, layer: 'leases' as const, ...harness({ leases: fault }) })),
  ...MEMBERSHIP_FAULTS.map((fault) => ({ fault, layer: 'membership' as const, ...harness({ membership: fault }) })),
];

/** Each part has a clock of its own; they are moved together. */
function plainStore(faults: Faults): ConformanceStore {
  const claims = wrongStore(faults.claims);
  const leases = wrongLeaseStore(faults.leases);
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
    replica: async () => ({
      store: 'plain',
      claimer: await claims.replica(),
      leases: await leases.replica(),
      membership: await membership.replica(),
    }),
  };
}
