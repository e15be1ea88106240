import { types } from 'node:util';
import type { Clock } from '../ambient/clock.js';
import type { Random } from '../ambient/random.js';
import { isValidDate } from '../domain/valid-date.js';
import { ClaimDesk } from './claim-desk.js';
import type { ClaimOutcome, ClaimRequest } from './claim-request.js';
import type { LastFire } from './claimer.js';
import { ClockSkew } from './clock-skew.js';
import type { CoordinationBackend } from './coordination-backend.js';
import { CoordinationError } from './coordination-error.js';
import { GuardedLeases } from './guarded-leases.js';
import { GuardedMembership } from './guarded-membership.js';
import { GuardedRecovery } from './guarded-recovery.js';
import { StoreCalls } from './store-calls.js';

export type { ClaimOutcome, ClaimRequest } from './claim-request.js';

export interface GuardedBackendSettings {
  readonly namespace: string;
  readonly instanceId: string;
  /** Limit of one call to the store. */
  readonly coordinationTimeoutMs: number;
  /** How long a claim is asked again of a repeatable claimer, counted from its first ask. */
  readonly claimPatienceMs: number;
  readonly maxClockSkewMs: number;
  readonly retentionMs: number;
}

export interface GuardedBackendListener {
  /**
   * The store refused a fire because of this replica's clock. `offsetMs`: the store's clock less ours, so negative where ours is ahead; right to the time of a call.
   * Told at most once a minute.
   */
  clockSkewed(offsetMs: number): void;
}

/**
 * A backend with what no adapter should write again: opened once, closed once, every call within its time limit, every failure a
 * `CoordinationError`, claims of a turn together, and asked again with the same claim id where the claimer says that is safe. Leases and membership
 * behind the same guard.
 */
export class GuardedBackend {
  readonly store: string;
  /** Absent where the backend has none. Asked also after `stopAsking`, so that a drain can give back what is held; not after `close`. */
  readonly leases: GuardedLeases | undefined;
  /** As `leases`. */
  readonly membership: GuardedMembership | undefined;
  /** As `leases`. */
  readonly recovery: GuardedRecovery | undefined;
  readonly #desk: ClaimDesk;
  readonly #calls: StoreCalls;
  #opening: Promise<void> | undefined;
  #opened = false;
  /** An attempt to open ended at its time limit: what it left open is not known. */
  #maybeOpen = false;
  #stopped = false;
  #closing: Promise<void> | undefined;

  constructor(
    private readonly backend: CoordinationBackend,
    private readonly settings: GuardedBackendSettings,
    private readonly ambient: { readonly clock: Clock; readonly random: Random },
    listener?: GuardedBackendListener,
  ) {
    this.store = backend.store;
    const { store, leases, membership, recovery, claimer } = backend;
    const ready = () => this.#ready();
    const skew = new ClockSkew(ambient.clock, (offsetMs) => listener?.clockSkewed(offsetMs));
    this.#calls = new StoreCalls({ ...settings, store }, ambient, ready);
    this.#desk = new ClaimDesk(claimer, { ...settings, store }, ambient, ready, (aheadMs, { scheduledAt }) =>
      skew.foundEarly(scheduledAt.getTime(), aheadMs),
    );
    this.leases = leases && new GuardedLeases(leases, this.#calls);
    this.membership = membership && new GuardedMembership(membership, this.#calls);
    this.recovery = recovery && new GuardedRecovery(recovery, this.#calls);
  }

  /**
   * Opens the backend once; concurrent calls share one attempt, and after a failure the next use tries again. A busy store is asked again within
   * `coordinationTimeout`. Rejects with `CoordinationError`.
   */
  open(): Promise<void> {
    if (this.#closing !== undefined || (this.#stopped && !this.#opened))
      return Promise.reject(this.#stoppedError('open'));
    this.#opening ??= this.#open().catch((error) => {
      this.#opening = undefined;
      throw error;
    });
    return this.#opening;
  }

  /** Never rejects. Claims requested in one turn are asked for together. */
  claim(request: ClaimRequest): Promise<ClaimOutcome> {
    return this.#desk.claim(request);
  }

  /** Whether the store can be asked for the fleet's last fires. */
  get remembers(): boolean {
    return typeof this.backend.claimer.lastFire === 'function';
  }

  /**
   * The fleet's watermarks, of the entries that have one; `undefined` if the claimer remembers none. Rejects with `CoordinationError`.
   */
  async lastFire(entryKeys: readonly string[]): Promise<ReadonlyMap<string, LastFire> | undefined> {
    const { claimer } = this.backend;
    if (typeof claimer.lastFire !== 'function') return undefined;
    let asked = false;
    const last: unknown = await this.#calls.onceOpen('lastFire', (signal) => {
      // Nothing is caught up once a drain has begun: a busy store is not asked again for it.
      if (asked && this.#stopped) throw this.#stoppedError('lastFire');
      asked = true;
      return claimer.lastFire?.(this.settings.namespace, entryKeys, signal);
    });
    if (isMapOfFires(last)) return last;
    throw this.#calls.unusable('lastFire', 'no map from entry keys to { scheduledAt, schedule }');
  }

  /** Whether claims may take leases with them, of both kinds. */
  get holding(): boolean {
    return this.backend.claimer.holding === true;
  }

  /** Whether an entry can be paused over the fleet. */
  get pausing(): boolean {
    const { pause, resume } = this.backend.claimer;
    return typeof pause === 'function' && typeof resume === 'function';
  }

  /** Pauses the entry over the fleet. Rejects with `CoordinationError`. */
  async pause(entryKey: string): Promise<void> {
    const { namespace } = this.settings;
    await this.#calls.onceOpen('pause', (signal) => this.backend.claimer.pause?.(namespace, entryKey, signal));
  }

  /** Ends the pause; answers since when it was, by the store's clock, or `null` if it was not. Rejects with `CoordinationError`. */
  async resume(entryKey: string, change: { readonly keepWatermark: boolean }): Promise<Date | null> {
    const { namespace } = this.settings;
    const since: unknown = await this.#calls.onceOpen('resume', (signal) =>
      this.backend.claimer.resume?.(namespace, entryKey, change, signal),
    );
    if (since === null || isValidDate(since)) return since;
    throw this.#calls.unusable('resume', 'neither null nor a valid date');
  }

