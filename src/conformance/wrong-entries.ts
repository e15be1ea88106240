/** A claim as the plain backend keeps it. */
export interface Row {
  claimId: string;
  instanceId: string;
  madeMs: number;
  attempt: number;
  /** `undefined`: done, or never to be taken over. */
  expiresMs: number | undefined;
  /** It was to be taken over at some time. */
  recoverable: boolean;
  toldOverlap: boolean;
}

/** An entry as the plain backend keeps it, found under a text made of its namespace and key. */
export interface Entry {
  readonly namespace: string;
  readonly entryKey: string;
  readonly rows: Map<number, Row>;
  floorMs: number;
  watermarkMs: number;
  schedule: string;
  pausedMs: number | undefined;
}

export type Entries = Map<string, Entry>;

export const emptyEntry = (namespace: string, entryKey: string): Entry => ({
  namespace,
  entryKey,
  rows: new Map(),
  floorMs: -Infinity,
  watermarkMs: -Infinity,
  schedule: '',
  pausedMs: undefined,
});
