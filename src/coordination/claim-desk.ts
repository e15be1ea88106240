import { type Clock, MAX_TIMER_DELAY_MS, type TimerHandle } from '../ambient/clock.js';
import type { Random } from '../ambient/random.js';
import { busyWaitMs, failureWaitMs, storeMayBeDown, worthAskingAgain } from './ask-again.js';
import { Circuit } from './circuit.js';
import { type CallEnd, ClaimCalls, type ClaimCallsSettings } from './claim-calls.js';
import type { ClaimOutcome, ClaimRequest } from './claim-request.js';
import type { Claimer } from './claimer.js';
import type { CoordinationError } from './coordination-error.js';
import { hasEnded, type OpenClaim, remainingMs } from './open-claim.js';
import { type WaitingClaim, WaitingClaims } from './waiting-claims.js';

export interface ClaimDeskSettings extends ClaimCallsSettings {
  /** Limit of one call. */
  readonly coordinationTimeoutMs: number;
  /** How long a claim is asked again, counted from its first ask. */
  readonly claimPatienceMs: number;
}

/** Rounds of microtasks without a new claim after which a turn's claims are complete: stages before the claim differ by few. */
const QUIET_ROUNDS = 4;
/** Timers call back up to a millisecond early. */
const EARLY_MS = 1;

/**
 * Takes the claims of a turn, asks for them together, and asks again where that is safe. While the store may be down, all claims wait and probes ask for them, one claim
 * each; the claim stays with those that wait. One timer serves all that wait, and they go in one batch: what is waited for is the store, not a claim.
 */
export class ClaimDesk {
  #arrived: OpenClaim[] = [];
  readonly #calls: ClaimCalls;
  readonly #circuit: Circuit;
  readonly #waiting: WaitingClaims;
  #alarm: { readonly timer: TimerHandle; readonly atMs: number } | undefined;
  #stopped = false;
  readonly #onTheWire = new Set<Promise<void>>();

  /** `ready` is called before each ask: `undefined` if the store is open, else the promise that it will be. */
  constructor(
    claimer: Claimer,
    private readonly settings: ClaimDeskSettings,
    private readonly ambient: { readonly clock: Clock; readonly random: Random },
    ready: () => Promise<void> | undefined,
    private readonly foundEarly: (aheadMs: number, request: ClaimRequest) => void,
  ) {
    this.#calls = new ClaimCalls(claimer, settings, ambient.clock, ready, () => this.#stopped);
    this.#circuit = new Circuit(settings.coordinationTimeoutMs, ambient.random);
    this.#waiting = new WaitingClaims(ambient.clock);
  }

