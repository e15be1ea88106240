import { MethodMetadata } from './method-metadata.js';
import type { DistributedCronEntryOptions } from './options.js';

/** One `@DistributedCron(...)` as written; read and checked at bootstrap, so that all faults come in one report. */
export interface CronMetadata {
  /** Unknown on purpose: an unset environment variable makes it `undefined`. */
  readonly schedule: unknown;
  readonly options: DistributedCronEntryOptions | undefined;
}

export const cronMetadata = new MethodMetadata<CronMetadata>('nestjs-distributed-cron:schedules');
