import { Injectable } from '@nestjs/common';
import { type DiscoveryService, ModulesContainer } from '@nestjs/core';
import { type CronMetadata, cronMetadata } from './cron-metadata.js';
import { prototypeOf } from './method-metadata.js';
import { type TaskMetadata, taskMetadata } from './task-metadata.js';

/** How Nest holds a provider or controller. Read off a public signature: its own module is internal to Nest. */
export type InstanceWrapper = ReturnType<DiscoveryService['getProviders']>[number];

/** A decorated method that Nest provides. */
export interface DiscoveredMethod {
  readonly wrapper: InstanceWrapper;
  /** The instance, or `undefined` where each fire gets a fresh one. */
  readonly instance: object | undefined;
  /** Where the method is looked up while there is no instance. */
  readonly prototype: object;
  /** Empty for a class without a name. */
  readonly className: string;
  readonly methodName: string | symbol;
  readonly moduleName: string;
  readonly schedules: readonly CronMetadata[];
  readonly tasks: readonly TaskMetadata[];
}

/** Finds the decorated methods of providers and controllers. Looks at prototypes alone, so no getter is called and no proxy is woken. */
@Injectable()
export class Discovery {
  constructor(private readonly modules: ModulesContainer) {}

  find(): DiscoveredMethod[] {
    const seen = new Set<object>();
    // One instance can stand under several tokens; then the place where Nest constructed it counts, which knows its guards.
    return [
      ...this.wrappers((wrapper) => !wrapper.isNotMetatype),
      ...this.wrappers((wrapper) => wrapper.isNotMetatype),
    ].flatMap(([wrapper, moduleName]) => methodsOf(wrapper, moduleName, seen));
  }

  private wrappers(wanted: (wrapper: InstanceWrapper) => boolean): [InstanceWrapper, string][] {
    return [...this.modules.values()].flatMap((module) =>
      ([...module.providers.values(), ...module.controllers.values()] as InstanceWrapper[])
        .filter((wrapper) => !wrapper.isAlias && wanted(wrapper))
        .map((wrapper): [InstanceWrapper, string] => [wrapper, module.name]),
    );
  }
}

function methodsOf(wrapper: InstanceWrapper, moduleName: string, seen: Set<object>): DiscoveredMethod[] {
  const fresh = wrapper.isTransient || !wrapper.isDependencyTreeStatic();
  const instance: unknown = fresh ? undefined : wrapper.instance;
  const prototype = fresh ? freshPrototype(wrapper) : typeof instance === 'object' ? prototypeOf(instance) : null;
  if (prototype === null) return [];
  const schedules = cronMetadata.of(prototype);
  const tasks = taskMetadata.of(prototype);
  const methods = new Set([...schedules.keys(), ...tasks.keys()]);
  const identity = fresh ? wrapper : (instance as object);
  if (methods.size === 0 || seen.has(identity)) return [];
  seen.add(identity);
  return [...methods].map((methodName) => ({
    wrapper,
    instance: instance as object | undefined,
    prototype,
    className: (prototype.constructor as { name?: string } | undefined)?.name ?? '',
    methodName,
    moduleName,
    schedules: schedules.get(methodName) ?? [],
    tasks: tasks.get(methodName) ?? [],
  }));
}

/** The prototype that a fresh instance will have. What a factory makes is not known before a fire, but for its token where that is a class. */
function freshPrototype(wrapper: InstanceWrapper): object | null {
  const made: unknown = wrapper.isNotMetatype ? wrapper.token : wrapper.metatype;
  return typeof made === 'function' ? ((made.prototype as object | undefined) ?? null) : null;
}
