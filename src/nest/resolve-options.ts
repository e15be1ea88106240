import { MAX_TIMER_DELAY_MS } from '../ambient/clock.js';
import type { Claimer } from '../coordination/claimer.js';
import type { CoordinationBackend } from '../coordination/coordination-backend.js';
import type { Elector } from '../coordination/elector.js';
import type { FetchedMembership } from '../coordination/fetched-membership.js';
import type { MemberView } from '../coordination/member-view.js';
import { formatDuration } from '../domain/duration.js';
import type { EntryPolicies } from '../domain/entry.js';
import { entryKeyFault } from '../domain/entry-key.js';
import type { ConfigurationFault } from '../domain/errors.js';
import {
  DAY_MATCHES,
  type DayMatch,
  DST_POLICIES,
  type DstPolicy,
  MISSED_POLICIES,
  OVERLAP_POLICIES,
  PLACEMENTS,
} from '../domain/policies.js';
import { zoneSpans } from '../schedule/zone-spans.js';
import { OptionReader } from './option-reader.js';

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

/** The options of `forRoot` with every default filled in and every duration in milliseconds. Frozen. */
export interface ResolvedOptions {
  readonly enabled: boolean;
  readonly namespace: string;
  readonly backend: CoordinationBackend | undefined;
  readonly claimer: Claimer | undefined;
  readonly elector: Elector | undefined;
  readonly leadership: boolean;
  /** The application's own members; absent: the backend's. */
  readonly membership: MemberView | FetchedMembership | undefined;
  /** Absent: the instance id. */
  readonly memberName: string | undefined;
  readonly memberExpiryMs: number;
  readonly leaseTtlMs: number;
  readonly coordinationTimeoutMs: number;
  readonly claimPatienceMs: number;
  readonly maxClockSkewMs: number;
  readonly retentionMs: number;
  readonly drainDeadlineMs: number;
  readonly globalEnhancers: boolean;
  readonly entryDefaults: ResolvedEntryOptions;
  /** Changes by entry key, not read yet: their defaults are the entry's own options. */
  readonly entries: ReadonlyMap<string, unknown>;
  /** Every problem found. They are reported at bootstrap, together with those of the entries. */
  readonly faults: readonly ConfigurationFault[];
}

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
  'overlap',
  'maxConcurrent',
  'timeout',
] as const;

const MODULE_OPTIONS = [
  ...ENTRY_POLICY_OPTIONS,
  'enabled',
  'namespace',
  'backend',
  'claimer',
  'elector',
  'leadership',
  'membership',
  'memberName',
  'memberExpiry',
  'leaseTtl',
  'coordinationTimeout',
  'claimPatience',
  'maxClockSkew',
  'retention',
  'drainDeadline',
  'globalEnhancers',
  'entries',
];

const ENTRY_DEFAULTS: ResolvedEntryOptions = {
  defaultTimeZone: 'UTC',
  timeZone: undefined,
  dst: 'vixie',
  dayMatch: 'or',
  policies: {
    jitterMs: 0,
    placement: 'any',
    takeoverAfterMs: 2_000,
    missed: 'run-once',
    missedToleranceMs: 60_000,
    catchUpWithinMs: 86_400_000,
    lastRun: null,
    overlap: 'allow',
    overlapScope: 'replica',
    maxConcurrent: null,
    timeoutMs: null,
    retry: null,
    recovery: 'off',
    recoveryAttempts: 5,
  },
};

/** The longest name of a member. Every heartbeat carries it. */
const MAX_MEMBER_NAME_LENGTH = 256;

/** The longest namespace. It is part of every key a store writes. */
const MAX_NAMESPACE_LENGTH = 128;

