import 'reflect-metadata';
import type { DistributedCronEntryOptions } from './options.js';

/** One `@DistributedCron(...)` as written; read and checked at bootstrap, so that all faults come in one report. */
export interface CronMetadata {
  /** Unknown on purpose: an unset environment variable makes it `undefined`. */
  readonly schedule: unknown;
  readonly options: DistributedCronEntryOptions | undefined;
}

type Schedules = ReadonlyMap<string | symbol, readonly CronMetadata[]>;

/** A plain string: two copies of the library in one process must find each other's decorators. */
const KEY = 'nestjs-distributed-cron:schedules';

/**
 * The metadata lies on the prototype under the method's name, not on the function: a decorator above ours that replaces the function
 * would take it along. Decorators run from the bottom up, so each one goes before those it stands above.
 */
export function addCronMetadata(prototype: object, method: string | symbol, metadata: CronMetadata): void {
  const own = (Reflect.getOwnMetadata(KEY, prototype) as Schedules | undefined) ?? new Map();
  Reflect.defineMetadata(KEY, new Map(own).set(method, [metadata, ...(own.get(method) ?? [])]), prototype);
}

/**
 * The decorated methods of an instance with this prototype, inherited ones included. A subclass that overrides a method without a decorator has
 * taken it off the schedule. Reads no property of any instance and calls no getter.
 */
export function cronMetadataOf(prototype: object): Map<string | symbol, readonly CronMetadata[]> {
  const found = new Map<string | symbol, readonly CronMetadata[]>();
  const moreDerived: object[] = [];
  for (let owner: object | null = prototype; owner !== null; owner = prototypeOf(owner)) {
    for (const [method, metadata] of (Reflect.getOwnMetadata(KEY, owner) as Schedules | undefined) ?? []) {
      if (!moreDerived.some((derived) => Object.hasOwn(derived, method))) found.set(method, metadata);
    }
    moreDerived.push(owner);
  }
  return found;
}

/** The prototype of anything a provider can be; what refuses to tell has none. */
export function prototypeOf(value: object | null): object | null {
  if (value === null) return null;
  try {
    return Object.getPrototypeOf(value) as object | null;
  } catch {
    return null;
  }
}
