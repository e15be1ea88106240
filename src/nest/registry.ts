import { ConfigurationError, type ConfigurationFault, EntryInUseError } from '../domain/errors.js';
import type { Fire } from '../domain/fire.js';
import type { EntryView } from '../engine/entry-view.js';
import type { Scheduler } from '../engine/scheduler.js';
import type { FireContext } from '../fire/fire-context.js';
import type { FireCounters } from '../fire/fire-tally.js';
import type { TaskScheduler } from '../tasks/task-scheduler.js';
import type { EntryStore } from './entry-rules.js';
import { heldLeaseFaults } from './holding-rule.js';
import { shown } from './option-reader.js';
import type { DistributedCronEntryOptions, EntryConfiguration, ScheduleInput } from './options.js';
import { type RegistrySnapshot, snapshotOf } from './registry-snapshot.js';
import { type ResolvedEntry, resolveEntry } from './resolve-entry.js';
import type { ResolvedOptions } from './resolve-options.js';

/** Options of an entry that is added in code. */
export type RegistryEntryOptions = Omit<DistributedCronEntryOptions, 'key' | 'enabled'>;

/** What `update` changes of an entry. */
export interface RegistryEntryChange extends Omit<EntryConfiguration, 'enabled'> {
  readonly run?: (fire: FireContext) => unknown;
}

/** Where a pause or resume counts: on this replica, or on all of the fleet, those that start later too. */
export interface FleetScope {
  readonly scope: 'fleet';
}

export interface ReplicaScope {
  readonly scope?: 'replica';
}

export interface ResumeOptions {
  /** Apply the entry's `missed` policy to the instants of the pause. Default `false`: nothing is made up for. */
  readonly catchUp?: boolean;
}

/** An entry as its decorator, or the call that added it, wrote it, and what was changed of it since. */
interface Written {
  readonly schedule: unknown;
  readonly options: DistributedCronEntryOptions | undefined;
  readonly changes: EntryConfiguration | undefined;
}

const NO_OPTIONS: RegistryEntryOptions = Object.freeze({});

/** How errors name an entry that code adds or changes. */
const SUBJECT = 'DistributedCronRegistry';

/** The entries of this replica. What is added, updated or removed here changes this replica alone; so does a pause, unless its scope is the fleet. */
export class DistributedCronRegistry {
  private readonly written = new Map<string, Written>();

  constructor(
    private readonly scheduler: Scheduler,
    private readonly tasks: TaskScheduler,
    private readonly options: ResolvedOptions,
    private readonly store: EntryStore,
  ) {}

  list(): EntryView[] {
    return this.scheduler.list();
  }

  /**
   * This replica's scheduler as plain JSON, for an endpoint that on-call can read: each entry with its next five instants, its last outcome and its counters; the replica's totals; its tasks. Computes
   * instants, which for tens of thousands of entries takes a while: not for every scrape of a metrics endpoint there.
   */
  snapshot(): RegistrySnapshot {
    return snapshotOf(this.scheduler, this.tasks);
  }

  /** What became of fires on this replica since it started, all entries together. Numbers only grow, as counters of a metrics endpoint do. */
  counters(): FireCounters {
    return this.scheduler.counters();
  }

  /**
   * Adds an entry on this replica alone: add it on every replica that shall share its fires. Configuration by key counts for it too; if that says
   * `enabled: false`, the entry is validated and not scheduled.
   * @throws ConfigurationError with every fault, EntryExistsError, SchedulerStoppedError
   */
  add(
    key: string,
    schedule: ScheduleInput,
    run: (fire: FireContext) => unknown,
    options: RegistryEntryOptions = NO_OPTIONS,
  ): void {
    const written = { schedule, options: options === NO_OPTIONS ? options : { ...options, key }, changes: undefined };
    const faults = refused(key, options, 'key', 'The key of an entry that is added is the first argument.');
    const { policies, schedule: resolved, enabled, claimer } = this.resolve(key, written, [run], faults);
    if (enabled) this.scheduler.add({ key, schedule: resolved, policies, run, claimer });
    this.written.set(key, written);
  }

  /**
   * Changes the schedule (`cron`), options or method of an entry on this replica, over what configuration says. What is not named stays. Fires that have not asked
   * their claim are canceled.
   * @throws ConfigurationError with every fault, EntryNotFoundError, SchedulerStoppedError
   */
  update(key: string, change: RegistryEntryChange): void {
    this.scheduler.require(key);
    const { run, ...options } = change;
    const named = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
    const before = this.written.get(key)!;
    const written = { ...before, changes: { ...before.changes, ...named } };
    const faults = refused(
      key,
      named,
      'enabled',
      'An entry that is scheduled is taken off by remove, or held by pause.',
    );
    const { schedule, policies } = this.resolve(key, written, run === undefined ? [] : [run], faults);
    this.scheduler.update(key, { schedule, policies, ...(run === undefined ? {} : { run }) });
    this.written.set(key, written);
  }

  /** Takes the entry off this replica's schedule. Running methods go on. @throws EntryNotFoundError */
  remove(key: string): void {
    this.scheduler.remove(key);
    this.written.delete(key);
  }

  /** Fires of the entry are rejected on this replica until `resume`. Manual triggers work. @throws EntryNotFoundError; RangeError for options that are none */
  pause(key: string, options?: ReplicaScope): void;
  /**
   * Fires of the entry are rejected on every replica, from the next claim on and over restarts, until somebody resumes it with the same scope. The store remembers it, so nobody has to be told. Manual
   * triggers work. Rejects with EntryNotFoundError, FleetPauseUnavailableError where the entry has no claimer or one that cannot pause, CoordinationError.
   */
  pause(key: string, options: FleetScope): Promise<void>;
  pause(key: string, options?: ReplicaScope | FleetScope): Promise<void> | void {
    return isFleet('pause', options) ? this.scheduler.pauseFleet(key) : this.scheduler.pause(key);
  }

