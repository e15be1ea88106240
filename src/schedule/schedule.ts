/**
 * A pure set of instants. Instants are milliseconds since the epoch; the same question has the same answer on every replica, whenever and in
 * whatever order it is asked (DESIGN 3, promise 1).
 */
export interface Schedule {
  /** The smallest instant of the set strictly after `afterMs`, or `null` when there is none. */
  next(afterMs: number): number | null;
  /** The largest instant of the set strictly before `beforeMs`, or `null`. Without it the engine walks forward within a bound. */
  previous?(beforeMs: number): number | null;
  /** No two instants lie closer than this; it spares the engine a question. Default 1. */
  readonly minIntervalMs?: number;
  /** Normalised identity: equal fingerprints mean equal instants (under equal zone data). Kept beside the watermark. */
  readonly fingerprint: string;
  /** What the start log and the registry show: the expression as written, or a description. */
  readonly label: string;
  /** The zone the set is computed in, where it depends on one. */
  readonly timeZone?: string;
}
