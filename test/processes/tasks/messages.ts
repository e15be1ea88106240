import type { StorePlace } from '../open-store.js';
import type { KeptEffect } from './effect.js';

export interface TaskReplicaSettings {
  /** Also its name among the members. */
  readonly name: string;
  readonly namespace: string;
  readonly place: StorePlace;
  readonly ledger: string;
}

/** What the singleton's next run in this process does beside its work. */
export type Order =
  /** Stops its whole process in the middle. */
  | { readonly type: 'stand-still' }
  /** Returns this delay. */
  | { readonly type: 'return'; readonly nextInMs: number };

export type FromReplica =
  | { readonly type: 'members'; readonly members: readonly string[] }
  | { readonly type: 'home'; readonly home: string | null; readonly atMs: number }
  | { readonly type: 'effect'; readonly effect: KeptEffect }
  /** The last word before it stops itself. */
  | { readonly type: 'standing-still'; readonly token: number | null }
  /** What the method found when it went on. */
  | { readonly type: 'woke'; readonly abortedBy: string | null; readonly accepted: boolean };
