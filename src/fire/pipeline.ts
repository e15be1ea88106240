import { DrainDeadlineError } from '../domain/errors.js';
import type { FireOrigin } from '../domain/fire.js';
import type { CronEvent } from '../events/cron-event.js';
import type { HoldsEnd } from './fire-holds.js';
import type { FireServices } from './fire-services.js';
import type { Outcome, Pass } from './pass.js';
import { askClaimer } from './stages/ask-claimer.js';
import { askElector } from './stages/ask-elector.js';
import { awaitHistory } from './stages/await-history.js';
import { awaitCatchUpTurn, refusePaused } from './stages/catch-up-turn.js';
import { refuseLocally } from './stages/refuse-locally.js';
import { refuseStale } from './stages/refuse-stale.js';
import { runMethod } from './stages/run-method.js';
import { takeOverlap } from './stages/take-overlap.js';
import { waitTurn } from './stages/wait-turn.js';

/** A stage ends the pass with an outcome, or lets it go on with `undefined`. A promise only where it has to wait: a pass that waits for nothing costs no turn. */
type Stage = (pass: Pass, services: FireServices) => Outcome | undefined | Promise<Outcome | undefined>;

/** The way of a scheduled fire, in order (DESIGN 4). */
const SCHEDULED: readonly Stage[] = [
  refuseLocally,
  waitTurn,
  awaitHistory,
  askElector,
  // Leadership may have been gained by that very question, and with it a gap to catch up.
  awaitHistory,
  askClaimer,
  takeOverlap,
  runMethod,
];

/** A missed fire that is made up for: claimed at once, together with the others of its plan and in their order, and run when there is a place for it. */
const CAUGHT_UP: readonly Stage[] = [refusePaused, askElector, askClaimer, awaitCatchUpTurn, takeOverlap, runMethod];

/** A manual fire runs here and now: the entry's own rules apply, jitter and coordination do not. */
const MANUAL: readonly Stage[] = [refuseLocally, takeOverlap, runMethod];

/** A dead winner's fire is this replica's already when it is sent: as for one that is made up for, there is nobody else to leave it to. */
const RECOVERED: readonly Stage[] = [refuseStale, awaitCatchUpTurn, takeOverlap, runMethod];

function wayOf(origin: FireOrigin): readonly Stage[] {
  switch (origin) {
    case 'schedule':
      return SCHEDULED;
    case 'catch-up':
      return CAUGHT_UP;
    case 'manual':
      return MANUAL;
    case 'recovery':
      return RECOVERED;
    default:
      return origin satisfies never;
  }
}

/** Sends passes through the stages, and knows those under way. */
export class Pipeline {
  private readonly underWay = new Set<Pass>();
  private idleWaiters: (() => void)[] = [];

  constructor(private readonly services: FireServices) {}

  /** Never throws. A pass that has to wait goes on by itself. */
  send(pass: Pass): void {
    this.proceed(pass, wayOf(pass.fire.origin), 0);
  }

  /** Passes whose fire has not ended, or whose method has not returned; none that were abandoned. */
  get passes(): ReadonlySet<Pass> {
    return this.underWay;
  }

  /** Resolves when no pass is under way. */
  idle(): Promise<void> {
    if (this.underWay.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.idleWaiters.push(resolve));
  }

  /** Waits for the pass no more: its fire ends now if it has not, and its method may return when it likes. */
  abandon(pass: Pass, error: Error): void {
    pass.abandoned = true;
    // Told failed at its timeout: that stays so, also where the method still runs.
    if (pass.ended) void Promise.resolve(pass.holds?.endBehindMethod()).then(() => this.forget(pass));
    else pass.running?.giveUp(error);
  }

