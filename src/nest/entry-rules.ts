import type { GuardedBackend } from '../coordination/guarded-backend.js';
import type { ConfigurationFault } from '../domain/errors.js';
import { delayFaults } from './delay-rule.js';
import { holdingFaults } from './holding-rule.js';
import { placementFaults } from './placement-rule.js';
import type { ResolvedEntry } from './resolve-entry.js';
import type { ResolvedOptions } from './resolve-options.js';

/** What the rules look at. */
export type RuledEntry = Pick<ResolvedEntry, 'schedule' | 'policies' | 'claimer'>;

/** What the store can do that entries without a claimer of their own ask, read from the claimer that was injected; `null`: there is none. */
export type EntryStore = Pick<GuardedBackend, 'store' | 'holding' | 'leases' | 'recovery'> | null;

/** The rules that bind several options of an entry, and options of the module with them. */
export function entryFaults(
  entry: RuledEntry,
  module: ResolvedOptions,
  store: EntryStore,
  subject: string,
): ConfigurationFault[] {
  return [
    ...placementFaults(entry, module, subject),
    ...delayFaults(entry, module, subject),
    ...holdingFaults(entry, store, subject),
  ];
}
