import { formatDuration } from '../domain/duration.js';
import type { ConfigurationFault } from '../domain/errors.js';
import type { ResolvedOptions } from './resolve-options.js';

/** `because` says what holds a lease: `since there are singleton tasks`. */
export function leaseTtlFaults(options: ResolvedOptions, because?: string): ConfigurationFault[] {
  return lifeFaults('leaseTtl', options.leaseTtlMs, options, because);
}

export function memberExpiryFaults(options: ResolvedOptions, because?: string): ConfigurationFault[] {
  return lifeFaults('memberExpiry', options.memberExpiryMs, options, because);
}

/** A renewal or heartbeat is sent at a third of its life and must have its answer, and a second try, before that is over. */
function lifeFaults(
  name: string,
  lifeMs: number,
  { coordinationTimeoutMs }: ResolvedOptions,
  because: string | undefined,
): ConfigurationFault[] {
  if (coordinationTimeoutMs <= lifeMs / 3) return [];
  return [
    {
      code: 'OPTION_CONFLICT',
      subject: `forRoot.${name}`,
      expected: `at least three times coordinationTimeout (${formatDuration(3 * coordinationTimeoutMs)})${because === undefined ? '' : `, ${because}`}`,
      got: formatDuration(lifeMs),
      hint: `Raise ${name}, or shorten coordinationTimeout.`,
    },
  ];
}
