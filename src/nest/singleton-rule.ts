import { formatDuration } from '../domain/duration.js';
import type { ConfigurationFault } from '../domain/errors.js';
import type { ResolvedOptions } from './resolve-options.js';

/** A renewal or heartbeat is sent at a third of its life and must have its answer, and a second try, before that is over. */
export function singletonFaults(options: ResolvedOptions): ConfigurationFault[] {
  const { backend, membership, coordinationTimeoutMs, leaseTtlMs, memberExpiryMs } = options;
  const lives: [name: string, lifeMs: number, needed: boolean][] = [
    ['leaseTtl', leaseTtlMs, backend?.leases !== undefined],
    ['memberExpiry', memberExpiryMs, backend?.membership !== undefined && membership === undefined],
  ];
  return lives
    .filter(([, lifeMs, needed]) => needed && coordinationTimeoutMs > lifeMs / 3)
    .map(([name, lifeMs]) => ({
      code: 'OPTION_CONFLICT',
      subject: `forRoot.${name}`,
      expected: `at least three times coordinationTimeout (${formatDuration(3 * coordinationTimeoutMs)}), since there are singleton tasks`,
      got: formatDuration(lifeMs),
      hint: `Raise ${name}, or shorten coordinationTimeout.`,
    }));
}
