/** How a fire stands on one replica. All but `running` are final. */
export type FireReport =
  | { readonly kind: 'running'; readonly latenessMs: number }
  | { readonly kind: 'ran'; readonly durationMs: number }
  | { readonly kind: 'failed'; readonly error: string }
  | { readonly kind: 'not-run'; readonly reason: string; readonly error?: string };

/** What happened to a task on one replica. */
export interface TaskReport {
  readonly type: 'task';
  readonly key: string;
  readonly kind: 'singleton' | 'parallel';
  /** `home`: this replica is the singleton's home from now on. */
  readonly what: 'started' | 'failed' | 'home' | 'not-home';
}

/** What a replica tells the launcher. */
export type FromReplica =
  | { readonly type: 'started'; readonly url: string }
  | {
      readonly type: 'fire';
      readonly fireKey: string;
      readonly entryKey: string;
      readonly instantMs: number;
      readonly report: FireReport;
    }
  | { readonly type: 'missed'; readonly entryKey: string; readonly firstMs: number; readonly lastMs: number }
  | TaskReport
  /** Sent from within the transaction; the replica stands still there until it is killed. */
  | { readonly type: 'inside-transaction'; readonly fireKey: string };

/** What the launcher tells a replica. To end, it sends SIGTERM, as any orchestrator does. */
export interface StopInside {
  readonly type: 'stop-inside';
  /** Whichever replica runs this invoice run stops in the middle of its transaction. */
  readonly fireKey: string;
}
