import type { Random } from '../ambient/random.js';
import { failureWaitMs, longestFailureWaitMs } from './ask-again.js';
import type { CoordinationError } from './coordination-error.js';

/** One call that asks a store whether it is back. */
export interface Probe {
  readonly entryKey: string;
  readonly limitMs: number;
  /** It has the whole time limit of a call. */
  readonly patient: boolean;
}

/**
 * Whether a store is asked freely (closed) or by probes alone (open), as a state machine that is told what happened and when, on the monotonic clock. It
 * asks nothing and waits for nothing itself.
 *
 * - A call that failed or timed out opens it. Any answer closes it, whoever asked.
 * - A store that refuses is probed again after a wait that doubles up to a second. A store that hangs is probed at least every second, though the probe before is not
 *   answered yet: so there is never more than a second from its return to the next probe.
 * - Of the probes on the wire one has the whole time limit, and the others last until the next one goes. A store that is only slow answers that one, and two calls
 *   are on the wire at the most.
 * - A probe's answer does not forget the failures; that of an ordinary call does. A store that answers small questions and fails at large ones is asked less and less often.
 * - While only one entry has failed, the fault may be that entry's: the first claim of another is a probe at once.
 */
export class Circuit {
  #open = false;
  #error: CoordinationError | undefined;
  #failures = 0;
  #nextProbeAtMs = Number.NEGATIVE_INFINITY;
  #patientOnTheWire = false;
  /** The only entry that has failed, until another fails or is probed. */
  #loneEntry: string | undefined;

  constructor(
    private readonly coordinationTimeoutMs: number,
    private readonly random: Random,
  ) {}

  get isOpen(): boolean {
    return this.#open;
  }

  /** The latest failure, while open. */
  get error(): CoordinationError | undefined {
    return this.#open ? this.#error : undefined;
  }

  /** From here on a probe may go; infinity while closed. */
  get nextProbeAtMs(): number {
    return this.#open ? this.#nextProbeAtMs : Number.POSITIVE_INFINITY;
  }

  /** A call that had the whole time limit brought no answer. */
  failed(entryKey: string, error: CoordinationError, nowMs: number): void {
    this.#error = error;
    if (this.#open) {
      if (this.#loneEntry !== entryKey) this.#loneEntry = undefined;
      return;
    }
    this.#open = true;
    this.#loneEntry = entryKey;
    this.#failures += 1;
    // Whoever waited for a time limit to end has waited already.
    const waitMs = error.code === 'COORDINATION_TIMEOUT' ? 0 : failureWaitMs(this.#failures, this.random);
    this.#nextProbeAtMs = nowMs + waitMs;
  }

  /** A call was answered, with whatever. */
  answered(): void {
    this.#open = false;
    this.#failures = 0;
  }

  /** A claim came that nobody has asked for yet. */
  arrived(entryKey: string, nowMs: number): void {
    if (this.#loneEntry === undefined || this.#loneEntry === entryKey) return;
    this.#nextProbeAtMs = Math.min(this.#nextProbeAtMs, nowMs);
  }

  /** A probe goes now. */
  probe(entryKey: string, nowMs: number): Probe {
    const untilNextMs = longestFailureWaitMs(this.random);
    this.#nextProbeAtMs = nowMs + untilNextMs;
    if (this.#loneEntry !== entryKey) this.#loneEntry = undefined;
    const patient = !this.#patientOnTheWire;
    if (patient) this.#patientOnTheWire = true;
    return { entryKey, patient, limitMs: patient ? this.coordinationTimeoutMs : untilNextMs };
  }

  /** A probe was answered, with whatever. */
  probeAnswered(probe: Probe): void {
    this.#ended(probe);
    this.#open = false;
  }

  probeFailed(probe: Probe, error: CoordinationError, nowMs: number): void {
    this.#ended(probe);
    this.#error = error;
    // The time to the next probe runs since this one went; only a store that refused is asked earlier.
    if (error.code === 'COORDINATION_TIMEOUT') return;
    this.#failures += 1;
    this.#nextProbeAtMs = Math.min(this.#nextProbeAtMs, nowMs + failureWaitMs(this.#failures, this.random));
  }

  #ended({ patient }: Probe): void {
    if (patient) this.#patientOnTheWire = false;
  }
}