/** From the user's options to resolved ones. Finds every problem; throws none. */
export function resolveOptions(given: unknown): ResolvedOptions {
  const faults: ConfigurationFault[] = [];
  const read = new OptionReader(given, 'forRoot', MODULE_OPTIONS, faults);
  // Lost options, the store among them, are not the same as options that name none.
  if (given === undefined)
    read.fault(undefined, 'OPTION_TYPE', 'an object', given, 'Does the factory return its options?');
  const resolved: ResolvedOptions = {
    enabled: read.boolean('enabled', true),
    namespace: read.text(
      'namespace',
      'default',
      `a text of 1 to ${MAX_NAMESPACE_LENGTH} characters`,
      (text) => text.length > 0 && text.length <= MAX_NAMESPACE_LENGTH && text.isWellFormed(),
    ),
    backend: read.object<CoordinationBackend>(
      'backend',
      'a coordination backend: an object with store and claimer',
      isBackend,
    ),
    claimer: read.object<Claimer>('claimer', CLAIMER_EXPECTED, isClaimer),
    elector: read.object<Elector>('elector', 'an object with an isLeader() method', isElector),
    leadership: read.boolean('leadership', false),
    membership: read.object<MemberView | FetchedMembership>('membership', MEMBERSHIP_EXPECTED, isMembership),
    memberName: readMemberName(read),
    memberExpiryMs: read.duration('memberExpiry', 15_000, 1_000, MAX_TIMER_DELAY_MS),
    leaseTtlMs: read.duration('leaseTtl', 30_000, 1_000, MAX_TIMER_DELAY_MS),
    coordinationTimeoutMs: read.duration('coordinationTimeout', 5_000, 1, MAX_TIMER_DELAY_MS),
    claimPatienceMs: read.duration('claimPatience', 30_000),
    maxClockSkewMs: read.duration('maxClockSkew', 10_000),
    retentionMs: read.duration('retention', 3_600_000, 1),
    drainDeadlineMs: read.duration('drainDeadline', 10_000),
    globalEnhancers: read.boolean('globalEnhancers', false),
    entryDefaults: Object.freeze({
      ...readReading(read, ENTRY_DEFAULTS),
      policies: readPolicies(read, ENTRY_DEFAULTS.policies),
      defaultTimeZone: readDefaultTimeZone(read),
      timeZone: undefined,
    }),
    entries: new Map(Object.entries(read.record('entries'))),
    faults,
  };
  checkAcrossFields(read, resolved);
  Object.freeze(faults);
  return Object.freeze(resolved);
}

export const CLAIMER_EXPECTED = 'an object with a claim() method';
export const isClaimer = (value: Readonly<Record<string, unknown>>) => typeof value.claim === 'function';
const isElector = (value: Readonly<Record<string, unknown>>) => typeof value.isLeader === 'function';
const isBackend = ({ store, claimer }: Readonly<Record<string, unknown>>) =>
  typeof store === 'string' &&
  typeof claimer === 'object' &&
  claimer !== null &&
  isClaimer(claimer as Record<string, unknown>);

const MEMBERSHIP_EXPECTED =
  'a StaticMembership, what fetchedMembership() makes, or an object with current and onChange()';
const isMembership = (value: Readonly<Record<string, unknown>>) =>
  typeof value.onChange === 'function' || (typeof value.list === 'function' && typeof value.everyMs === 'number');

function readMemberName(read: OptionReader): string | undefined {
  if (!read.has('memberName')) return undefined;
  return read.text(
    'memberName',
    '',
    `a name of 1 to ${MAX_MEMBER_NAME_LENGTH} characters, without control characters`,
    (name) => {
      return name.length <= MAX_MEMBER_NAME_LENGTH && entryKeyFault(name) === undefined;
    },
  );
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

function checkAcrossFields(read: OptionReader, options: ResolvedOptions): void {
  if (options.backend !== undefined && options.claimer !== undefined) {
    read.fault(
      'claimer',
      'OPTION_CONFLICT',
      'backend or claimer, not both',
      options.claimer,
      'A backend brings its own claimer.',
    );
  }
  if (options.leadership) checkLeadership(read, options);
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
  // A renewal is sent at a third of the lease and must have its answer, and a second try, before belief ends.
  if (options.coordinationTimeoutMs > options.leaseTtlMs / 3) {
    read.fault(
      'leaseTtl',
      'OPTION_CONFLICT',
      `at least three times coordinationTimeout (${formatDuration(3 * options.coordinationTimeoutMs)})`,
      formatDuration(options.leaseTtlMs),
      'Raise leaseTtl, or shorten coordinationTimeout.',
    );
  }
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
    lastRun: defaults.lastRun,
    overlap: read.oneOf('overlap', defaults.overlap, OVERLAP_POLICIES),
    overlapScope: defaults.overlapScope,
    maxConcurrent: read.positiveInteger('maxConcurrent', defaults.maxConcurrent),
    timeoutMs: read.duration('timeout', defaults.timeoutMs, 1),
    retry: defaults.retry,
    recovery: defaults.recovery,
    recoveryAttempts: defaults.recoveryAttempts,
  });
}
