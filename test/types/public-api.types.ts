/**
 * What the compiler must refuse or know for a user. `npm run types` compiles it; nothing runs it. A line under `@ts-expect-error`
 * that compiles after all is itself an error there.
 */
import type { Claimer, CronEvent, Elector, SkippedFireEvent } from 'nestjs-distributed-cron';
import {
  DistributedCron,
  type DistributedCronEvents,
  DistributedCronModule,
  type DistributedCronRegistry,
  ofEvent,
} from 'nestjs-distributed-cron';

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

/** A pause of this replica is done when it returns; one of the fleet is a promise, which nobody forgets to await by mistake. */
export async function aPauseOfTheFleetIsAPromise(registry: DistributedCronRegistry): Promise<void> {
  registry.resume('report', { catchUp: true });
  const promises: Promise<void>[] = [
    registry.pause('report', { scope: 'fleet' }),
    registry.resume('report', { scope: 'fleet', catchUp: true }),
    registry.forget('report'),
  ];
  await Promise.all(promises);
  // @ts-expect-error there is nothing to await of this replica alone
  registry.pause('report').then();
  // @ts-expect-error nor where its scope is named
  registry.resume('report', { scope: 'replica' }).then();
  // @ts-expect-error no such scope
  registry.pause('report', { scope: 'world' });
  // @ts-expect-error a pause catches nothing up
  registry.pause('report', { scope: 'fleet', catchUp: true });
}

/** What a snapshot holds can go over the wire as it is. */
export function aSnapshotHasNoDate(registry: DistributedCronRegistry): string[] {
  return registry.snapshot().entries.flatMap(({ nextAt, next, lastOutcome }) => {
    // @ts-expect-error a text, not a date
    nextAt?.getTime();
    return [...next, lastOutcome?.scheduledAt ?? 'never'];
  });
}

export class Retried {
  @DistributedCron('0 9 * * *', { key: 'none', retry: false, lastRun: new Date(0) })
  @DistributedCron('0 9 * * *', {
    key: 'some',
    retry: { attempts: 5, min: '2s' },
    lastRun: async (key) => (key === 'some' ? new Date(0) : null),
  })
  // @ts-expect-error a number of what: of retries, or of calls?
  @DistributedCron('0 9 * * *', { key: 'number', retry: 3 })
  // @ts-expect-error no such option of a retry
  @DistributedCron('0 9 * * *', { key: 'backoff', retry: { backoff: '2s' } })
  // @ts-expect-error limits of a replica are not an entry's
  @DistributedCron('0 9 * * *', { key: 'limit', catchUpConcurrency: 2 })
  run(): void {}
}

export const limited = DistributedCronModule.forRoot({
  overlap: 'queue',
  overlapScope: 'fleet',
  recovery: 'rerun',
  recoveryAttempts: 3,
  catchUpConcurrency: 2,
  maxConcurrentFires: 50,
  entries: { report: { retry: { factor: 1 }, overlap: 'skip', recovery: 'off' } },
});
