import type { Clock } from '../ambient/clock.js';
import type { Random } from '../ambient/random.js';
import { busyWaitMs } from './ask-again.js';
import { ClaimDesk } from './claim-desk.js';
import type { ClaimOutcome, ClaimRequest } from './claim-request.js';
import type { CoordinationBackend } from './coordination-backend.js';
import { CoordinationError, toCoordinationError } from './coordination-error.js';
import { limitTime } from './time-limit.js';

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

/**
 * A backend with what no adapter should write again: opened once, closed once, every call within its time limit, every failure a
 * `CoordinationError`, claims of a turn together, and asked again with the same claim id where the claimer says that is safe.
 */
export class GuardedBackend {
  readonly store: string;
  readonly #desk: ClaimDesk;
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
  ) {
    this.store = backend.store;
    this.#desk = new ClaimDesk(backend.claimer, { ...settings, store: backend.store }, ambient, () =>
      this.#opened && this.#closing === undefined ? undefined : this.open(),
    );
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

  /**
   * How far the store's clock is ahead of this replica's, in milliseconds (negative: behind), or `undefined` if the store has no clock. Right to half
   * the time of the call. Rejects with `CoordinationError`.
   */
  async clockOffsetMs(): Promise<number | undefined> {
    if (this.backend.now === undefined) return undefined;
    await this.open();
    const { clock } = this.ambient;
    const askedAtMs = clock.monotonic();
    const localMs = clock.now();
    const storeMs: unknown = await this.#call('now', (signal) => this.backend.now?.(signal));
    const middleMs = localMs + (clock.monotonic() - askedAtMs) / 2;
    if (typeof storeMs === 'number' && Number.isFinite(storeMs)) return storeMs - middleMs;
    throw new CoordinationError('COORDINATION_ANSWER', this.#subject('now'), 'answered no number of milliseconds.');
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

  async #open(): Promise<void> {
    if (this.backend.open !== undefined) await this.#openUnlessBusy();
    this.#opened = true;
  }

  async #openUnlessBusy(): Promise<void> {
    const { clock, random } = this.ambient;
    const { maxClockSkewMs, retentionMs, coordinationTimeoutMs } = this.settings;
    const endsAtMs = clock.monotonic() + coordinationTimeoutMs;
    for (;;) {
      try {
        const limitMs = Math.max(1, Math.ceil(endsAtMs - clock.monotonic()));
        await this.#call('open', (signal) => this.backend.open?.({ maxClockSkewMs, retentionMs }, signal), limitMs);
        return;
      } catch (cause) {
        const error = cause as CoordinationError;
        if (error.code === 'COORDINATION_TIMEOUT') this.#maybeOpen = true;
        const waitMs = busyWaitMs(random);
        if (error.code !== 'STORE_BUSY' || clock.monotonic() + waitMs >= endsAtMs) throw error;
        await new Promise<void>((resume) => void clock.setTimer(resume, waitMs));
        if (this.#stopped) throw this.#stoppedError('open');
      }
    }
  }

  async #close(): Promise<void> {
    this.stopAsking();
    await this.#opening?.catch(() => undefined);
    await this.#desk.idle();
    if (this.backend.close !== undefined && (this.#opened || this.#maybeOpen)) {
      await this.#call('close', () => this.backend.close?.());
    }
  }

  async #call<T>(
    operation: string,
    ask: (signal: AbortSignal) => T | PromiseLike<T>,
    limitMs = this.settings.coordinationTimeoutMs,
  ): Promise<T> {
    const subject = this.#subject(operation);
    try {
      return await limitTime(this.ambient.clock, { ...subject, limitMs }, ask);
    } catch (cause) {
      throw toCoordinationError(cause, subject);
    }
  }

  #subject(operation: string) {
    return { store: this.store, operation };
  }

  #stoppedError(operation: string): CoordinationError {
    return new CoordinationError(
      'COORDINATION_STOPPED',
      this.#subject(operation),
      'not asked, because the scheduler drains or has stopped.',
    );
  }
}
