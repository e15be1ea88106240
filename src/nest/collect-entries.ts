import type { ConfigurationFault } from '../domain/errors.js';
import type { DiscoveredMethod } from './discovery.js';
import type { EntryStore } from './entry-rules.js';
import { heldLeaseFaults } from './holding-rule.js';
import { nearest } from './option-reader.js';
import type { DistributedCronEntryOptions } from './options.js';
import { type ResolvedEntry, resolveEntry } from './resolve-entry.js';
import type { ResolvedOptions } from './resolve-options.js';
import { hasShortName } from './short-name.js';

/** An entry that a decorator wrote, ready to be scheduled. */
export interface CollectedEntry {
  readonly entry: ResolvedEntry;
  readonly method: DiscoveredMethod;
  readonly schedule: unknown;
  readonly options: DistributedCronEntryOptions | undefined;
  /** The key comes from names that a minifier has made up, or from none: the next build may change it. */
  readonly keyFromShortName: boolean;
}

/**
 * From decorated methods to entries. Every fault of every entry goes to `faults`; only sound entries are answered. `added` are the keys of entries that code
 * has added before.
 */
export function collectEntries(
  methods: readonly DiscoveredMethod[],
  module: ResolvedOptions,
  store: EntryStore,
  faults: ConfigurationFault[],
  added: readonly string[] = [],
): readonly CollectedEntry[] {
  const collected: CollectedEntry[] = [];
  const places = new Map<string, string>(added.map((key) => [key, 'an entry added through the registry']));
  for (const method of methods) {
    const subject = `${method.className || 'anonymous class'}.${String(method.methodName)}`;
    for (const { schedule, options } of method.schedules) {
      const faultsBefore = faults.length;
      const key: unknown = options?.key ?? undefined;
      if (method.schedules.length > 1 && key === undefined) faults.push(keyMissing(subject));
      else takePlace(key ?? subject, `${subject} (${method.moduleName})`, places, faults);
      // What else is wrong with it belongs in the same report.
      const entry = resolveEntry({ subject, defaultKey: subject, schedule, options }, module, store, faults);
      if (entry === undefined || faults.length > faultsBefore) continue;
      const keyFromShortName = key === undefined && hasShortName(method);
      collected.push({ entry, method, schedule, options, keyFromShortName });
    }
  }
  faults.push(...heldLeaseFaults(policiesOf(collected), module));
  for (const key of module.entries.keys()) if (!places.has(key)) faults.push(unknownEntry(key, [...places.keys()]));
  return collected;
}

function* policiesOf(collected: readonly CollectedEntry[]) {
  for (const { entry } of collected) yield entry.policies;
}

function takePlace(key: unknown, place: string, places: Map<string, string>, faults: ConfigurationFault[]): void {
  // A key that is no text has a fault of its own.
  if (typeof key !== 'string') return;
  const other = places.get(key);
  if (other === undefined) places.set(key, place);
  else {
    faults.push({
      code: 'KEY_DUPLICATE',
      subject: `${place}, key "${key}"`,
      expected: 'a key of its own',
      got: `the key of ${other}`,
      hint: 'Fires are claimed by key: of two entries with one key only one would run. Give one of them another key, or provide the class once.',
    });
  }
}

function keyMissing(subject: string): ConfigurationFault {
  return {
    code: 'KEY_MISSING',
    subject,
    expected: 'a key on each of several schedules of one method',
    got: 'none',
    hint: "Give each @DistributedCron its own { key: '…' }: the key is the identity of its fires over the fleet.",
  };
}

function unknownEntry(key: string, known: readonly string[]): ConfigurationFault {
  const near = nearest(key, known);
  return {
    code: 'ENTRY_UNKNOWN',
    subject: `forRoot.entries["${key}"]`,
    expected: 'the key of an entry',
    got: `"${key}"`,
    hint: near === undefined ? `Keys: ${known.length === 0 ? 'none' : known.join(', ')}.` : `Did you mean "${near}"?`,
  };
}
