import type { ReplicaFiles } from '../processes/fleet.js';
import type { Break } from './broken-backend.js';
import type { StoreName } from './fault-plan.js';
import type { Profile } from './profile.js';

/** Where a replica finds its store. */
export type Connection =
  | { readonly store: 'sqlite'; readonly path: string }
  | { readonly store: Exclude<StoreName, 'sqlite'>; readonly port: number };

/** What a replica's process is started with. */
export interface ReplicaSettings extends ReplicaFiles {
  readonly connection: Connection;
  readonly entries: number;
  readonly profile: Profile;
  readonly break?: Break;
}

export interface SetClock {
  readonly type: 'set-clock';
  readonly offsetMs: number;
}

export type FromReplica =
  | { readonly type: 'started' }
  | { readonly type: 'clock-set'; readonly atMs: number; readonly offsetMs: number };
