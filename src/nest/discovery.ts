import { Injectable } from '@nestjs/common';
import { type DiscoveryService, ModulesContainer } from '@nestjs/core';
import { type CronMetadata, cronMetadataOf, prototypeOf } from './cron-metadata.js';

/** How Nest holds a provider or controller. Read off a public signature: its own module is internal to Nest. */
export type InstanceWrapper = ReturnType<DiscoveryService['getProviders']>[number];

/** A decorated method that Nest provides. */
export interface DiscoveredMethod {
  readonly wrapper: InstanceWrapper;
  /** The instance, or `undefined` where each fire gets a fresh one. */
  readonly instance: object | undefined;
  readonly className: string;
  readonly methodName: string | symbol;
  readonly moduleName: string;
  readonly schedules: readonly CronMetadata[];
}

/** Finds the decorated methods of providers and controllers. Looks at prototypes alone, so no getter is called and no proxy is woken. */
@Injectable()
export class Discovery {
  constructor(private readonly modules: ModulesContainer) {}

  find(): DiscoveredMethod[] {
    const found: DiscoveredMethod[] = [];
    const seen = new Set<object>();
    for (const module of this.modules.values()) {
      for (const wrapper of [...module.providers.values(), ...module.controllers.values()] as InstanceWrapper[]) {
        found.push(...this.methodsOf(wrapper, module.name, seen));
      }
    }
    return found;
  }

  private methodsOf(wrapper: InstanceWrapper, moduleName: string, seen: Set<object>): DiscoveredMethod[] {
    const fresh = wrapper.isTransient || !wrapper.isDependencyTreeStatic();
    const instance: unknown = fresh ? undefined : wrapper.instance;
    const prototype = fresh ? classPrototype(wrapper) : typeof instance === 'object' ? prototypeOf(instance) : null;
    if (prototype === null) return [];
    const methods = cronMetadataOf(prototype);
    if (methods.size === 0) return [];
    // `useExisting` lists one instance under two tokens, and an alias of a fresh one has no class of its own.
    const identity = fresh ? wrapper : (instance as object);
    if (seen.has(identity)) return [];
    seen.add(identity);
    return [...methods].map(([methodName, schedules]) => ({
      wrapper,
      instance: instance as object | undefined,
      className: (prototype.constructor as { name?: string } | undefined)?.name || 'anonymous class',
      methodName,
      moduleName,
      schedules,
    }));
  }
}

function classPrototype(wrapper: InstanceWrapper): object | null {
  // A factory's metatype is the factory itself; what it will make is not known before a fire.
  if (wrapper.inject !== null && wrapper.inject !== undefined) return null;
  const metatype: unknown = wrapper.metatype;
  return typeof metatype === 'function' ? ((metatype.prototype as object | undefined) ?? null) : null;
}
