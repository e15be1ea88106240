import type { Clock } from '../ambient/clock.js';
import type { Random } from '../ambient/random.js';
import type { Claimer } from '../coordination/claimer.js';
import type { CoordinationBackend } from '../coordination/coordination-backend.js';
import type { Elector } from '../coordination/elector.js';
import { GuardedBackend } from '../coordination/guarded-backend.js';
import { LeaseElector } from '../coordination/lease-elector.js';
import { MemoryBackend } from '../coordination/memory/memory-backend.js';
import { MemoryStore } from '../coordination/memory/memory-store.js';
import { DEFAULT_ENTRY_POLICIES, type EntryPolicies } from '../domain/entry.js';
import type { CronEvent, CronEventOf, CronEventType } from '../events/cron-event.js';
import { EventStream } from '../events/event-stream.js';
import type { Schedule } from '../schedule/schedule.js';
import { VirtualClock } from '../testing/virtual-clock.js';
import { Coordination } from './coordination.js';
import type { EntryDefinition } from './entry.js';
import { Scheduler } from './scheduler.js';

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** Every multiple of `stepMs` since the epoch. */
export function every(stepMs: number): Schedule {
  return {
    next: (afterMs) => Math.floor(afterMs / stepMs) * stepMs + stepMs,
    previous: (beforeMs) => Math.ceil(beforeMs / stepMs) * stepMs - stepMs,
    fingerprint: `every ${stepMs}`,
    label: `every ${stepMs} ms`,
  };
}

/** These instants and no others. */
export function at(...instants: readonly (string | number)[]): Schedule {
  const sorted = instants.map((instant) => new Date(instant).getTime()).sort((a, b) => a - b);
  return {
    next: (afterMs) => sorted.find((ms) => ms > afterMs) ?? null,
    previous: (beforeMs) => sorted.findLast((ms) => ms < beforeMs) ?? null,
    fingerprint: `at ${sorted.join()}`,
    label: 'at',
  };
}

/** Over all replicas: two claims with one id would be one claim. */
let ids = 0;

/** Chance that is not. Fractions are taken in turn, the last one for good; ids are counted. */
export function chance(...fractions: readonly number[]): Random {
  let drawn = 0;
  return {
    fraction: () => fractions[Math.min(drawn++, fractions.length - 1)] ?? 0.5,
    uuid: () => `id-${++ids}`,
  };
}

/** One replica's clock on the fleet's time: the wall clock is off, timers are the fleet's. */
export function offsetClock(clock: VirtualClock, offsetMs: number): Clock {
  return {
    now: () => clock.now() + offsetMs,
    monotonic: () => clock.monotonic(),
    setTimer: (callback, delayMs) => clock.setTimer(callback, delayMs),
    clearTimer: (timer) => clock.clearTimer(timer),
  };
}

export interface ReplicaOptions {
  readonly clock?: VirtualClock;
  /** How far this replica's wall clock is ahead. */
  readonly offsetMs?: number;
  readonly id?: string;
  readonly random?: Random;
  readonly elector?: Elector;
  readonly backend?: CoordinationBackend;
  readonly claimer?: Claimer;
  readonly coordinationTimeoutMs?: number;
  readonly claimPatienceMs?: number;
  readonly drainDeadlineMs?: number;
  readonly maxConcurrentFires?: number;
  readonly catchUpConcurrency?: number;
  /** The backend's leader lease decides whose fires go on to their claim. */
  readonly leadership?: boolean;
}

