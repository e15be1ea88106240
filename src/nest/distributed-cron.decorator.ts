import { cronMetadata } from './cron-metadata.js';
import { requireMethod } from './decorator-place.js';
import type { DistributedCronEntryOptions, ScheduleInput } from './options.js';

/**
 * Runs the method once per fire over all replicas. The method gets the `FireContext` as its argument. May stand several times on one method, each
 * with a `key` of its own. Expression and options are checked when the application starts.
 *
 * @param schedule A cron expression of five or six fields, a macro, a schedule object, or a pure function.
 */
export function DistributedCron(schedule: ScheduleInput, options?: DistributedCronEntryOptions): MethodDecorator {
  return (target: object, method: string | symbol, descriptor?: PropertyDescriptor) => {
    requireMethod('DistributedCron', target, method, descriptor);
    cronMetadata.add(target, method, { schedule, options });
  };
}
