import { deepStrictEqual, equal, ok } from 'node:assert/strict';
import type { CoordinationBackend } from '../coordination/coordination-backend.js';
import { CAPABILITIES, type Capability, hasCapability } from './capabilities.js';
import { CLAIM_PROTOCOL_RULES } from './claim-rules.js';
import type { ConformanceRule } from './conformance-rule.js';
import { FORGET_RULES } from './forget-rules.js';
import { LEASE_STORE_RULES } from './lease-rules.js';
import { MEMBERSHIP_STORE_RULES } from './membership-rules.js';
import { OVERLAP_RULES } from './overlap-rules.js';
import { PAUSE_RULES } from './pause-rules.js';
import { RECOVERY_RULES } from './recovery-rules.js';
import { RECOVERY_SCAN_RULES } from './recovery-scan-rules.js';
import { RECOVERY_SWEEP_RULES } from './recovery-sweep-rules.js';

/** Past the default skew, so that rounding and the time of a call do not matter. */
const HOUR_MS = 3_600_000;

const BACKEND_RULES: readonly ConformanceRule[] = [
  {
    layer: 'backend',
    rule: 'a backend names its store',
    needs: [],
    moves: false,
    check: async ({ replica }) => {
      const { store } = await replica();
      ok(typeof store === 'string' && store !== '', `expected a name, got ${String(store)}`);
    },
  },
  {
    layer: 'backend',
    rule: 'the time it tells is milliseconds since the epoch, by the clock of the store',
    needs: ['now'],
    moves: true,
    check: async ({ replica, clock }) => {
      const backend = await replica();
      const tell = async () => backend.now?.(new AbortController().signal);
      equal(await tell(), clock.now());
      await clock.advance(HOUR_MS);
      equal(await tell(), clock.now());
    },
  },
  {
    layer: 'claims',
    rule: 'a replica goes on claiming after another has closed its backend',
    needs: [],
    moves: false,
    check: async ({ replica, clock }) => {
      const [a, b] = [await replica(), await replica()];
      await a.close?.();
      const context = { namespace: 'shop', entryKey: 'report', claimId: 'pass-1', instanceId: 'i-2', schedule: 's' };
      const scheduledAt = new Date(clock.now());
      const { signal } = new AbortController();
      equal(await b.claimer.claim('report@now', { ...context, scheduledAt, signal }), true);
    },
  },
];

/** Whether a backend has what was declared for it, and nothing else. */
export function checkDeclared(backend: CoordinationBackend, declared: readonly Capability[]): void {
  const found = CAPABILITIES.filter((capability) => hasCapability(backend, capability));
  deepStrictEqual(
    found,
    CAPABILITIES.filter((capability) => declared.includes(capability)),
  );
}

/** All rules, in the order of the layers: what is claimed comes before what is held, and that before who is there; what claims take with them comes last. */
export const CONFORMANCE_RULES: readonly ConformanceRule[] = [
  ...BACKEND_RULES,
  ...CLAIM_PROTOCOL_RULES.map(
    ({ rule, needs = [], moves = false, check }): ConformanceRule => ({
      layer: 'claims',
      rule,
      needs,
      moves,
      check: ({ clock, part, close }) => check({ clock, close, replica: part(({ claimer }) => claimer) }),
    }),
  ),
  ...LEASE_STORE_RULES.map(
    ({ rule, steps = false, check }): ConformanceRule => ({
      layer: 'leases',
      rule,
      needs: ['leases'],
      moves: steps,
      check: ({ part, pass, step, shortMs, close }) =>
        check({
          shortTtlMs: shortMs,
          pass,
          close,
          ...(step === undefined ? {} : { step }),
          replica: part(({ leases }) => declaredPart(leases, 'leases')),
        }),
    }),
  ),
  ...MEMBERSHIP_STORE_RULES.map(
    ({ rule, check }): ConformanceRule => ({
      layer: 'membership',
      rule,
      needs: ['membership'],
      moves: false,
      check: ({ part, pass, shortMs, close }) =>
        check({
          shortExpiryMs: shortMs,
          pass,
          close,
          replica: part(({ membership }) => declaredPart(membership, 'membership')),
        }),
    }),
  ),
  ...OVERLAP_RULES,
  ...PAUSE_RULES,
  ...RECOVERY_RULES,
  ...RECOVERY_SCAN_RULES,
  ...RECOVERY_SWEEP_RULES,
  ...FORGET_RULES,
];

function declaredPart<T>(part: T | undefined, name: Capability): T {
  ok(part !== undefined, `the backend declares ${name} and has none`);
  return part;
}