  /** Removes all that the store keeps of an entry; `false`: this store cannot. Rejects with `CoordinationError`. */
  async forget(entryKey: string): Promise<boolean> {
    const { claimer } = this.backend;
    if (typeof claimer.forget !== 'function') return false;
    await this.#calls.onceOpen('forget', (signal) => claimer.forget?.(this.settings.namespace, entryKey, signal));
    return true;
  }

  /**
   * How far the store's clock is ahead of this replica's, in milliseconds (negative: behind), or `undefined` if the store has no clock. Right to half
   * the time of the call. Rejects with `CoordinationError`.
   */
  async clockOffsetMs(): Promise<number | undefined> {
    if (this.backend.now === undefined) return undefined;
    await this.#ready();
    const { clock } = this.ambient;
    const askedAtMs = clock.monotonic();
    const localMs = clock.now();
    const storeMs: unknown = await this.#calls.once('now', (signal) => this.backend.now?.(signal));
    const middleMs = localMs + (clock.monotonic() - askedAtMs) / 2;
    if (typeof storeMs === 'number' && Number.isFinite(storeMs)) return storeMs - middleMs;
    throw this.#calls.unusable('now', 'no number of milliseconds');
  }

  /** What the backend has to say of how its store is set up; nothing if it cannot tell. Rejects with `CoordinationError`. */
  async warnings(): Promise<readonly string[]> {
    if (this.backend.warnings === undefined) return [];
    await this.#ready();
    return (await this.#calls.once('warnings', (signal) => this.backend.warnings?.(signal))) ?? [];
  }

  /**
   * From now on nothing is asked, nor asked again. Requests that were not asked yet, or wait to be asked again, end in
   * `COORDINATION_STOPPED`; those on the wire are awaited and may still be granted.
   */
  stopAsking(): void {
    this.#stopped = true;
    this.#desk.stopAsking();
  }

  /** Closes once, after the calls on the wire have ended or reached their time limit. Rejects with `CoordinationError` if the backend cannot close. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  #ready(): Promise<void> | undefined {
    return this.#opened && this.#closing === undefined ? undefined : this.open();
  }

  async #open(): Promise<void> {
    const { maxClockSkewMs, retentionMs, coordinationTimeoutMs } = this.settings;
    try {
      await this.#calls.untilFree('open', (signal) => {
        if (this.#stopped) throw this.#stoppedError('open');
        return this.backend.open?.({ maxClockSkewMs, retentionMs, coordinationTimeoutMs }, signal);
      });
    } catch (error) {
      if ((error as CoordinationError).code === 'COORDINATION_TIMEOUT') this.#maybeOpen = true;
      throw error;
    }
    this.#opened = true;
  }

  async #close(): Promise<void> {
    this.stopAsking();
    await this.#opening?.catch(() => undefined);
    await this.#desk.idle();
    await this.#calls.idle();
    if (this.backend.close !== undefined && (this.#opened || this.#maybeOpen)) {
      await this.#calls.once('close', () => this.backend.close?.());
    }
  }

  #stoppedError(operation: string): CoordinationError {
    return new CoordinationError(
      'COORDINATION_STOPPED',
      { store: this.store, operation },
      'not asked, because the scheduler drains or has stopped.',
    );
  }
}

function isMapOfFires(answer: unknown): answer is ReadonlyMap<string, LastFire> {
  // Not `instanceof`: a map of another realm is one too.
  if (!types.isMap(answer)) return false;
  for (const last of answer.values() as Iterable<Partial<LastFire> | undefined>) {
    if (!isValidDate(last?.scheduledAt) || typeof last?.schedule !== 'string') return false;
  }
  return true;
}
