import type { ConfigurationFault } from '../domain/errors.js';
import { leaseTtlFaults, memberExpiryFaults } from './lease-life-rule.js';
import type { ResolvedOptions } from './resolve-options.js';

const BECAUSE = 'since there are singleton tasks';

/** A singleton task holds a lease, and looks for its home among members with heartbeats. */
export function singletonFaults(options: ResolvedOptions): ConfigurationFault[] {
  const { backend, membership } = options;
  return [
    ...(backend?.leases === undefined ? [] : leaseTtlFaults(options, BECAUSE)),
    ...(backend?.membership === undefined || membership !== undefined ? [] : memberExpiryFaults(options, BECAUSE)),
  ];
}
