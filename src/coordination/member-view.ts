/** The members of the fleet as one replica sees them. Two replicas can see different ones for a while, so nothing that must happen once may rest on it alone. */
export interface MemberView {
  /** Names, sorted, each once; `undefined` before the first list is known. */
  readonly current: readonly string[] | undefined;
  /** Calls back with every list that differs from the one before. Answers how to end that. */
  onChange(listener: (members: readonly string[]) => void): () => void;
}

/** Where a replica's view comes from: `alone` if it has no way to learn of others. */
export type MemberSourceKind = 'live' | 'fetched' | 'given' | 'alone';

/** A view that something may have to be done for: heartbeats, or calls of the application. */
export interface MemberSource extends MemberView {
  readonly kind: MemberSourceKind;
  /** Called once, when something needs the view first. */
  start(): void;
  /** This replica is no member any more, as far as that is up to it. The view changes no more. Never rejects. */
  leave(): Promise<void>;
}
