import type { SkipReason } from '../domain/skip-reason.js';
import type { FireSkippedEvent } from './fire-event.js';

interface SkippedFireBase {
  readonly entry: string;
  readonly fireKey: string;
  readonly scheduledAt: Date;
}

/** A fire that coordination suppressed on this replica, flat. `error` exists for the two error reasons alone. */
export type SkippedFireEvent =
  | (SkippedFireBase & { readonly reason: typeof SkipReason.NotLeader })
  | (SkippedFireBase & { readonly reason: typeof SkipReason.AlreadyClaimed; readonly superseded: boolean })
  | (SkippedFireBase & {
      readonly reason: typeof SkipReason.ElectionError | typeof SkipReason.ClaimError;
      readonly error: unknown;
    });

export function skippedFireEvent(event: FireSkippedEvent): SkippedFireEvent {
  const { fire } = event;
  const base = { entry: fire.entryKey, fireKey: fire.fireKey, scheduledAt: fire.scheduledAt };
  switch (event.reason) {
    case 'not-leader':
      return { ...base, reason: event.reason };
    case 'already-claimed':
      return { ...base, reason: event.reason, superseded: event.superseded };
    case 'election-error':
    case 'claim-error':
      return { ...base, reason: event.reason, error: event.error };
    default:
      return event satisfies never;
  }
}