  /**
   * The entry goes on with its next instant on this replica. Nothing is made up for, unless `catchUp`. A pause of the fleet stays. @throws EntryNotFoundError; RangeError for options that are none
   */
  resume(key: string, options?: ReplicaScope & ResumeOptions): void;
  /**
   * Ends a pause of the fleet. Nothing of it is made up for, unless `catchUp`: then this replica does. A replica's own pause stays. Rejects as `pause` does.
   */
  resume(key: string, options: FleetScope & ResumeOptions): Promise<void>;
  resume(key: string, options?: (ReplicaScope | FleetScope) & ResumeOptions): Promise<void> | void {
    const catchUp = options?.catchUp === true;
    return isFleet('resume', options)
      ? this.scheduler.resumeFleet(key, { catchUp })
      : this.scheduler.resume(key, { catchUp });
  }

  /**
   * Drops what the store keeps of a key that will never come back, once it is removed on every replica: its claims, its watermark, a pause of the fleet. Its fires could be claimed again. Rejects with
   * EntryInUseError while the entry exists on this replica, ForgetUnavailableError where no store can, CoordinationError.
   */
  async forget(key: string): Promise<void> {
    // One that configuration disables here exists all the same, and may run on other replicas.
    if (this.written.has(key)) throw new EntryInUseError(key);
    await this.scheduler.forget(key);
  }

  /** Runs the entry here and now, without jitter, elector or claimer. A refusal is told by its event. @throws EntryNotFoundError, SchedulerStoppedError */
  trigger(key: string): Fire {
    return this.scheduler.trigger(key);
  }

  /**
   * As `trigger`, and waits: resolves with what the method returned, rejects with what it threw.
   * @throws EntryNotFoundError, SchedulerStoppedError, FireRejectedError, TimeoutError
   */
  triggerAndWait<T = unknown>(key: string): Promise<T> {
    return this.scheduler.triggerAndWait(key) as Promise<T>;
  }

  /** The entry's next instants from now, at most `count`. @throws EntryNotFoundError; RangeError for a count that is no whole number */
  next(key: string, count = 1): Date[] {
    if (!Number.isSafeInteger(count) || count < 0)
      throw new RangeError(`next needs a whole number of instants; got ${count}.`);
    return this.scheduler.next(key, count);
  }

  /** No claim is asked from here on; resolves when every fire under way has ended. The application's close calls it. */
  drain(): Promise<void> {
    return this.scheduler.drain();
  }

  /** As `drain`, and aborts running methods at once. */
  stop(): Promise<void> {
    return this.scheduler.stop();
  }

  /** The keys of all entries that were added, also of those that configuration disables. Read at bootstrap. */
  addedKeys(): string[] {
    return [...this.written.keys()];
  }

  /** Adopts an entry that a decorator wrote. Called at bootstrap. */
  adopt(key: string, schedule: unknown, options: DistributedCronEntryOptions | undefined): void {
    this.written.set(key, { schedule, options, changes: undefined });
  }

  private resolve(
    key: string,
    written: Written,
    methods: readonly unknown[],
    before: readonly ConfigurationFault[],
  ): ResolvedEntry {
    const faults: ConfigurationFault[] = [...before];
    for (const method of methods) {
      if (typeof method === 'function') continue;
      const subject = `${SUBJECT}, key "${key}", run`;
      faults.push({ code: 'OPTION_VALUE', subject, expected: 'a function', got: shown(method) });
    }
    const entry = resolveEntry({ subject: SUBJECT, defaultKey: key, ...written }, this.options, this.store, faults);
    if (entry !== undefined) faults.push(...heldLeaseFaults([entry.policies], this.options));
    if (entry === undefined || faults.length > 0) throw new ConfigurationError(faults);
    return entry;
  }
}

/** An option that a decorator or configuration has, and that would count for nothing here. */
function refused(key: string, options: object, name: string, hint: string): ConfigurationFault[] {
  if ((options as Readonly<Record<string, unknown>> | null)?.[name] === undefined) return [];
  const subject = `${SUBJECT}, key "${key}", option ${name}`;
  return [{ code: 'OPTION_UNKNOWN', subject, expected: 'a known option', got: shown(name), hint }];
}

const CALL_OPTIONS: Readonly<Record<'pause' | 'resume', readonly string[]>> = {
  pause: ['scope'],
  resume: ['scope', 'catchUp'],
};

/** Checked at run time too, as these often come from a request: a word misread would pause one replica where the fleet was meant, or make up for nothing. */
function isFleet(
  operation: 'pause' | 'resume',
  options: ((ReplicaScope | FleetScope) & ResumeOptions) | undefined,
): options is FleetScope {
  const known = CALL_OPTIONS[operation];
  const given: unknown = options ?? {};
  if (typeof given !== 'object' || Array.isArray(given))
    throw new RangeError(`${operation} takes an object with ${known.join(' and ')}; got ${shown(given)}.`);
  const unknown = Object.keys(given as object).find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw new RangeError(`${operation} has no option "${unknown}". Known: ${known.join(', ')}.`);
  const catchUp: unknown = options?.catchUp ?? false;
  if (typeof catchUp !== 'boolean') throw new RangeError(`catchUp is true or false; got ${shown(catchUp)}.`);
  const scope: unknown = options?.scope ?? 'replica';
  if (scope === 'fleet' || scope === 'replica') return scope === 'fleet';
  throw new RangeError(`${operation} has the scope 'replica' or 'fleet'; got ${shown(scope)}.`);
}
