import type { Random } from '../ambient/random.js';
import type { Claimer } from '../coordination/claimer.js';
import type { CoordinationBackend } from '../coordination/coordination-backend.js';
import type { Elector } from '../coordination/elector.js';
import { GuardedBackend } from '../coordination/guarded-backend.js';
import { DEFAULT_ENTRY_POLICIES, type EntryPolicies } from '../domain/entry.js';
import type { Fire, FireOrigin } from '../domain/fire.js';
import { fireKey } from '../domain/fire-key.js';
import type { CronEvent, CronEventOf, CronEventType } from '../events/cron-event.js';
import { VirtualClock } from '../testing/virtual-clock.js';
import type { FireContext } from './fire-context.js';
import { FireTally } from './fire-tally.js';
import { CatchUpTurns } from './catch-up-turns.js';
import { type FireEntry, type Outcome, Pass } from './pass.js';
import { Pipeline } from './pipeline.js';
import { Slots } from './slots.js';

/** An entry as the pipeline sees it, changed by hand. */
export function entryOf(run: (context: FireContext) => unknown, policies: Partial<EntryPolicies> = {}, key = 'job') {
  return {
    key,
    policies: { ...DEFAULT_ENTRY_POLICIES, ...policies },
    run,
    scheduleFingerprint: 'every-minute',
    generation: 0,
    removed: false,
    paused: false,
    pausedOverFleet: false,
    nextAtMs: null as number | null,
    slots: 0,
  } satisfies FireEntry as FireEntry & { paused: boolean; nextAtMs: number | null };
}

export interface PipelineOptions {
  readonly elector?: Elector;
  readonly claimer?: Claimer;
  readonly backend?: Partial<CoordinationBackend> & { readonly claimer: Claimer };
  readonly random?: Partial<Random>;
  /** The fire keys this replica is home to. */
  readonly homeTo?: (fireKey: string) => boolean;
  readonly coordinationTimeoutMs?: number;
  readonly claimPatienceMs?: number;
  readonly maxConcurrentFires?: number;
  /** Default: true. */
  readonly watched?: boolean;
  readonly catchUpConcurrency?: number;
}

/** A pipeline with real coordination guards; time, chance and drain in the test's hands. */
export function pipelineOf(options: PipelineOptions = {}) {
  const clock = new VirtualClock();
  let ids = 0;
  const random: Random = { fraction: () => 0.5, uuid: () => `claim-${++ids}`, ...options.random };
  const settings = {
    namespace: 'shop',
    instanceId: 'replica-1',
    coordinationTimeoutMs: options.coordinationTimeoutMs ?? 5_000,
    claimPatienceMs: options.claimPatienceMs ?? 30_000,
    maxClockSkewMs: 10_000,
    retentionMs: 3_600_000,
    leaseTtlMs: 30_000,
  };
  const backend = options.backend ?? (options.claimer && { claimer: options.claimer });
  const claims = backend && new GuardedBackend({ store: 'custom', ...backend }, settings, { clock, random });
  const events: CronEvent[] = [];
  const drain = { draining: false, outOfTime: false };
  let alarms = 0;
  const tally = new FireTally();
  const slots = new Slots(options.maxConcurrentFires);
  const catchUpTurns = new CatchUpTurns(slots, options.catchUpConcurrency ?? 8);
  const pipeline = new Pipeline({
    ...settings,
    clock,
    random,
    slots,
    catchUpTurns,
    tally,
    elector: options.elector,
    homes: options.homeTo && { isHere: options.homeTo },
    emit: (event) => void events.push(event),
    watched: () => options.watched ?? true,
    draining: () => drain.draining,
    outOfTime: () => drain.outOfTime,
    drainDeadlineMs: 10_000,
    alarms: {
      set: (delayMs, callback) => {
        alarms += 1;
        return clock.setTimer(callback, delayMs);
      },
      cancel: (alarm) => clock.clearTimer(alarm),
    },
  });
  const send = (
    entry: FireEntry,
    origin: FireOrigin = 'schedule',
    onEnd?: (outcome: Outcome) => void,
    given?: Fire,
  ): Pass => {
    const atMs = clock.now();
    const fire: Fire = given ?? {
      entryKey: entry.key,
      fireKey: fireKey(entry.key, atMs),
      scheduledAt: new Date(atMs),
      origin,
    };
    const pass = new Pass(fire, Object.assign(entry, { claims }), entry.generation, onEnd);
    pipeline.send(pass);
    return pass;
  };
  return {
    clock,
    claims,
    pipeline,
    slots,
    tally,
    events,
    drain,
    send,
    /** Waits that were set on the scheduler's timer. */
    alarmsSet: () => alarms,
    ofType: <T extends CronEventType>(type: T) =>
      events.filter((event): event is CronEventOf<T> => event.type === type),
    /** Types without their prefix, and the reason where there is one. */
    story: () =>
      events.map((event) => {
        const type = event.type.replace('fire.', '');
        return 'reason' in event ? `${type} ${event.reason}` : type;
      }),
  };
}

export const yes: Claimer = { claim: async () => true };

/** A promise that is settled by hand. */
export function held<T>() {
  let answer!: (value: T) => void;
  let fail!: (reason: unknown) => void;
  const promise = new Promise<T>((resolve, reject) => {
    answer = resolve;
    fail = reject;
  });
  return { promise, answer, fail };
}
