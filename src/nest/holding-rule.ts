import type { EntryPolicies } from '../domain/entry.js';
import type { ConfigurationFault } from '../domain/errors.js';
import type { EntryStore, RuledEntry } from './entry-rules.js';
import { leaseTtlFaults } from './lease-life-rule.js';
import type { ResolvedOptions } from './resolve-options.js';

/** What a winner holds in the store while its method runs, and what the store must have for it. */
export function holdingFaults(
  { policies, claimer }: RuledEntry,
  store: EntryStore,
  subject: string,
): ConfigurationFault[] {
  const faults: ConfigurationFault[] = [];
  const needs = (code: string, option: string, able: boolean) => {
    const lacking = whyNot(claimer, store, able);
    if (lacking === undefined) return;
    faults.push({
      code,
      subject,
      expected: `a backend of forRoot that can, beside ${option}`,
      got: lacking,
      hint: `The winner of a fire takes a lease along with its claim: give forRoot a backend, such as SqliteBackend, and the entry no claimer of its own; or leave out ${option}.`,
    });
  };
  const holding = store?.holding === true;
  if (policies.overlapScope === 'fleet') {
    if (policies.overlap === 'allow') {
      faults.push({
        code: 'OVERLAP_CONFLICT',
        subject,
        expected: "overlap 'skip' or 'queue' beside overlapScope 'fleet'",
        got: "overlap 'allow'",
        hint: "Where all may run at once nothing is looked at: name an overlap, or make overlapScope 'replica'.",
      });
    }
    needs('OVERLAP_CONFLICT', "overlapScope 'fleet'", holding && store?.leases !== undefined);
  }
  if (policies.recovery === 'rerun') {
    needs('RECOVERY_CONFLICT', "recovery 'rerun'", holding && store?.recovery !== undefined);
  }
  return faults;
}

/** Once for all entries that hold a lease: it is the module's option that is too short. */
export function heldLeaseFaults(entries: Iterable<EntryPolicies>, options: ResolvedOptions): ConfigurationFault[] {
  for (const { overlap, overlapScope, recovery } of entries) {
    if (recovery === 'rerun') return leaseTtlFaults(options, "since there are entries with recovery 'rerun'");
    if (overlapScope === 'fleet' && overlap !== 'allow')
      return leaseTtlFaults(options, "since there are entries with overlapScope 'fleet'");
  }
  return [];
}

function whyNot(claimer: RuledEntry['claimer'], store: EntryStore, able: boolean): string | undefined {
  if (claimer === null) return 'claimer: null';
  if (claimer !== undefined) return 'a claimer of its own';
  if (store === null) return 'none';
  return able ? undefined : `the store "${store.store}", which cannot`;
}
