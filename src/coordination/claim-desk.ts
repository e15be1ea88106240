import { type Clock, MAX_TIMER_DELAY_MS, type TimerHandle } from '../ambient/clock.js';
import type { Random } from '../ambient/random.js';
import { busyWaitMs, failureWaitMs, worthAskingAgain } from './ask-again.js';
import { readAnswer, readBatch } from './claim-answer.js';
import type { ClaimOutcome, ClaimRequest } from './claim-request.js';
import type { Claim, Claimer } from './claimer.js';
import { CoordinationError, toCoordinationError } from './coordination-error.js';
import { limitTime } from './time-limit.js';

export interface ClaimDeskSettings {
  readonly store: string;
  readonly namespace: string;
  readonly instanceId: string;
  /** Limit of one call. */
  readonly coordinationTimeoutMs: number;
  /** How long a claim is asked again, counted from its first ask. */
  readonly claimPatienceMs: number;
}

/** Claims in one call of `claimMany`. */
const LARGEST_BATCH = 1_000;
/** Rounds of microtasks without a new claim after which a turn's claims are complete: stages before the claim differ by few. */
const QUIET_ROUNDS = 4;
/** Timers call back up to a millisecond early; what is left then is no time to ask in. */
const LEAST_MS = 1;
/** Calls at a time when a failed batch is asked one by one. */
const ONE_BY_ONE = 16;

/** A claim between its request and its outcome. */
interface OpenClaim {
  readonly request: ClaimRequest;
  readonly settle: (outcome: ClaimOutcome) => void;
  /** Monotonic; set at the first ask. */
  patienceEndsMs: number;
  failures: number;
  /** It failed by itself after the batch it was in had failed: it may be what the store chokes on, so it spoils no batch again. */
  alone: boolean;
}

/** A claim that waits to be asked again. It holds no socket and no timer of its own. */
interface WaitingClaim {
  readonly open: OpenClaim;
  /** Monotonic. */
  readonly dueMs: number;
  /** Waits for the store's clock: it is not asked before its time, even if others are. */
  readonly early: boolean;
  readonly error: CoordinationError;
}

/**
 * Takes the claims of a turn, asks for them together, and asks again where that is safe. One timer serves all that wait, and they go in one batch:
 * what is waited for is the store, not a claim.
 */
export class ClaimDesk {
  readonly #inBatches: boolean;
  readonly #repeatable: boolean;
  #arrived: OpenClaim[] = [];
  #waiting: WaitingClaim[] = [];
  #alarm: { readonly timer: TimerHandle; readonly dueMs: number } | undefined;
  #stopped = false;
  readonly #calls = new Set<Promise<void>>();

  /** `ready` is called before each ask: `undefined` if the store is open, else the promise that it will be. */
  constructor(
    private readonly claimer: Claimer,
    private readonly settings: ClaimDeskSettings,
    private readonly ambient: { readonly clock: Clock; readonly random: Random },
    private readonly ready: () => Promise<void> | undefined,
  ) {
    this.#inBatches = typeof claimer.claimMany === 'function';
    this.#repeatable = claimer.repeatable === true;
  }

