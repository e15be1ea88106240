import { merge } from 'rxjs';
import { MemoryStore } from '../coordination/memory/memory-store.js';
import type { BuildReplica, FleetLogger } from './fleet-application.js';
import { type FleetReplica, ReplicaInProcess } from './fleet-replica.js';
import { Recorder } from './recorder.js';
import { VirtualClock } from './virtual-clock.js';

export interface FleetOptions {
  /** Where the fleet's time starts. Default 2026-01-01T00:00:00Z. */
  readonly start?: number | string | Date;
  /** As `NestFactory` takes it. Default `['error']`: a warning would come once for each replica. */
  readonly logger?: FleetLogger;
}

/** Replicas of one application in one process, on one clock that a test moves, and one store in memory. */
export interface Fleet {
  readonly clock: VirtualClock;
  readonly store: MemoryStore;
  readonly replicas: readonly FleetReplica[];
  /** What all replicas tell, in order. */
  readonly recorder: Recorder;
  /** Moves the time of all, timer by timer. */
  advance(byMs: number): Promise<void>;
  /** Closes all replicas at once, but those that were killed. */
  close(): Promise<void>;
}

/**
 * Starts `size` replicas of an application, one after the other; `build` says what each consists of. Replicas share nothing but the clock and the store, and what
 * `build` hands to several of them.
 */
export async function fleet(size: number, build: BuildReplica, options: FleetOptions = {}): Promise<Fleet> {
  if (!Number.isSafeInteger(size) || size < 1) throw new RangeError(`fleet: ${size} is no number of replicas.`);
  const clock = new VirtualClock(options.start);
  const store = new MemoryStore({ clock });
  const replicas = Array.from({ length: size }, (_, index) => new ReplicaInProcess(index, clock, store));
  const recorder = new Recorder({ events$: merge(...replicas.map(({ told }) => told)) }, { clock });
  const close = async () => void (await Promise.all(replicas.map((replica) => replica.close())));
  try {
    for (const replica of replicas) await replica.start(build, options.logger ?? ['error']);
  } catch (error) {
    await close();
    throw error;
  }
  return { clock, store, replicas, recorder, advance: (byMs) => clock.advance(byMs), close };
}
