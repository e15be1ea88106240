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
    if (typeof method === 'object' || typeof target === 'function' || typeof descriptor?.value !== 'function') {
      throw new ConfigurationError([
        {
          code: 'DECORATOR_PLACE',
          subject: `@DistributedCron on ${placeOf(target, method)}`,
          expected: 'an instance method of a class, compiled with experimentalDecorators',
          hint: 'Nest providers are instances: a static method, a property or an accessor has none to run on.',
        },
      ]);
    }
    addCronMetadata(target, method, { schedule, options });
  };
}

/** Whatever a compiler and its settings pass: `method` is undefined on a class, and an object under standard decorators. */
function placeOf(target: unknown, method: unknown): string {
  const { name } = ((typeof target === 'function' ? target : target?.constructor) ?? {}) as { name?: string };
  if (typeof method === 'object') return `the method ${name ?? ''}`;
  return method === undefined ? `the class ${name ?? ''}` : `${name ?? 'a class'}.${String(method)}`;
}
