import { MAX_TIMER_DELAY_MS } from '../ambient/clock.js';
import type { Claimer } from '../coordination/claimer.js';
import type { CoordinationBackend } from '../coordination/coordination-backend.js';
import type { Elector } from '../coordination/elector.js';
import type { FetchedMembership } from '../coordination/fetched-membership.js';
import type { MemberView } from '../coordination/member-view.js';
import { entryKeyFault } from '../domain/entry-key.js';
import type { ConfigurationFault } from '../domain/errors.js';
import { ENTRY_POLICY_OPTIONS, type ResolvedEntryOptions, readEntryDefaults } from './entry-policy-options.js';
import {
  BACKEND_EXPECTED,
  CLAIMER_EXPECTED,
  ELECTOR_EXPECTED,
  isBackend,
  isClaimer,
  isElector,
  isMembership,
  MEMBERSHIP_EXPECTED,
} from './given-objects.js';
import { checkAcrossFields } from './module-rules.js';
import { OptionReader } from './option-reader.js';

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
  /** Caught-up fires at once. */
  readonly catchUpConcurrency: number;
  /** Fires of all entries together; `null`: no limit. */
  readonly maxConcurrentFires: number | null;
  readonly drainDeadlineMs: number;
  readonly globalEnhancers: boolean;
  readonly entryDefaults: ResolvedEntryOptions;
  /** Changes by entry key, not read yet: their defaults are the entry's own options. */
  readonly entries: ReadonlyMap<string, unknown>;
  /** Every problem found. They are reported at bootstrap, together with those of the entries. */
  readonly faults: readonly ConfigurationFault[];
}

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
  'catchUpConcurrency',
  'maxConcurrentFires',
  'drainDeadline',
  'globalEnhancers',
  'entries',
];

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
    backend: read.object<CoordinationBackend>('backend', BACKEND_EXPECTED, isBackend),
    claimer: read.object<Claimer>('claimer', CLAIMER_EXPECTED, isClaimer),
    elector: read.object<Elector>('elector', ELECTOR_EXPECTED, isElector),
    leadership: read.boolean('leadership', false),
    membership: read.object<MemberView | FetchedMembership>('membership', MEMBERSHIP_EXPECTED, isMembership),
    memberName: readMemberName(read),
    memberExpiryMs: read.duration('memberExpiry', 15_000, 1_000, MAX_TIMER_DELAY_MS),
    leaseTtlMs: read.duration('leaseTtl', 30_000, 1_000, MAX_TIMER_DELAY_MS),
    coordinationTimeoutMs: read.duration('coordinationTimeout', 5_000, 1, MAX_TIMER_DELAY_MS),
    claimPatienceMs: read.duration('claimPatience', 30_000),
    maxClockSkewMs: read.duration('maxClockSkew', 10_000),
    retentionMs: read.duration('retention', 3_600_000, 1),
    catchUpConcurrency: read.positiveInteger('catchUpConcurrency', 8),
    maxConcurrentFires: read.positiveInteger('maxConcurrentFires', null),
    drainDeadlineMs: read.duration('drainDeadline', 10_000),
    globalEnhancers: read.boolean('globalEnhancers', false),
    entryDefaults: readEntryDefaults(read),
    entries: new Map(Object.entries(read.record('entries'))),
    faults,
  };
  checkAcrossFields(read, resolved, faults);
  Object.freeze(faults);
  return Object.freeze(resolved);
}

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