  private proceed(pass: Pass, stages: readonly Stage[], from: number): void {
    for (let index = from; index < stages.length; index++) {
      let result: ReturnType<Stage>;
      try {
        result = stages[index]!(pass, this.services);
      } catch (error) {
        // No stage throws by itself; an entry with a broken part must still not take others with it.
        this.end(pass, { kind: 'failed', error, durationMs: 0 });
        return;
      }
      if (result instanceof Promise) {
        this.underWay.add(pass);
        result.then(
          (outcome) => (outcome === undefined ? this.proceed(pass, stages, index + 1) : this.end(pass, outcome)),
          (error: unknown) => this.end(pass, { kind: 'failed', error, durationMs: 0 }),
        );
        return;
      }
      if (result !== undefined) {
        this.end(pass, result);
        return;
      }
    }
  }

  private end(pass: Pass, outcome: Outcome): void {
    pass.ended = true;
    if (pass.overdue) {
      pass.onReturnedLate = (durationMs) => {
        this.services.slots.free(pass);
        this.leave(pass, outcome);
        const { instanceId, clock } = this.services;
        this.services.emit({ type: 'fire.returned-late', atMs: clock.now(), instanceId, fire: pass.fire, durationMs });
      };
    } else {
      this.services.slots.free(pass);
    }
    const atMs = this.services.clock.now();
    this.services.tally.ended(pass, outcome, atMs);
    if (outcome.kind !== 'completed' || this.services.watched())
      this.services.emit(this.terminalEvent(pass, outcome, atMs));
    pass.onEnd?.(outcome);
    // A method that has not returned may still use what the application closes after the drain.
    if (!pass.overdue || pass.abandoned) this.leave(pass, outcome);
  }

  /** Under way until its leases are given back: a drain closes the store when nothing is. A method that still runs keeps them until they lapse. */
  private leave(pass: Pass, outcome: Outcome): void {
    const { holds } = pass;
    if (holds === undefined || pass.overdue) {
      holds?.abandon();
      this.forget(pass);
      return;
    }
    this.underWay.add(pass);
    void holds.end(endOf(pass, outcome)).then(() => this.forget(pass));
  }

  private forget(pass: Pass): void {
    if (!this.underWay.delete(pass) || this.underWay.size > 0) return;
    const waiters = this.idleWaiters;
    this.idleWaiters = [];
    for (const resolve of waiters) resolve();
  }

  private terminalEvent(pass: Pass, outcome: Outcome, atMs: number): CronEvent {
    const { instanceId } = this.services;
    const { fire } = pass;
    switch (outcome.kind) {
      case 'completed':
        return { type: 'fire.completed', atMs, instanceId, fire, durationMs: outcome.durationMs };
      case 'failed':
        return { type: 'fire.failed', atMs, instanceId, fire, durationMs: outcome.durationMs, error: outcome.error };
      case 'rejected':
        return { type: 'fire.rejected', atMs, instanceId, fire, reason: outcome.reason };
      case 'canceled':
        return { type: 'fire.canceled', atMs, instanceId, fire, reason: outcome.reason };
      case 'skipped': {
        const skipped = { type: 'fire.skipped', atMs, instanceId, fire } as const;
        if (outcome.reason === 'already-claimed')
          return { ...skipped, reason: outcome.reason, superseded: outcome.superseded };
        if (outcome.reason === 'not-leader') return { ...skipped, reason: outcome.reason };
        return { ...skipped, reason: outcome.reason, error: outcome.error };
      }
      default:
        return outcome satisfies never;
    }
  }
}

/** A fire that did not come to its end here may be run by another replica, if it is recoverable. */
function endOf({ fire, interrupted }: Pass, outcome: Outcome): HoldsEnd {
  switch (outcome.kind) {
    case 'completed':
      return 'done';
    case 'failed':
      return interrupted || outcome.error instanceof DrainDeadlineError ? 'given-up' : 'done';
    case 'rejected':
      return fire.origin === 'recovery' && outcome.reason !== 'guard' ? 'given-up' : 'done';
    default:
      return 'given-up';
  }
}
