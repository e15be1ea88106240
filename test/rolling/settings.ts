import type { ReplicaFiles } from '../processes/fleet.js';
import type { StorePlace } from '../processes/open-store.js';
import type { Break } from './broken-replica.js';
import type { Version } from './entries.js';

/** What a replica's process is started with. */
export interface ReplicaSettings extends ReplicaFiles {
  readonly place: StorePlace;
  readonly namespace: string;
  readonly version: Version;
  /** So late it hears its store's answers: claims are then on the way when it is told to drain. */
  readonly answersLateByMs: number;
  readonly drainDeadlineMs: number;
  readonly break?: Break;
}

/** It takes part. */
export interface FromReplica {
  readonly type: 'started';
}
