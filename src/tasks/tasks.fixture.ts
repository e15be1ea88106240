import type { Clock } from '../ambient/clock.js';
import type { CoordinationBackend } from '../coordination/coordination-backend.js';
import { GivenMembers } from '../coordination/given-members.js';
import { GuardedBackend } from '../coordination/guarded-backend.js';
import { Homes } from '../coordination/homes.js';
import type { LeaseStore } from '../coordination/lease-store.js';
import { LiveMembers } from '../coordination/live-members.js';
import type { MemberView } from '../coordination/member-view.js';
import { MemoryBackend } from '../coordination/memory/memory-backend.js';
import { MemoryStore } from '../coordination/memory/memory-store.js';
import { StaticMembership } from '../coordination/static-membership.js';
import type { CronEvent, CronEventOf, CronEventType } from '../events/cron-event.js';
import { VirtualClock } from '../testing/virtual-clock.js';
import { DEFAULT_BACKOFF } from './backoff.js';
import type { TaskContext, TaskDefinition, TaskKind } from './task.js';
import { TaskScheduler } from './task-scheduler.js';

export const SECOND = 1_000;
export const LEASE_TTL = 30 * SECOND;
export const MEMBER_EXPIRY = 15 * SECOND;

export interface ReplicaOptions {
  readonly id?: string;
  /** Default the id. */
  readonly memberName?: string;
  readonly clock?: VirtualClock;
  /** What the scheduler sees as its clock; default `clock`. */
  readonly own?: Clock;
  readonly store?: MemoryStore;
  /** `live`: by heartbeats in the store. Default a list of this replica alone. */
  readonly members?: MemberView | 'live';
  /** Changes the backend, as a fault does; `null`: there is none. */
  readonly backend?: ((backend: MemoryBackend) => CoordinationBackend) | null;
  /** Chance, always the same. Default a half. */
  readonly fraction?: number;
  readonly drainDeadlineMs?: number;
}

/** A replica's tasks with everything real but time and chance, and what they told. */
export function replica(options: ReplicaOptions = {}) {
  const clock = options.clock ?? new VirtualClock();
  const own = options.own ?? clock;
  const id = options.id ?? 'a';
  const store = options.store ?? new MemoryStore({ clock });
  const random = { fraction: () => options.fraction ?? 0.5, uuid: () => id };
  const settings = {
    namespace: 'shop',
    instanceId: id,
    coordinationTimeoutMs: 5 * SECOND,
    claimPatienceMs: 30 * SECOND,
    maxClockSkewMs: 10 * SECOND,
    retentionMs: 3_600 * SECOND,
  };
  const memory = new MemoryBackend({ store });
  const backend =
    options.backend === null
      ? undefined
      : new GuardedBackend(options.backend?.(memory) ?? memory, settings, { clock: own, random });
  const events: CronEvent[] = [];
  const source =
    options.members === 'live'
      ? new LiveMembers(
          backend!.membership!,
          { namespace: 'shop', member: { instanceId: id, memberName: id }, memberExpiryMs: MEMBER_EXPIRY },
          { clock: own, random },
          { unreachable: () => undefined },
        )
      : new GivenMembers(options.members ?? new StaticMembership([id]), 'given');
  const homes = new Homes(source, options.memberName ?? id, { changed: () => undefined, unlisted: () => undefined });
  const tasks = new TaskScheduler({
    clock: own,
    random,
    emit: (event) => void events.push(event),
    instanceId: id,
    namespace: 'shop',
    leaseTtlMs: LEASE_TTL,
    drainDeadlineMs: options.drainDeadlineMs ?? 10 * SECOND,
    homes,
    backend,
  });
  return {
    id,
    clock,
    store,
    tasks,
    homes,
    events,
    ofType: <T extends CronEventType>(type: T) =>
      events.filter((event): event is CronEventOf<T> => event.type === type),
    /** What was told of tasks, in order, without the prefix. */
    story: () => events.filter(({ type }) => type !== 'task.home-changed').map(({ type }) => type.replace('task.', '')),
    /** As an application does when it closes. */
    close: () => Promise.all([tasks.drain(), homes.leave()]),
  };
}

export type Replica = ReturnType<typeof replica>;

/** Replicas on one clock and one store in memory, named a, b, c, … */
export function fleet(size: number, options: (index: number) => Omit<ReplicaOptions, 'clock' | 'store'> = () => ({})) {
  const clock = new VirtualClock();
  const store = new MemoryStore({ clock });
  const replicas = Array.from({ length: size }, (_, index) =>
    replica({ id: String.fromCharCode(97 + index), ...options(index), clock, store }),
  );
  return { clock, store, replicas };
}

export function task(
  kind: TaskKind,
  run: (context: TaskContext) => unknown,
  change: Partial<TaskDefinition> = {},
): TaskDefinition {
  return { key: 'task', kind, run, retry: DEFAULT_BACKOFF, initialDelayMs: 0, ...change };
}

/** A method that notes when it was called, in milliseconds since the clock's start, and by whom. */
export function noted(clock: VirtualClock, nextInMs: unknown = SECOND) {
  const startedAtMs = clock.now();
  const runs: { readonly atMs: number; readonly by: string; readonly context: TaskContext }[] = [];
  return {
    runs,
    times: () => runs.map(({ atMs }) => atMs),
    by: (name: string) => (context: TaskContext) => {
      runs.push({ atMs: clock.now() - startedAtMs, by: name, context });
      return nextInMs;
    },
  };
}

/** A method that runs until it is told to end; keeps its calls. */
export function held() {
  const calls: {
    readonly context: TaskContext;
    readonly end: (value?: unknown) => void;
    readonly fail: (error: unknown) => void;
  }[] = [];
  const run = (context: TaskContext) => new Promise((end, fail) => void calls.push({ context, end, fail }));
  return { calls, run };
}

/** The backend with something done before each call to its leases: to count it, to hold it up, or to let it fail. */
export function watchedLeases(before: (operation: keyof LeaseStore) => void | Promise<void>) {
  return ({ store, claimer, leases, membership }: MemoryBackend): CoordinationBackend => ({
    store,
    claimer,
    membership,
    leases: {
      acquire: async (request) => {
        await before('acquire');
        return leases.acquire(request);
      },
      renew: async (lease, change) => {
        await before('renew');
        return leases.renew(lease, change);
      },
      release: async (lease, change) => {
        await before('release');
        return leases.release(lease, change);
      },
      read: async (namespace, names) => {
        await before('read');
        return leases.read(namespace, names);
      },
    },
  });
}
