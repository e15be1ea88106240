import type { RegistryEntryOptions } from 'nestjs-distributed-cron';
import type { StorePlace } from '../open-store.js';

export interface RecoveryReplicaSettings {
  readonly name: string;
  readonly namespace: string;
  readonly place: StorePlace;
  readonly leaseTtlMs: number;
}

/** What a method does. A fire that is run again is quick, unless its replica is to be killed each time. */
export type Behaviour =
  | { readonly kind: 'takes'; readonly ms: number }
  /** Does not end. */
  | { readonly kind: 'hangs' }
  /** Stops its whole process, and when that goes on waits for its signal. */
  | { readonly kind: 'stands-still' }
  /** Waits for its signal, and ends with it. */
  | { readonly kind: 'ends-on-signal' }
  /** Kills its process, at each attempt. */
  | { readonly kind: 'kills' };

export type Order =
  /** Adds an entry: for one instant, or for every second. */
  | {
      readonly type: 'arm';
      readonly key: string;
      readonly at: number | 'every second';
      readonly behaviour: Behaviour;
      readonly options: RegistryEntryOptions;
    }
  | { readonly type: 'pause'; readonly key: string }
  | { readonly type: 'resume'; readonly key: string; readonly catchUp: boolean };

/** One act of a method. */
export interface Act {
  readonly type: 'act';
  readonly replica: string;
  readonly key: string;
  readonly instantMs: number;
  readonly phase: 'began' | 'ended' | 'aborted';
  readonly attempt: number;
  readonly token: number | null;
  /** The host's clock. */
  readonly atMs: number;
  /** Code of the signal's reason. */
  readonly abortedBy: string | null;
}

/** What a replica told of a fire that it did not run, or of several. */
export interface Word {
  readonly type: 'word';
  readonly replica: string;
  readonly word: 'rejected' | 'abandoned' | 'missed';
  readonly key: string;
  /** Of `missed`: the last one. */
  readonly instantMs: number;
  /** Of `rejected` the reason, of `missed` what found it, of `abandoned` nothing. */
  readonly reason: string;
  /** Of `abandoned` the attempts, of `missed` the instants. */
  readonly count: number;
}

/** An order was carried out; `atMs` is when. */
export interface Done {
  readonly type: 'done';
  readonly order: Order['type'];
  readonly key: string;
  readonly atMs: number;
}

export interface Started {
  readonly type: 'started';
}

export type FromReplica = Started | Act | Word | Done;
