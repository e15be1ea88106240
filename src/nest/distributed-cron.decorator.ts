import { ConfigurationError } from '../domain/errors.js';
import { addCronMetadata } from './cron-metadata.js';
import type { DistributedCronEntryOptions, ScheduleInput } from './options.js';

/**
 * Runs the method once per fire over all replicas. The method gets the `FireContext` as its argument. May stand several times on one method, each
 * with a `key` of its own. Expression and options are checked when the application starts.
 *
 * @param schedule A cron expression of five or six fields, a macro, a schedule object, or a pure function.
 */
export function DistributedCron(schedule: ScheduleInput, options?: DistributedCronEntryOptions): MethodDecorator {
  return (target: object, method: string | symbol, descriptor?: PropertyDescriptor) => {
    const name = typeof target === 'function' ? target.name : target?.constructor?.name;
    if (typeof method === 'object' || typeof target === 'function' || typeof descriptor?.value !== 'function') {
      throw new ConfigurationError([
        {
          code: 'DECORATOR_PLACE',
          subject: `@DistributedCron on ${name ?? 'a class'}.${typeof method === 'object' ? 'a member' : String(method)}`,
          expected: 'an instance method of a class, compiled with experimentalDecorators',
          hint: 'Nest providers are instances: a static method, a property or an accessor has none to run on.',
        },
      ]);
    }
    addCronMetadata(target, method, { schedule, options });
  };
}
