/** Why a fire came to be: its entry's schedule, a missed instant that is made up for, a call, or a dead winner's fire. */
export type FireOrigin = 'schedule' | 'catch-up' | 'manual' | 'recovery';

/** One occurrence of one entry. The same object is carried by every event of the fire. */
export interface Fire {
  readonly entryKey: string;
  readonly fireKey: string;
  readonly scheduledAt: Date;
  readonly origin: FireOrigin;
}