/** A scheduler with everything real but time and chance, and what it told. */
export function replica(options: ReplicaOptions = {}) {
  const clock = options.clock ?? new VirtualClock();
  const own = options.offsetMs === undefined ? clock : offsetClock(clock, options.offsetMs);
  const random = options.random ?? chance();
  const id = options.id ?? 'replica-1';
  const settings = {
    namespace: 'shop',
    instanceId: id,
    coordinationTimeoutMs: options.coordinationTimeoutMs ?? 5 * SECOND,
    claimPatienceMs: options.claimPatienceMs ?? 30 * SECOND,
    maxClockSkewMs: 10 * SECOND,
    retentionMs: HOUR,
    leaseTtlMs: 30 * SECOND,
  };
  const backend = options.backend ?? (options.claimer && { store: 'custom', claimer: options.claimer });
  const claims = backend && new GuardedBackend(backend, settings, { clock: own, random });
  const subscriberErrors: unknown[] = [];
  const stream = new EventStream((error) => subscriberErrors.push(error));
  const events: CronEvent[] = [];
  stream.events$.subscribe((event) => void events.push(event));
  const leadership =
    options.leadership === true && claims?.leases !== undefined
      ? new LeaseElector(claims.leases, settings, { clock: own, random }, { gained: () => {}, lost: () => {} })
      : undefined;
  const scheduler = new Scheduler({
    clock: own,
    random,
    instance: { id, hostname: 'host', pid: 1 },
    emit: (event) => stream.emit(event),
    watched: () => stream.observed,
    drainDeadlineMs: options.drainDeadlineMs ?? 10 * SECOND,
    maxConcurrentFires: options.maxConcurrentFires ?? null,
    ...(options.catchUpConcurrency === undefined ? {} : { catchUpConcurrency: options.catchUpConcurrency }),
    elector: options.elector ?? leadership,
    coordination: new Coordination({
      backend: claims,
      leadership,
      guard: (claimer) => new GuardedBackend({ store: 'custom', claimer }, settings, { clock: own, random }),
    }),
    ...settings,
  });
  return {
    clock,
    scheduler,
    stream,
    events,
    subscriberErrors,
    claims,
    ofType: <T extends CronEventType>(type: T) =>
      events.filter((event): event is CronEventOf<T> => event.type === type),
    /** What was told of fires, in order: the type without its prefix, and the reason where there is one. */
    story: (entryKey?: string) => events.filter((event) => isOfFire(event, entryKey)).map(chapter),
  };
}

function isOfFire(event: CronEvent, entryKey: string | undefined): boolean {
  if (!event.type.startsWith('fire.')) return false;
  if (entryKey === undefined) return true;
  return 'fire' in event ? event.fire.entryKey === entryKey : 'entryKey' in event && event.entryKey === entryKey;
}

function chapter(event: CronEvent): string {
  const type = event.type.replace('fire.', '');
  return 'reason' in event ? `${type} ${event.reason}` : type;
}

/** A definition with the defaults; `run` does nothing. */
export function definition(
  key: string,
  schedule: Schedule,
  change: { readonly run?: EntryDefinition['run'] } & Partial<EntryPolicies> = {},
): EntryDefinition {
  const { run = () => undefined, ...policies } = change;
  return { key, schedule, run, policies: { ...DEFAULT_ENTRY_POLICIES, ...policies } };
}

/** A replica in a fleet on one clock and one store in memory. */
export function fleet(
  size: number,
  options: (index: number) => Omit<ReplicaOptions, 'clock' | 'backend'> = () => ({}),
) {
  const clock = new VirtualClock();
  const store = new MemoryStore({ clock });
  const replicas = Array.from({ length: size }, (_, index) =>
    replica({ id: `replica-${index}`, ...options(index), clock, backend: new MemoryBackend({ store }) }),
  );
  return { clock, store, replicas };
}

/** A method that runs until it is told to end; counts its calls. */
export function heldMethod() {
  const calls: { readonly end: (value?: unknown) => void; readonly fail: (error: unknown) => void }[] = [];
  return {
    calls,
    run: () => new Promise((end, fail) => calls.push({ end, fail })),
  };
}

/** Follows a promise without waiting for it. */
export function follow<T>(promise: Promise<T>) {
  const followed: { value?: T; reason?: unknown; settled: boolean } = { settled: false };
  promise.then(
    (value) => Object.assign(followed, { value, settled: true }),
    (reason) => Object.assign(followed, { reason, settled: true }),
  );
  return followed;
}
