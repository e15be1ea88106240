export interface EventBase {
  /** Wall clock of the replica, milliseconds since the epoch. */
  readonly atMs: number;
  readonly instanceId: string;
}