  /** Never rejects. */
  claim(request: ClaimRequest): Promise<ClaimOutcome> {
    if (this.#stopped) return Promise.resolve({ kind: 'error', error: this.#calls.stoppedError() });
    return new Promise((settle) => {
      const untouched = { settled: false, patienceEndsMs: Number.NaN, failures: 0, alone: false, probes: 0 };
      this.#arrived.push({ request, settle, ...untouched });
      if (this.#arrived.length === 1) this.#track(this.#askForTheTurn());
    });
  }

  /** Nothing is asked from now on. What is on the wire is awaited by whoever requested it; everything else ends here. */
  stopAsking(): void {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#clearAlarm();
    for (const open of this.#arrived.splice(0)) this.#fail(open, this.#calls.stoppedError());
    for (const { open, error } of this.#waiting.takeUnasked()) this.#fail(open, this.#calls.stoppedError(error));
  }

  /** Resolves when no call is on the wire. Calls end at their time limit, so this does too. */
  async idle(): Promise<void> {
    while (this.#onTheWire.size > 0) await Promise.all(this.#onTheWire);
  }

  #track(call: Promise<void>): void {
    this.#onTheWire.add(call);
    void call.finally(() => this.#onTheWire.delete(call));
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
    const nowMs = this.ambient.clock.monotonic();
    for (const open of claims) open.patienceEndsMs = nowMs + this.settings.claimPatienceMs;
    const outage = this.#circuit.error;
    if (outage === undefined) await this.#ask(claims, this.settings.coordinationTimeoutMs);
    else this.#waitForTheStore(claims, outage);
  }

  #waitForTheStore(claims: readonly OpenClaim[], error: CoordinationError): void {
    const nowMs = this.ambient.clock.monotonic();
    for (const open of claims) {
      this.#circuit.arrived(open.request.entryKey, nowMs);
      this.#waiting.add({ open, dueMs: nowMs, ownTime: false, error });
    }
    this.#probeIfDue();
    for (const open of claims) this.#wakeAt(nowMs + remainingMs(open, this.ambient.clock));
    this.#wakeAt(this.#circuit.nextProbeAtMs);
  }

  #ask(claims: readonly OpenClaim[], limitMs: number): Promise<void> {
    const hadItsTime = limitMs >= this.settings.coordinationTimeoutMs;
    return this.#calls.ask(claims, limitMs, (end) => this.#ended(end, hadItsTime));
  }

  #ended(end: CallEnd, hadItsTime: boolean): void {
    const wasOpen = this.#circuit.isOpen;
    if ('error' in end && storeMayBeDown(end.error)) {
      // A shortened call that timed out tells nothing of a store that may only be slow.
      if (hadItsTime || end.error.code !== 'COORDINATION_TIMEOUT') this.#callFailed(end.claims, end.error);
    } else this.#circuit.answered();
    this.#goOn(end, wasOpen);
  }

  /** A claim that fails while others are answered tells nothing of the store, and a claimer that is asked once has no use for a circuit. */
  #callFailed(claims: readonly OpenClaim[], error: CoordinationError): void {
    if (!this.#calls.repeatable) return;
    const nowMs = this.ambient.clock.monotonic();
    for (const open of claims) {
      if (claims.length === 1) open.failures += 1;
      if (!open.alone) this.#circuit.failed(open.request.entryKey, error, nowMs);
    }
  }

  #probeIfDue(): void {
    const nowMs = this.ambient.clock.monotonic();
    if (nowMs + EARLY_MS < this.#circuit.nextProbeAtMs) return;
    const open = this.#waiting.forProbe();
    if (open === undefined) return;
    const probe = this.#circuit.probe(open.request.entryKey, nowMs);
    open.probes += 1;
    const call = this.#calls.askOne(open, probe.limitMs).then((end) => {
      open.probes -= 1;
      if ('error' in end && storeMayBeDown(end.error)) {
        if (end.error.code === 'COORDINATION_FAILED') open.failures += 1;
        this.#circuit.probeFailed(probe, end.error, this.ambient.clock.monotonic());
        if (this.#stopped) this.#endLeftOver(open, end.error);
        else this.#arm();
        return;
      }
      const wasOpen = this.#circuit.isOpen;
      this.#circuit.probeAnswered(probe);
      // An error for a claim that ended meanwhile, or went with the others, is told to nobody.
      const waits = this.#waiting.remove(open);
      const isAnswer = 'outcomes' in end && end.outcomes[0]?.kind !== 'error';
      this.#goOn(waits || isAnswer ? end : { claims: [], outcomes: [] }, wasOpen);
    });
    this.#track(call);
  }

  /** Deals with what a call brought, and asks for all that waited for the store if it is back. */
  #goOn(end: CallEnd, wasOpen: boolean): void {
    const ready = wasOpen && !this.#circuit.isOpen && !this.#stopped ? this.#waiting.takeReady() : [];
    for (const [i, open] of end.claims.entries()) {
      if ('error' in end) this.#unanswered(open, end.error);
      else this.#take(open, end.outcomes[i] as ClaimOutcome);
    }
    this.#askAgain(ready);
    this.#arm();
  }

