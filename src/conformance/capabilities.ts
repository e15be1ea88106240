import type { CoordinationBackend } from '../coordination/coordination-backend.js';

/**
 * What a backend may have beside `claim`. `repeatable` stands for the whole claim protocol: whoever may be asked again keeps claims by claim id, and removes
 * them under a floor. `pause` stands for `pause` and `resume`: one without the other is none.
 */
export const CAPABILITIES = [
  'repeatable',
  'claimMany',
  'lastFire',
  'holding',
  'pause',
  'forget',
  'leases',
  'membership',
  'recovery',
  'now',
] as const;

export type Capability = (typeof CAPABILITIES)[number];

/** Whether a backend has it, read from the object as the library reads it. */
export function hasCapability(backend: CoordinationBackend, capability: Capability): boolean {
  switch (capability) {
    case 'repeatable':
    case 'holding':
      return backend.claimer[capability] === true;
    case 'pause':
      return typeof backend.claimer.pause === 'function' && typeof backend.claimer.resume === 'function';
    case 'claimMany':
    case 'lastFire':
    case 'forget':
      return typeof backend.claimer[capability] === 'function';
    case 'now':
      return typeof backend.now === 'function';
    default:
      return backend[capability] !== undefined;
  }
}
