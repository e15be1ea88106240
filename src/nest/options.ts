import type { Claimer } from '../coordination/claimer.js';
import type { CoordinationBackend } from '../coordination/coordination-backend.js';
import type { Elector } from '../coordination/elector.js';
import type { FetchedMembership } from '../coordination/fetched-membership.js';
import type { MemberView } from '../coordination/member-view.js';
import type { Duration } from '../domain/duration.js';
import type {
  DayMatch,
  DstPolicy,
  LastRun,
  MissedPolicy,
  OverlapPolicy,
  OverlapScope,
  Placement,
  RecoveryPolicy,
} from '../domain/policies.js';
import type { Schedule } from '../schedule/schedule.js';

/** A cron expression, a schedule, or a pure function from an instant to the next one, both in milliseconds since the epoch. */
export type ScheduleInput = string | Schedule | ((afterMs: number) => number | null);

/** How a method that threw is called again within its fire. What is not named has its default here, also where `forRoot` says otherwise: one `retry` counts whole. */
export interface FireRetryOptions {
  /** Calls in all, the first included; at least 1. Default 3. */
  readonly attempts?: number;
  /** Pause before the second call, at least 1 ms. Default 1 s. */
  readonly min?: Duration;
  /** The longest pause. Default 1 min. */
  readonly max?: Duration;
  /** Each pause is this many times as long as the one before; at least 1. Default 2. */
  readonly factor?: number;
  /** The largest part, 0 to 1, by which a pause is shortened at random. Default 0.2. */
  readonly jitter?: number;
}

/** What can be said for all entries in `forRoot`, and for each entry in its decorator or its configuration. */
export interface EntryPolicyOptions {
  /** IANA zone the expression is read in. Default `'UTC'` on every host. */
  readonly timeZone?: string;
  /** What happens at a change of the zone's offset. Default `'vixie'`. */
  readonly dst?: DstPolicy;
  /** How day-of-month and day-of-week combine. Default `'or'`. */
  readonly dayMatch?: DayMatch;
  /** Each replica waits a random time below this before it coordinates. Default 0. */
  readonly jitter?: Duration;
  /**
   * `'spread'` gives each fire a home among the live members, which asks first; the others ask `takeoverAfter` later. It balances the fleet. Needs a backend
   * with membership, or `membership`; refused together with `leadership` or an elector. Default `'any'`: the fastest replica wins.
   */
  readonly placement?: Placement;
  /** With `placement: 'spread'`: how long after the home's latest possible ask the other replicas ask. Default 2 s. */
  readonly takeoverAfter?: Duration;
  /** What happens to missed instants. Default `'run-once'`. */
  readonly missed?: MissedPolicy;
  /** An instant reached at most this late counts as on time. Default 1 min. */
  readonly missedTolerance?: Duration;
  /** Missed instants older than this are reported, never run. Default 24 h. */
  readonly catchUpWithin?: Duration;
  /**
   * Where no store remembers the entry: when it last ran, so that instants missed since are found at start. A date, or a function that is asked for each entry, and may answer nothing.
   * Default none: nothing was missed.
   */
  readonly lastRun?: LastRun;
  /**
   * What happens when an earlier fire of the entry still runs: `'skip'` rejects the later one, `'queue'` lets one wait for the earlier one's end and rejects those after it. Default
   * `'allow'`: both run.
   */
  readonly overlap?: OverlapPolicy;
  /**
   * Where an earlier fire counts: on this replica, or with `'fleet'` on any, by a lease in the store. Needs the module's backend with leases and a claimer that can take them, and `overlap`
   * other than `'allow'`. Default `'replica'`.
   */
  readonly overlapScope?: OverlapScope;
  /** Runs of the entry at a time on this replica. Default none: no limit. */
  readonly maxConcurrent?: number;
  /** The method's signal is aborted, and its fire fails, after this. With `retry`: limits each call, and one that runs into it is the last. Default none: no limit. */
  readonly timeout?: Duration;
  /** Calls the method again when it throws, within the same fire. Default `false`: it is called once. */
  readonly retry?: FireRetryOptions | false;
  /**
   * `'rerun'`: a fire whose replica died while it ran is run again by another, at least once then, since a replica that only stalled may still run it. Needs the module's backend with recovery. Default
   * `'off'`: such a fire is lost.
   */
  readonly recovery?: RecoveryPolicy;
  /** With `recovery: 'rerun'`: a fire is run by at most this many replicas one after the other, the first included; then it is abandoned. Default 5. */
  readonly recoveryAttempts?: number;
}

