import type { EntryPolicies } from '../domain/entry.js';
import { entryKeyFault } from '../domain/entry-key.js';
import type { ConfigurationFault } from '../domain/errors.js';
import { cronSchedule } from '../schedule/cron-schedule.js';
import { functionSchedule } from '../schedule/function-schedule.js';
import type { Schedule } from '../schedule/schedule.js';
import { CronExpressionError, TimeZoneError } from '../schedule/schedule-error.js';
import { OptionReader, shown } from './option-reader.js';
import type { EntryConfiguration } from './options.js';
import {
  ENTRY_POLICY_OPTIONS,
  type ResolvedEntryOptions,
  type ResolvedOptions,
  readEntryOptions,
} from './resolve-options.js';

/** An entry as it will be scheduled. */
export interface ResolvedEntry {
  readonly key: string;
  readonly enabled: boolean;
  readonly schedule: Schedule;
  readonly policies: EntryPolicies;
}

/** An entry as it was written down, in a decorator or in a call of the registry. */
export interface WrittenEntry {
  /** How errors name it: `Reports.daily`. */
  readonly subject: string;
  readonly defaultKey: string;
  readonly schedule: unknown;
  readonly options: unknown;
  /** What a running application changed of it since. Counts over configuration. */
  readonly changes?: EntryConfiguration;
}

const ENTRY_OPTIONS = [...ENTRY_POLICY_OPTIONS, 'key', 'enabled'];
const CONFIGURATION_OPTIONS = [...ENTRY_POLICY_OPTIONS, 'cron', 'enabled'];

/**
 * An entry's options over the module's, and configuration by key over both. Answers nothing if something is wrong; what, goes to
 * `faults`, each with the entry's place and key.
 */
export function resolveEntry(
  written: WrittenEntry,
  module: ResolvedOptions,
  faults: ConfigurationFault[],
): ResolvedEntry | undefined {
  const faultsBefore = faults.length;
  const read = new OptionReader(written.options, written.subject, ENTRY_OPTIONS, faults);
  const key = read.has('key') ? read.raw('key') : written.defaultKey;
  const keyFault = entryKeyFault(key);
  if (keyFault !== undefined) {
    read.fault('key', 'KEY_INVALID', keyFault, key);
    return undefined;
  }
  let enabled = read.boolean('enabled', true);
  let options = readEntryOptions(read, module.entryDefaults);
  let input = written.schedule;
  let inputSubject = `${written.subject}, key "${key as string}"`;
  const configured = `forRoot.entries["${key as string}"]`;
  for (const [path, layer] of [
    [configured, module.entries.get(key as string)],
    [written.subject, written.changes],
  ] as const) {
    const change = new OptionReader(layer, path, CONFIGURATION_OPTIONS, faults);
    enabled = change.boolean('enabled', enabled);
    options = readEntryOptions(change, options);
    if (!change.has('cron')) continue;
    input = change.raw('cron');
    inputSubject = `${path}.cron`;
  }
  const schedule = resolveSchedule(input, options, key as string, inputSubject, faults);
  if (schedule !== undefined) checkJitter(schedule, options.policies, module, inputSubject, faults);
  if (schedule === undefined || faults.length > faultsBefore) return undefined;
  return { key: key as string, enabled, schedule, policies: options.policies };
}

function resolveSchedule(
  input: unknown,
  options: ResolvedEntryOptions,
  entryKey: string,
  subject: string,
  faults: ConfigurationFault[],
): Schedule | undefined {
  try {
    if (typeof input === 'function') return functionSchedule(input as (afterMs: number) => number | null);
    if (isSchedule(input)) return input;
    return cronSchedule(input as string, {
      defaultTimeZone: options.defaultTimeZone,
      ...(options.timeZone === undefined ? {} : { timeZone: options.timeZone }),
      dst: options.dst,
      dayMatch: options.dayMatch,
      entryKey,
    });
  } catch (error) {
    faults.push(scheduleFault(error, input, subject));
    return undefined;
  }
}

function isSchedule(value: unknown): value is Schedule {
  return typeof value === 'object' && value !== null && typeof (value as { next?: unknown }).next === 'function';
}

function scheduleFault(error: unknown, input: unknown, subject: string): ConfigurationFault {
  if (error instanceof CronExpressionError) {
    return {
      code: error.code,
      subject,
      got: input === undefined ? 'undefined (is an environment variable unset?)' : shown(input),
      expected: error.field === undefined ? 'a cron expression' : `a cron expression with a valid ${error.field} field`,
      hint: `${error.reason}.${error.hint === undefined ? '' : ` ${error.hint}`}`,
      ...(error.field === undefined ? {} : { field: error.field }),
      cause: error,
    };
  }
  if (error instanceof TimeZoneError) {
    return {
      code: error.code,
      subject,
      got: `time zone ${shown(error.timeZone)}`,
      expected: 'a known time zone',
      hint: error.hint,
      cause: error,
    };
  }
  return {
    code: 'SCHEDULE_INVALID',
    subject,
    got: shown(input),
    expected: 'a cron expression, a schedule or a function',
    hint: error instanceof Error ? error.message : String(error),
    cause: error,
  };
}

/** Instants looked at to find how close an entry's instants lie. */
const SAMPLED_INSTANTS = 16;
/** Claims of one entry may come out of order by fewer intervals than a store keeps of it. */
const LARGEST_DELAY_IN_INTERVALS = 200;
/** Where the sample starts. Any instant would do; a fixed one gives every replica the same answer. */
const SAMPLE_FROM_MS = Date.UTC(2026, 0, 1);

/** The store forgets claims by age and by number: jitter must not make a replica ask for one that may be gone (DESIGN 6). */
function checkJitter(
  schedule: Schedule,
  policies: EntryPolicies,
  module: ResolvedOptions,
  subject: string,
  faults: ConfigurationFault[],
): void {
  if (module.backend === undefined || policies.jitterMs === 0) return;
  if (policies.jitterMs + module.claimPatienceMs >= module.retentionMs) {
    faults.push({
      code: 'JITTER_TOO_LONG',
      subject,
      expected: `jitter + claimPatience below retention (${module.retentionMs} ms)`,
      got: `${policies.jitterMs} ms + ${module.claimPatienceMs} ms`,
      hint: 'Shorten the jitter, or raise retention.',
    });
  }
  const intervalMs = shortestInterval(schedule);
  if (intervalMs !== undefined && policies.jitterMs >= LARGEST_DELAY_IN_INTERVALS * intervalMs) {
    faults.push({
      code: 'JITTER_TOO_LONG',
      subject,
      expected: `jitter below ${LARGEST_DELAY_IN_INTERVALS} intervals of the entry (${LARGEST_DELAY_IN_INTERVALS * intervalMs} ms)`,
      got: `${policies.jitterMs} ms`,
      hint: 'A jitter that long mixes the fires of an entry; shorten it.',
    });
  }
}

function shortestInterval(schedule: Schedule): number | undefined {
  let shortestMs: number | undefined;
  try {
    let atMs = schedule.next(SAMPLE_FROM_MS);
    for (let sampled = 0; atMs !== null && sampled < SAMPLED_INSTANTS; sampled++) {
      const nextMs = schedule.next(atMs);
      if (nextMs === null) break;
      if (shortestMs === undefined || nextMs - atMs < shortestMs) shortestMs = nextMs - atMs;
      atMs = nextMs;
    }
  } catch {
    // A schedule that fails is stopped by the engine when it is armed, with an event.
  }
  return shortestMs;
}
