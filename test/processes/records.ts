/** One run, the first act of its method. The ledger knows nothing of claims: it only counts. */
export interface RunRecord {
  readonly fireKey: string;
  readonly replica: string;
  /** The host's clock, whatever the replica thinks it is. */
  readonly atMs: number;
}

/** What a replica said of fires that it did not run, and from when on it was up. Times are the host's, instants are those of fires. */
export type ReplicaRecord =
  | {
      readonly kind: 'started';
      readonly instanceId: string;
      readonly atMs: number;
      /** Entry → its first instant that this replica will reach. */
      readonly dueFrom: Readonly<Record<string, number>>;
    }
  | {
      readonly kind: 'skipped' | 'rejected' | 'canceled';
      readonly fireKey: string;
      readonly reason: string;
      /** Of `already-claimed`: nobody has the fire, the store has forgotten instants that old. */
      readonly superseded: boolean;
      readonly atMs: number;
      readonly error?: string;
    }
  | {
      readonly kind: 'missed';
      readonly entryKey: string;
      readonly firstMs: number;
      readonly lastMs: number;
      readonly atMs: number;
    }
  | { readonly kind: 'failed'; readonly what: string; readonly atMs: number; readonly error: string };