  #take(open: OpenClaim, outcome: ClaimOutcome): void {
    if (outcome.kind !== 'error') this.#settle(open, outcome);
    else {
      if (storeMayBeDown(outcome.error)) open.failures += 1;
      this.#unanswered(open, outcome.error);
    }
  }

  /** Lets the claim wait to be asked again where that is safe and of use, else ends it. */
  #unanswered(open: OpenClaim, error: CoordinationError): void {
    if (open.settled) return;
    const early = error.code === 'CLOCK_AHEAD';
    if (early && error.aheadMs !== undefined) this.foundEarly(error.aheadMs, open.request);
    const leftMs = remainingMs(open, this.ambient.clock);
    const waitMs = early ? (error.aheadMs ?? Number.NaN) : this.#waitMs(open, error);
    const again = this.#calls.repeatable && !this.#stopped && (early ? waitMs < leftMs : worthAskingAgain(error));
    if (!again || hasEnded(open, this.ambient.clock)) {
      this.#fail(open, error);
      return;
    }
    const dueMs = this.ambient.clock.monotonic() + Math.max(1, Math.min(waitMs, leftMs));
    this.#waiting.add({ open, dueMs, ownTime: early || open.alone, error });
  }

  #waitMs(open: OpenClaim, error: CoordinationError): number {
    if (error.code === 'STORE_BUSY') return busyWaitMs(this.ambient.random);
    return failureWaitMs(Math.max(1, open.failures), this.ambient.random);
  }

  /** Sets the alarm to the first time at which something is to be done for those that wait. */
  #arm(): void {
    this.#clearAlarm();
    if (this.#waiting.size === 0 || this.#stopped) return;
    const actMs = this.#circuit.isOpen ? this.#circuit.nextProbeAtMs : this.#waiting.nextDueMs();
    this.#wakeAt(Math.min(actMs, this.#waiting.nextEndMs()));
  }

  #wakeAt(atMs: number): void {
    if (this.#alarm !== undefined && this.#alarm.atMs <= atMs) return;
    this.#clearAlarm();
    const { clock } = this.ambient;
    const delayMs = Math.min(MAX_TIMER_DELAY_MS, Math.max(0, Math.ceil(atMs - clock.monotonic())));
    this.#alarm = { timer: clock.setTimer(() => this.#wake(), delayMs), atMs };
  }

  #clearAlarm(): void {
    if (this.#alarm !== undefined) this.ambient.clock.clearTimer(this.#alarm.timer);
    this.#alarm = undefined;
  }

  #wake(): void {
    this.#alarm = undefined;
    for (const ended of this.#waiting.takeEnded()) this.#endWaiting(ended);
    if (this.#circuit.isOpen) this.#probeIfDue();
    else this.#askAgain(this.#waiting.takeReady());
    this.#arm();
  }

  #askAgain(ready: readonly WaitingClaim[]): void {
    const claims: OpenClaim[] = [];
    let limitMs = 0;
    for (const waiting of ready) {
      if (hasEnded(waiting.open, this.ambient.clock)) this.#endWaiting(waiting);
      else {
        claims.push(waiting.open);
        limitMs = Math.max(limitMs, Math.ceil(remainingMs(waiting.open, this.ambient.clock)));
      }
    }
    // An ask again ends with the patience of the last that waits for it; a first ask and a probe always have their whole time.
    if (claims.length > 0) this.#track(this.#ask(claims, Math.min(this.settings.coordinationTimeoutMs, limitMs)));
  }

  /** Told why: the outage that goes on, or what it waited for. */
  #endWaiting({ open, error }: WaitingClaim): void {
    this.#fail(open, this.#circuit.error ?? error);
  }

  /** After a drain began: the claim waited for this probe alone. */
  #endLeftOver(open: OpenClaim, error: CoordinationError): void {
    if (open.probes === 0 && this.#waiting.remove(open)) this.#fail(open, error);
  }

  #fail(open: OpenClaim, error: CoordinationError): void {
    this.#settle(open, { kind: 'error', error });
  }

  #settle(open: OpenClaim, outcome: ClaimOutcome): void {
    open.settled = true;
    open.settle(outcome);
  }
}
