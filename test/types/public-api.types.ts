/**
 * What the compiler must refuse or know for a user. `npm run types` compiles it; nothing runs it. A line under `@ts-expect-error`
 * that compiles after all is itself an error there.
 */
import type { Claimer, CronEvent, Elector, SkippedFireEvent } from 'nestjs-distributed-cron';
import { DistributedCron, type DistributedCronEvents, ofEvent } from 'nestjs-distributed-cron';

export function aSkippedFireHasAnErrorForTheErrorReasonsAlone(event: SkippedFireEvent): unknown {
  // @ts-expect-error not before the reason is known
  event.error;
  if (event.reason === 'claim-error' || event.reason === 'election-error') return event.error;
  // @ts-expect-error a lost fire has no error
  return event.error;
}

export function anEventIsNarrowedByItsType(event: CronEvent): number | string {
  // @ts-expect-error not every event has a fire
  event.fire;
  if (event.type === 'fire.completed') return event.durationMs;
  if (event.type === 'fire.missed') return event.count;
  return event.type;
}

export function aStreamIsNarrowedByOfEvent(events: DistributedCronEvents): void {
  events.events$.pipe(ofEvent('fire.failed')).subscribe(({ error, fire }) => [error, fire.fireKey]);
  // @ts-expect-error no such event
  events.events$.pipe(ofEvent('fire.lost'));
}

/** Five lines of a user's own. */
export const claimer: Claimer = { claim: async (fireKey) => fireKey.length > 0 };
export const elector: Elector = { isLeader: () => true };

// @ts-expect-error a claim is a promise: a store cannot be asked at once
export const hastyClaimer: Claimer = { claim: () => true };

export class Jobs {
  @DistributedCron('0 9 * * MON-FRI', { key: 'report', timeZone: 'Europe/Berlin', jitter: '5s' })
  // @ts-expect-error no such option
  @DistributedCron('0 9 * * MON-FRI', { key: 'other', zone: 'Europe/Berlin' })
  // @ts-expect-error no such policy
  @DistributedCron('0 9 * * MON-FRI', { key: 'third', dst: 'quartz' })
  report(): void {}
}
