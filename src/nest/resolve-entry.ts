import type { Claimer } from '../coordination/claimer.js';
import type { EntryPolicies } from '../domain/entry.js';
import { entryKeyFault } from '../domain/entry-key.js';
import type { ConfigurationFault } from '../domain/errors.js';
import type { Schedule } from '../schedule/schedule.js';
import { ENTRY_POLICY_OPTIONS, readEntryOptions } from './entry-policy-options.js';
import { type EntryStore, entryFaults } from './entry-rules.js';
import { CLAIMER_EXPECTED, isClaimer } from './given-objects.js';
import { OptionReader, shown } from './option-reader.js';
import type { EntryConfiguration } from './options.js';
import type { ResolvedOptions } from './resolve-options.js';
import { resolveSchedule } from './resolve-schedule.js';

/** An entry as it will be scheduled. */
export interface ResolvedEntry {
  readonly key: string;
  readonly enabled: boolean;
  readonly schedule: Schedule;
  readonly policies: EntryPolicies;
  /** Its own claimer; `null`: none; `undefined`: the module's. */
  readonly claimer: Claimer | null | undefined;
}

/** An entry as it was written down, in a decorator or in a call of the registry. */
export interface WrittenEntry {
  /** How errors name it: `Reports.daily`. */
  readonly subject: string;
  readonly defaultKey: string;
  readonly schedule: unknown;
  readonly options: unknown;
  /** What a running application changed of it since. Counts over configuration. */
  readonly changes?: EntryConfiguration | undefined;
}

const ENTRY_OPTIONS = [...ENTRY_POLICY_OPTIONS, 'key', 'enabled', 'claimer'];
const CONFIGURATION_OPTIONS = [...ENTRY_POLICY_OPTIONS, 'cron', 'enabled'];

/**
 * An entry's options over the module's, and configuration by key over both. Answers nothing if something is wrong; what, goes to
 * `faults`, each with the entry's place and key.
 */
export function resolveEntry(
  written: WrittenEntry,
  module: ResolvedOptions,
  store: EntryStore,
  faults: ConfigurationFault[],
): ResolvedEntry | undefined {
  const faultsBefore = faults.length;
  const key = readKey(written, faults);
  const place = `${written.subject}, key "${key}"`;
  const read = new OptionReader(written.options, place, ENTRY_OPTIONS, faults, ', option ');
  let enabled = read.boolean('enabled', true);
  let options = readEntryOptions(read, module.entryDefaults);
  const claimer = read.raw('claimer') === null ? null : read.object<Claimer>('claimer', CLAIMER_EXPECTED, isClaimer);
  let input = written.schedule;
  let inputPlace = place;
  for (const [layer, layerPlace, joint] of [
    [module.entries.get(key), `forRoot.entries["${key}"]`, '.'],
    [written.changes, place, ', option '],
  ] as const) {
    if (layer === undefined) continue;
    const change = new OptionReader(layer, layerPlace, CONFIGURATION_OPTIONS, faults, joint);
    enabled = change.boolean('enabled', enabled);
    options = readEntryOptions(change, options);
    if (!change.has('cron')) continue;
    input = change.raw('cron');
    // A schedule that takes the place of an expression is not read in the zone of that.
    if (typeof input !== 'string' && !change.has('timeZone')) options = { ...options, timeZone: undefined };
    inputPlace = `${layerPlace}${joint}cron`;
  }
  const schedule = resolveSchedule(input, options, key, inputPlace, faults);
  if (schedule !== undefined)
    faults.push(...entryFaults({ schedule, policies: options.policies, claimer }, module, store, place));
  if (schedule === undefined || faults.length > faultsBefore) return undefined;
  return { key, enabled, schedule, policies: options.policies, claimer };
}

/** A key that cannot be one is a fault; the entry is then read under its default key, so that its other faults are found too. */
function readKey({ subject, defaultKey, options }: WrittenEntry, faults: ConfigurationFault[]): string {
  const given = (options as { readonly key?: unknown } | null | undefined)?.key ?? defaultKey;
  const expected = entryKeyFault(given);
  if (expected === undefined) return given as string;
  faults.push({
    code: 'KEY_INVALID',
    subject: `${subject}, option key`,
    expected: `a key: ${expected}`,
    got: shown(given),
  });
  return defaultKey;
}
