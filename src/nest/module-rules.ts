import { formatDuration } from '../domain/duration.js';
import type { ConfigurationFault } from '../domain/errors.js';
import { leaseTtlFaults } from './lease-life-rule.js';
import type { OptionReader } from './option-reader.js';
import type { ResolvedOptions } from './resolve-options.js';

/** The rules that bind several options of `forRoot`. Those of an entry are in `entry-rules.ts`. */
export function checkAcrossFields(read: OptionReader, options: ResolvedOptions, faults: ConfigurationFault[]): void {
  if (options.backend !== undefined && options.claimer !== undefined) {
    read.fault(
      'claimer',
      'OPTION_CONFLICT',
      'backend or claimer, not both',
      options.claimer,
      'A backend brings its own claimer.',
    );
  }
  if (options.leadership) {
    checkLeadership(read, options);
    faults.push(...leaseTtlFaults(options));
  }
  // With jitter on top each entry is checked by itself (DESIGN 6).
  if (options.backend !== undefined && options.claimPatienceMs >= options.retentionMs) {
    read.fault(
      'claimPatience',
      'OPTION_CONFLICT',
      `a duration below retention (${formatDuration(options.retentionMs)})`,
      formatDuration(options.claimPatienceMs),
      'A store may have forgotten a claim that is waited for that long: shorten claimPatience, or raise retention.',
    );
  }
}

function checkLeadership(read: OptionReader, options: ResolvedOptions): void {
  if (options.elector !== undefined) {
    read.fault(
      'leadership',
      'OPTION_CONFLICT',
      'leadership or elector, not both',
      true,
      'Leave out the one you do not mean.',
    );
  } else if (options.backend?.leases === undefined) {
    const store =
      options.backend === undefined ? 'no backend' : `the backend "${options.backend.store}", which has none`;
    read.fault('leadership', 'OPTION_CONFLICT', 'a backend with leases', store, 'Leadership is a lease in the store.');
  }
}
