import { ConfigurationError, type ConfigurationFault } from '../domain/errors.js';
import type { Fire } from '../domain/fire.js';
import type { EntryView } from '../engine/entry-view.js';
import type { Scheduler } from '../engine/scheduler.js';
import type { FireContext } from '../fire/fire-context.js';
import type { EntryStore } from './entry-rules.js';
import { heldLeaseFaults } from './holding-rule.js';
import { shown } from './option-reader.js';
import type { DistributedCronEntryOptions, EntryConfiguration, ScheduleInput } from './options.js';
import { type ResolvedEntry, resolveEntry } from './resolve-entry.js';
import type { ResolvedOptions } from './resolve-options.js';

/** Options of an entry that is added in code. */
export type RegistryEntryOptions = Omit<DistributedCronEntryOptions, 'key' | 'enabled'>;

/** What `update` changes of an entry. */
export interface RegistryEntryChange extends Omit<EntryConfiguration, 'enabled'> {
  readonly run?: (fire: FireContext) => unknown;
}

/** JSON-safe view of this replica's scheduler. */
export interface RegistrySnapshot {
  readonly instanceId: string;
  readonly hostname: string;
  readonly pid: number;
  readonly state: string;
  /** Version of the zone data. Replicas with different data compute different instants around changed rules. */
  readonly timeZoneData: string;
  readonly entries: readonly (Omit<EntryView, 'nextAt'> & { readonly nextAt: string | null })[];
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

/** The entries of this replica. What is added, updated, paused or removed here changes this replica alone. */
export class DistributedCronRegistry {
  private readonly written = new Map<string, Written>();

  constructor(
    private readonly scheduler: Scheduler,
    private readonly options: ResolvedOptions,
    private readonly store: EntryStore,
  ) {}

  list(): EntryView[] {
    return this.scheduler.list();
  }

  snapshot(): RegistrySnapshot {
    const { id, hostname, pid } = this.scheduler.instance;
    return {
      instanceId: id,
      hostname,
      pid,
      state: this.scheduler.state,
      timeZoneData: process.versions.tz ?? 'unknown',
      entries: this.scheduler.list().map((entry) => ({ ...entry, nextAt: entry.nextAt?.toISOString() ?? null })),
    };
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
    const { policies, schedule: resolved, enabled, claimer } = this.resolve(key, written, [run]);
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
    const { schedule, policies } = this.resolve(key, written, run === undefined ? [] : [run]);
    this.scheduler.update(key, { schedule, policies, ...(run === undefined ? {} : { run }) });
    this.written.set(key, written);
  }

  /** Takes the entry off this replica's schedule. Running methods go on. @throws EntryNotFoundError */
  remove(key: string): void {
    this.scheduler.remove(key);
    this.written.delete(key);
  }

  /** Fires of the entry are rejected on this replica until `resume`. Manual triggers work. @throws EntryNotFoundError */
  pause(key: string): void {
    this.scheduler.pause(key);
  }

  /** The entry goes on with its next instant; nothing is made up for. @throws EntryNotFoundError */
  resume(key: string): void {
    this.scheduler.resume(key);
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

  private resolve(key: string, written: Written, methods: readonly unknown[]): ResolvedEntry {
    const faults: ConfigurationFault[] = methods
      .filter((method) => typeof method !== 'function')
      .map((method) => ({
        code: 'OPTION_VALUE',
        subject: `${SUBJECT}, key "${key}", run`,
        expected: 'a function',
        got: shown(method),
      }));
    const entry = resolveEntry({ subject: SUBJECT, defaultKey: key, ...written }, this.options, this.store, faults);
    if (entry !== undefined) faults.push(...heldLeaseFaults([entry.policies], this.options));
    if (entry === undefined || faults.length > 0) throw new ConfigurationError(faults);
    return entry;
  }
}
