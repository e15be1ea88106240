import type { ClaimRow } from '../../processes/verdict.js';
import type { Connection } from '../settings.js';
import type { TcpProxy } from '../tcp-proxy.js';

/** The store of a fleet, as whoever harms it and reads its claims sees it. */
export interface ChaosStore {
  /** Where a replica finds it: by a path of its own, where there is one. */
  connectionOf(replica: number): Connection;
  pathOf(replica: number): TcpProxy;
  /** What the store has of claims made since, by its own clock. By a connection of our own, that no fault of a path touches. */
  claimsSince(madeMs: number): Promise<ClaimRow[]>;
  /** Nothing that is asked is answered until `resume`. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** As by a power cut. */
  kill(): Promise<void>;
  /** With all that it had acknowledged. */
  start(): Promise<void>;
  stop(): Promise<void>;
}
