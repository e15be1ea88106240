import { DEFAULT_ENTRY_POLICIES, type EntryPolicies } from '../domain/entry.js';
import {
  DAY_MATCHES,
  type DayMatch,
  DST_POLICIES,
  type DstPolicy,
  MISSED_POLICIES,
  OVERLAP_POLICIES,
  OVERLAP_SCOPES,
  PLACEMENTS,
  RECOVERY_POLICIES,
} from '../domain/policies.js';
import { isValidDate } from '../domain/valid-date.js';
import { zoneSpans } from '../schedule/zone-spans.js';
import type { OptionReader } from './option-reader.js';
import { readFireRetry } from './retry-options.js';

/** How an entry's expression is read and its fires are treated, with every default filled in. */
export interface ResolvedEntryOptions {
  /** The zone of entries that name none. */
  readonly defaultTimeZone: string;
  /** The zone that the entry names: an expression with a `TZ=` prefix refuses to be given a second one. */
  readonly timeZone: string | undefined;
  readonly dst: DstPolicy;
  readonly dayMatch: DayMatch;
  readonly policies: EntryPolicies;
}

/** What `forRoot` says for all entries, and each entry for itself. */
export const ENTRY_POLICY_OPTIONS = [
  'timeZone',
  'dst',
  'dayMatch',
  'jitter',
  'placement',
  'takeoverAfter',
  'missed',
  'missedTolerance',
  'catchUpWithin',
  'lastRun',
  'overlap',
  'overlapScope',
  'maxConcurrent',
  'timeout',
  'retry',
  'recovery',
  'recoveryAttempts',
] as const;

const ENTRY_DEFAULTS: ResolvedEntryOptions = {
  defaultTimeZone: 'UTC',
  timeZone: undefined,
  dst: 'vixie',
  dayMatch: 'or',
  policies: DEFAULT_ENTRY_POLICIES,
};

/** The module's options for all entries, over the library's defaults. */
export function readEntryDefaults(read: OptionReader): ResolvedEntryOptions {
  return Object.freeze({
    ...readReading(read, ENTRY_DEFAULTS),
    policies: readPolicies(read, DEFAULT_ENTRY_POLICIES),
    defaultTimeZone: readDefaultTimeZone(read),
    timeZone: undefined,
  });
}

/** An entry's options over their defaults: the module's, or with configuration the entry's own. */
export function readEntryOptions(read: OptionReader, defaults: ResolvedEntryOptions): ResolvedEntryOptions {
  // Most entries say nothing of their own: they share one object.
  if (!ENTRY_POLICY_OPTIONS.some((name) => read.has(name))) return defaults;
  return Object.freeze({
    ...readReading(read, defaults),
    defaultTimeZone: defaults.defaultTimeZone,
    // Which names are zones is said where the expression is read, with the entry's place.
    timeZone: read.has('timeZone')
      ? read.text('timeZone', '', 'the name of a time zone', () => true)
      : defaults.timeZone,
    policies: readPolicies(read, defaults.policies),
  });
}

function readDefaultTimeZone(read: OptionReader): string {
  return read.text('timeZone', 'UTC', 'the name of a time zone, such as "Europe/Berlin"', (name) => {
    try {
      zoneSpans(name);
      return true;
    } catch {
      return false;
    }
  });
}

function readReading(read: OptionReader, defaults: ResolvedEntryOptions) {
  return {
    dst: read.oneOf('dst', defaults.dst, DST_POLICIES),
    dayMatch: read.oneOf('dayMatch', defaults.dayMatch, DAY_MATCHES),
  };
}

function readPolicies(read: OptionReader, defaults: EntryPolicies): EntryPolicies {
  return Object.freeze({
    jitterMs: read.duration('jitter', defaults.jitterMs),
    placement: read.oneOf('placement', defaults.placement, PLACEMENTS),
    takeoverAfterMs: read.duration('takeoverAfter', defaults.takeoverAfterMs, 1),
    missed: read.oneOf('missed', defaults.missed, MISSED_POLICIES),
    missedToleranceMs: read.duration('missedTolerance', defaults.missedToleranceMs),
    catchUpWithinMs: read.duration('catchUpWithin', defaults.catchUpWithinMs),
    lastRun: read.value('lastRun', defaults.lastRun, 'a valid Date, or a function that answers one', isLastRun),
    overlap: read.oneOf('overlap', defaults.overlap, OVERLAP_POLICIES),
    overlapScope: read.oneOf('overlapScope', defaults.overlapScope, OVERLAP_SCOPES),
    maxConcurrent: read.positiveInteger('maxConcurrent', defaults.maxConcurrent),
    timeoutMs: read.duration('timeout', defaults.timeoutMs, 1),
    retry: readFireRetry(read, defaults.retry),
    recovery: read.oneOf('recovery', defaults.recovery, RECOVERY_POLICIES),
    recoveryAttempts: read.positiveInteger('recoveryAttempts', defaults.recoveryAttempts),
  });
}

function isLastRun(value: unknown): boolean {
  return typeof value === 'function' || isValidDate(value);
}
