import type { Clock } from '../ambient/clock.js';
import type { Random } from '../ambient/random.js';
import { busyWaitMs } from './ask-again.js';
import { CoordinationError, toCoordinationError } from './coordination-error.js';
import { limitTime } from './time-limit.js';

export interface StoreCallsSettings {
  readonly store: string;
  readonly coordinationTimeoutMs: number;
}

type Ask<T> = (signal: AbortSignal) => T | PromiseLike<T>;

/** Calls to one store, each within its time limit, each failure a `CoordinationError` that names store and operation. */
export class StoreCalls {
  readonly #calls = new Set<Promise<unknown>>();

  constructor(
    private readonly settings: StoreCallsSettings,
    private readonly ambient: { readonly clock: Clock; readonly random: Random },
    /** `undefined` if the store is open, else the promise that it will be. */
    private readonly ready: () => Promise<void> | undefined,
  ) {}

  once<T>(operation: string, ask: Ask<T>): Promise<T> {
    return this.#track(this.#once(operation, ask, this.settings.coordinationTimeoutMs));
  }

  /** Asks again while the store is busy. All asks together have one `coordinationTimeout`; then the last error is told. */
  untilFree<T>(operation: string, ask: Ask<T>): Promise<T> {
    return this.#track(this.#untilFree(operation, ask));
  }

  /** As `untilFree`, of a store that is opened first. */
  async onceOpen<T>(operation: string, ask: Ask<T>): Promise<T> {
    await this.ready();
    return this.untilFree(operation, ask);
  }

  /** As `onceOpen`, where the port knows two answers: a hold must rest on no other. */
  async yesOrNo(operation: string, ask: Ask<unknown>): Promise<boolean> {
    const answer = await this.onceOpen(operation, ask);
    if (typeof answer === 'boolean') return answer;
    throw this.unusable(operation, `a value of type ${typeof answer}, expected true or false`);
  }

  /** The store answered what the port does not know: nothing follows from it. */
  unusable(operation: string, got: string): CoordinationError {
    return new CoordinationError('COORDINATION_ANSWER', { store: this.settings.store, operation }, `answered ${got}.`);
  }

  /** Resolves when no call is on the wire. Calls end at their time limit, so this does too. */
  async idle(): Promise<void> {
    while (this.#calls.size > 0) await Promise.allSettled(this.#calls);
  }

  async #untilFree<T>(operation: string, ask: Ask<T>): Promise<T> {
    const { clock, random } = this.ambient;
    const endsAtMs = clock.monotonic() + this.settings.coordinationTimeoutMs;
    for (;;) {
      try {
        return await this.#once(operation, ask, Math.max(1, Math.ceil(endsAtMs - clock.monotonic())));
      } catch (cause) {
        const error = cause as CoordinationError;
        const waitMs = busyWaitMs(random);
        if (error.code !== 'STORE_BUSY' || clock.monotonic() + waitMs >= endsAtMs) throw error;
        await new Promise<void>((resume) => void clock.setTimer(resume, waitMs));
      }
    }
  }

  async #once<T>(operation: string, ask: Ask<T>, limitMs: number): Promise<T> {
    const subject = { store: this.settings.store, operation };
    try {
      return await limitTime(this.ambient.clock, { ...subject, limitMs }, ask);
    } catch (cause) {
      throw toCoordinationError(cause, subject);
    }
  }

  #track<T>(call: Promise<T>): Promise<T> {
    this.#calls.add(call);
    const ended = () => void this.#calls.delete(call);
    call.then(ended, ended);
    return call;
  }
}