  /** Never rejects. */
  claim(request: ClaimRequest): Promise<ClaimOutcome> {
    if (this.#stopped) return Promise.resolve({ kind: 'error', error: this.#stoppedError() });
    return new Promise((settle) => {
      this.#arrived.push({ request, settle, patienceEndsMs: Number.NaN, failures: 0, alone: false });
      if (this.#arrived.length === 1) this.#track(this.#askForTheTurn());
    });
  }

  /** Nothing is asked from now on. What is on the wire is awaited by whoever requested it; everything else ends here. */
  stopAsking(): void {
    if (this.#stopped) return;
    this.#stopped = true;
    if (this.#alarm !== undefined) this.ambient.clock.clearTimer(this.#alarm.timer);
    this.#alarm = undefined;
    const arrived = this.#arrived.splice(0);
    const waiting = this.#waiting.splice(0);
    for (const open of arrived) this.#fail(open, this.#stoppedError());
    for (const { open, error } of waiting) this.#fail(open, this.#stoppedError(error));
  }

  /** Resolves when no call is on the wire. Calls end at their time limit, so this does too. */
  async idle(): Promise<void> {
    while (this.#calls.size > 0) await Promise.all(this.#calls);
  }

  #track(call: Promise<void>): void {
    this.#calls.add(call);
    void call.finally(() => this.#calls.delete(call));
  }

  /** Goes on collecting for as long as rounds of microtasks bring more. Promises, not `queueMicrotask`, which fake timers replace. */
  async #askForTheTurn(): Promise<void> {
    let seen = 0;
    for (let quiet = 0; quiet < QUIET_ROUNDS; quiet += 1) {
      await undefined;
      if (this.#arrived.length > seen) quiet = 0;
      seen = this.#arrived.length;
    }
    const claims = this.#arrived.splice(0);
    const patienceEndsMs = this.ambient.clock.monotonic() + this.settings.claimPatienceMs;
    for (const open of claims) open.patienceEndsMs = patienceEndsMs;
    await this.#ask(claims, this.settings.coordinationTimeoutMs);
  }

  async #ask(claims: readonly OpenClaim[], limitMs: number): Promise<void> {
    if (claims.length === 0) return;
    try {
      const opening = this.ready();
      if (opening !== undefined) await opening;
    } catch (cause) {
      this.#noneAnswered(claims, toCoordinationError(cause, { store: this.settings.store, operation: 'open' }));
      return;
    }
    if (this.#stopped) {
      this.#noneAnswered(claims, this.#stoppedError());
      return;
    }
    await Promise.all(
      this.#inBatches
        ? batches(claims).map((batch) => this.#askBatch(batch, limitMs))
        : claims.map((open) => this.#askSingle(open, limitMs)),
    );
  }

  async #askSingle(open: OpenClaim, limitMs: number): Promise<void> {
    try {
      const answer: unknown = await limitTime(this.ambient.clock, this.#limit(limitMs), (signal) =>
        this.claimer.claim(open.request.fireKey, this.#claim(open, signal).context),
      );
      this.#take(open, readAnswer(answer, this.settings.store));
    } catch (cause) {
      this.#unanswered(open, this.#error(cause));
    }
  }

  async #askBatch(batch: readonly OpenClaim[], limitMs: number): Promise<void> {
    const error = await this.#tryBatch(batch, limitMs);
    if (error === undefined) return;
    const oneMayBeBad = batch.length > 1 && error.code !== 'STORE_BUSY' && error.code !== 'COORDINATION_TIMEOUT';
    if (oneMayBeBad && this.#repeatable && !this.#stopped) await this.#askOneByOne(batch, limitMs, error);
    else this.#noneAnswered(batch, error);
  }

  /** Takes the answers, or tells why there are none. */
  async #tryBatch(batch: readonly OpenClaim[], limitMs: number): Promise<CoordinationError | undefined> {
    try {
      const answers: unknown = await limitTime(this.ambient.clock, this.#limit(limitMs), (signal) =>
        this.claimer.claimMany!(
          batch.map((open) => this.#claim(open, signal)),
          signal,
        ),
      );
      const outcomes = readBatch(answers, batch.length, this.settings.store);
      for (const [i, open] of batch.entries()) this.#take(open, outcomes[i] as ClaimOutcome);
      return undefined;
    } catch (cause) {
      return this.#error(cause);
    }
  }

  /** One bad claim harms only itself. Where not one of a group is answered the store is at fault, and the rest waits for it in a batch. */
  async #askOneByOne(batch: readonly OpenClaim[], limitMs: number, batchError: CoordinationError): Promise<void> {
    for (let from = 0; from < batch.length; from += ONE_BY_ONE) {
      const group = batch.slice(from, from + ONE_BY_ONE);
      const errors = this.#stopped
        ? group.map(() => this.#stoppedError(batchError))
        : await Promise.all(group.map((open) => this.#tryBatch([open], limitMs)));
      const none = errors.every((error) => error !== undefined);
      for (const [i, error] of errors.entries()) {
        if (error === undefined) continue;
        const open = group[i] as OpenClaim;
        open.alone = !none || i === 0;
        this.#unanswered(open, error);
      }
      if (none) {
        const error = this.#stopped ? this.#stoppedError(batchError) : batchError;
        this.#noneAnswered(batch.slice(from + ONE_BY_ONE), error);
        return;
      }
    }
  }

  #take(open: OpenClaim, outcome: ClaimOutcome): void {
    if (outcome.kind === 'error') this.#unanswered(open, outcome.error);
    else open.settle(outcome);
  }

  /** Lets the claim wait to be asked again where that is safe and of use, else ends it. */
  #unanswered(open: OpenClaim, error: CoordinationError): void {
    const remainingMs = this.#remainingMs(open);
    const early = error.code === 'CLOCK_AHEAD';
    const waitMs = early ? (error.aheadMs ?? Number.NaN) : this.#waitMs(open, error);
    const again = this.#repeatable && !this.#stopped && (early ? waitMs < remainingMs : worthAskingAgain(error));
    if (!again || remainingMs < LEAST_MS) {
      this.#fail(open, error);
      return;
    }
    const dueMs = this.ambient.clock.monotonic() + Math.max(1, Math.min(waitMs, remainingMs));
    this.#waiting.push({ open, dueMs, early, error });
    this.#wakeAt(dueMs);
  }

  #waitMs(open: OpenClaim, error: CoordinationError): number {
    if (error.code === 'STORE_BUSY') return busyWaitMs(this.ambient.random);
    open.failures += 1;
    return failureWaitMs(open.failures, this.ambient.random);
  }

  #wakeAt(dueMs: number): void {
    if (this.#alarm !== undefined && this.#alarm.dueMs <= dueMs) return;
    const { clock } = this.ambient;
    if (this.#alarm !== undefined) clock.clearTimer(this.#alarm.timer);
    const delayMs = Math.min(MAX_TIMER_DELAY_MS, Math.max(0, Math.ceil(dueMs - clock.monotonic())));
    const timer = clock.setTimer(() => this.#wake(), delayMs);
    this.#alarm = { timer, dueMs };
  }

  #wake(): void {
    this.#alarm = undefined;
    const nowMs = this.ambient.clock.monotonic();
    const claims: OpenClaim[] = [];
    let limitMs = 0;
    let nextDueMs = Number.POSITIVE_INFINITY;
    for (const waiting of this.#waiting.splice(0)) {
      const remainingMs = this.#remainingMs(waiting.open);
      if (remainingMs < LEAST_MS) {
        this.#fail(waiting.open, waiting.error);
      } else if (waiting.early && waiting.dueMs > nowMs + 1) {
        this.#waiting.push(waiting);
        nextDueMs = Math.min(nextDueMs, waiting.dueMs);
      } else {
        claims.push(waiting.open);
        limitMs = Math.max(limitMs, Math.ceil(remainingMs));
      }
    }
    if (nextDueMs !== Number.POSITIVE_INFINITY) this.#wakeAt(nextDueMs);
    // An ask again ends with the patience of the last that waits for it; a first ask always has its whole time.
    if (claims.length > 0) this.#track(this.#ask(claims, Math.min(this.settings.coordinationTimeoutMs, limitMs)));
  }

  /** Milliseconds until nobody waits for the claim: by the wall clock to `untilMs`, by the monotonic clock to the end of the patience. */
  #remainingMs(open: OpenClaim): number {
    const { clock } = this.ambient;
    return Math.min(open.request.untilMs - clock.now(), open.patienceEndsMs - clock.monotonic());
  }

  #claim({ request }: OpenClaim, signal: AbortSignal): Claim {
    const { entryKey, scheduledAt, claimId, schedule, fireKey } = request;
    const { namespace, instanceId } = this.settings;
    return { fireKey, context: { namespace, entryKey, scheduledAt, claimId, instanceId, schedule, signal } };
  }

  #limit(limitMs: number) {
    return { limitMs, store: this.settings.store, operation: 'claim' };
  }

  #error(cause: unknown): CoordinationError {
    return toCoordinationError(cause, { store: this.settings.store, operation: 'claim' });
  }

  #stoppedError(last?: CoordinationError): CoordinationError {
    return new CoordinationError(
      'COORDINATION_STOPPED',
      { store: this.settings.store, operation: 'claim' },
      'not asked, because the scheduler drains or has stopped.',
      { cause: last },
    );
  }

  #fail(open: OpenClaim, error: CoordinationError): void {
    open.settle({ kind: 'error', error });
  }

  #noneAnswered(claims: readonly OpenClaim[], error: CoordinationError): void {
    for (const open of claims) this.#unanswered(open, error);
  }
}

/** At most 1,000 claims each, an instant of an entry at most once, and those that spoiled a batch each for itself. */
function batches(claims: readonly OpenClaim[]): OpenClaim[][] {
  const done: OpenClaim[][] = [];
  let left = claims;
  while (left.length > 0) {
    const batch: OpenClaim[] = [];
    const fireKeys = new Set<string>();
    const later: OpenClaim[] = [];
    for (const open of left) {
      if (open.alone) done.push([open]);
      else if (fireKeys.has(open.request.fireKey) || batch.length === LARGEST_BATCH) later.push(open);
      else {
        fireKeys.add(open.request.fireKey);
        batch.push(open);
      }
    }
    if (batch.length > 0) done.push(batch);
    left = later;
  }
  return done;
}
