import type { Clock } from '../ambient/clock.js';
import { readAnswer, readBatch } from './claim-answer.js';
import { claimBatches } from './claim-batches.js';
import type { ClaimOutcome } from './claim-request.js';
import type { Claim, Claimer } from './claimer.js';
import { CoordinationError, toCoordinationError } from './coordination-error.js';
import type { OpenClaim } from './open-claim.js';
import { limitTime } from './time-limit.js';

export interface ClaimCallsSettings {
  readonly store: string;
  readonly namespace: string;
  readonly instanceId: string;
}

/** How a call ended: an outcome for each of its claims, in their order, or one error for all. */
export type CallEnd =
  | { readonly claims: readonly OpenClaim[]; readonly outcomes: readonly ClaimOutcome[] }
  | { readonly claims: readonly OpenClaim[]; readonly error: CoordinationError };

/** Calls at a time when a failed batch is asked one by one. */
const ONE_BY_ONE = 16;

/** Turns claims into calls of the claimer: in batches where it takes them, each call within its time limit, each claim of a call that failed told so. */
export class ClaimCalls {
  readonly repeatable: boolean;
  readonly #inBatches: boolean;

  /** `ready` is called before each ask: `undefined` if the store is open, else the promise that it will be. */
  constructor(
    private readonly claimer: Claimer,
    private readonly settings: ClaimCallsSettings,
    private readonly clock: Clock,
    private readonly ready: () => Promise<void> | undefined,
    private readonly stopped: () => boolean,
  ) {
    this.repeatable = claimer.repeatable === true;
    this.#inBatches = typeof claimer.claimMany === 'function';
  }

  /** Asks for all of them, and tells each call's end when it comes. */
  async ask(claims: readonly OpenClaim[], limitMs: number, ended: (end: CallEnd) => void): Promise<void> {
    if (claims.length === 0) return;
    try {
      await this.#open();
    } catch (cause) {
      ended({ claims, error: toCoordinationError(cause, { store: this.settings.store, operation: 'open' }) });
      return;
    }
    await Promise.all(
      this.#inBatches
        ? claimBatches(claims).map((batch) => this.#askBatch(batch, limitMs, ended))
        : claims.map(async (open) => ended(await this.#call([open], limitMs))),
    );
  }

  /** One call for one claim; opening the store counts into its time. */
  askOne(open: OpenClaim, limitMs: number): Promise<CallEnd> {
    return this.#call([open], limitMs, () => this.#open());
  }

  stoppedError(last?: CoordinationError): CoordinationError {
    return new CoordinationError(
      'COORDINATION_STOPPED',
      { store: this.settings.store, operation: 'claim' },
      'not asked, because the scheduler drains or has stopped.',
      { cause: last },
    );
  }

  async #open(): Promise<void> {
    const opening = this.ready();
    if (opening !== undefined) await opening;
    if (this.stopped()) throw this.stoppedError();
  }

  async #askBatch(batch: readonly OpenClaim[], limitMs: number, ended: (end: CallEnd) => void): Promise<void> {
    const end = await this.#call(batch, limitMs);
    if ('error' in end && this.#oneMayBeBad(end)) await this.#askOneByOne(batch, limitMs, end.error, ended);
    else ended(end);
  }

  #oneMayBeBad({ claims, error }: CallEnd & { readonly error: CoordinationError }): boolean {
    const forAll = error.code === 'STORE_BUSY' || error.code === 'COORDINATION_TIMEOUT';
    return claims.length > 1 && !forAll && this.repeatable && !this.stopped();
  }

  /**
   * One bad claim harms only itself. Where not one of a group is answered the store may be at fault, and the rest is spared; so the first group is drawn from
   * the whole batch, and those that failed by themselves before come last.
   */
  async #askOneByOne(
    batch: readonly OpenClaim[],
    limitMs: number,
    batchError: CoordinationError,
    ended: (end: CallEnd) => void,
  ): Promise<void> {
    const step = Math.ceil(batch.length / ONE_BY_ONE);
    const claims = [...batch.entries()]
      .sort(([i, a], [j, b]) => a.failures - b.failures || (i % step) - (j % step))
      .map(([, open]) => open);
    let someAnswered = false;
    for (let from = 0; from < claims.length; from += ONE_BY_ONE) {
      if (this.stopped()) {
        ended({ claims: claims.slice(from), error: this.stoppedError(batchError) });
        return;
      }
      const group = claims.slice(from, from + ONE_BY_ONE);
      const ends = await Promise.all(group.map((open) => this.#call([open], limitMs)));
      const noneAnswered = ends.every((end) => 'error' in end);
      someAnswered ||= !noneAnswered;
      for (const [i, open] of group.entries()) if ('error' in ends[i]!) open.alone = someAnswered;
      for (const end of ends) ended(end);
      if (!noneAnswered) continue;
      if (from + ONE_BY_ONE < claims.length) ended({ claims: claims.slice(from + ONE_BY_ONE), error: batchError });
      return;
    }
  }

  async #call(claims: readonly OpenClaim[], limitMs: number, before?: () => Promise<void>): Promise<CallEnd> {
    const subject = { store: this.settings.store, operation: 'claim' };
    try {
      const answer: unknown = await limitTime(this.clock, { ...subject, limitMs }, (signal) =>
        before === undefined
          ? this.#send(claims, signal)
          : before().then(() => {
              // Nobody waits any more: another ask is on its way.
              signal.throwIfAborted();
              return this.#send(claims, signal);
            }),
      );
      const outcomes = this.#inBatches ? readBatch(answer, claims, subject.store) : [readAnswer(answer, subject.store)];
      return { claims, outcomes };
    } catch (cause) {
      return { claims, error: toCoordinationError(cause, subject) };
    }
  }

  #send(claims: readonly OpenClaim[], signal: AbortSignal): Promise<unknown> {
    const asked = claims.map((open) => this.#claim(open, signal));
    if (this.#inBatches) return this.claimer.claimMany!(asked, signal);
    const { fireKey, context } = asked[0] as Claim;
    return this.claimer.claim(fireKey, context);
  }

  #claim({ request }: OpenClaim, signal: AbortSignal): Claim {
    const { entryKey, scheduledAt, claimId, schedule, fireKey, holds } = request;
    const { namespace, instanceId } = this.settings;
    const context = { namespace, entryKey, scheduledAt, claimId, instanceId, schedule, signal };
    return { fireKey, context: holds === undefined ? context : { ...context, holds } };
  }
}