/** Options of one entry. */
export interface DistributedCronEntryOptions extends EntryPolicyOptions {
  /** Identity over the fleet, unique in the application. Default `ClassName.methodName`; a method with two schedules needs one on each. */
  readonly key?: string;
  /** `false`: the entry is validated and not scheduled. Default `true`. */
  readonly enabled?: boolean;
  /** A claimer for this entry alone; `null`: none, each replica runs every fire of it. Default the module's. */
  readonly claimer?: Claimer | null;
}

/** What configuration may change of an entry, by its key. */
export interface EntryConfiguration extends EntryPolicyOptions {
  /** Replaces the schedule written in code. */
  readonly cron?: ScheduleInput;
  readonly enabled?: boolean;
}

/** Options of `DistributedCronModule.forRoot`. Durations are milliseconds or texts such as `'30s'`. */
export interface DistributedCronModuleOptions extends EntryPolicyOptions {
  /** `false` validates everything and schedules nothing; manual triggers work. Default `true`. */
  readonly enabled?: boolean;
  /** Keeps applications that share a store apart. Default `'default'`. */
  readonly namespace?: string;
  /** The store that coordinates the replicas. */
  readonly backend?: CoordinationBackend;
  /** A claimer of your own, in place of a backend's. */
  readonly claimer?: Claimer;
  /** Only the replica that leads goes on to the claim. */
  readonly elector?: Elector;
  /** Only the replica that holds the backend's leader lease goes on to the claim. Needs a backend with leases. Default `false`. */
  readonly leadership?: boolean;
  /**
   * Where this replica learns of the others: `new StaticMembership(names)`, `fetchedMembership(list)`, or a view of your own. Default the backend's: live members with
   * heartbeats, where something needs to know them.
   */
  readonly membership?: MemberView | FetchedMembership;
  /** This replica's name among the members, such as a StatefulSet's pod name, which gives stable homes. Default the instance id. */
  readonly memberName?: string;
  /** A live member that has not been heard of for this long by the store's clock is dead. Default 15 s. */
  readonly memberExpiry?: Duration;
  /** Life of a lease. Longer than the event loop of any replica is ever blocked. Default 30 s. */
  readonly leaseTtl?: Duration;
  /** Limit of one call to a claimer, elector or store. Default 5 s. */
  readonly coordinationTimeout?: Duration;
  /** How long a fire waits for a store that does not answer, where it may be asked again. Default 30 s. */
  readonly claimPatience?: Duration;
  /** A fire further than this in the store's future is refused as a clock error. Default 10 s. */
  readonly maxClockSkew?: Duration;
  /** The store removes claims made longer ago than this. Default 1 h. */
  readonly retention?: Duration;
  /** Caught-up fires that run at once on this replica; the others wait for their turn. Default 8. */
  readonly catchUpConcurrency?: number;
  /** Fires of all entries together that are under way on this replica; one more is rejected before its claim, so that an idle replica takes it. Default none: no limit. */
  readonly maxConcurrentFires?: number;
  /** Running methods are aborted this long after a drain started. Default 10 s. */
  readonly drainDeadline?: Duration;
  /** Run the application's global guards, interceptors and filters around decorated methods too, not only the method's and class's own. Default `false`. */
  readonly globalEnhancers?: boolean;
  /** Changes to entries by key, from configuration: an operator changes an expression without a code change. */
  readonly entries?: Readonly<Record<string, EntryConfiguration>>;
}

/** What `forRootAsync({ useClass | useExisting })` asks for the options. */
export interface DistributedCronOptionsFactory {
  createDistributedCronOptions(): DistributedCronModuleOptions | Promise<DistributedCronModuleOptions>;
}
