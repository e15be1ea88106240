import { ForbiddenException, Injectable } from '@nestjs/common';
import { ExternalContextCreator, ModuleRef } from '@nestjs/core';
import type { ConfigurationFault } from '../domain/errors.js';
import type { DiscoveredMethod } from './discovery.js';
import { containerOf } from './nest-container.js';

/** What `ExecutionContext.getType()` answers around a decorated method; the fire, or the task's context, is argument 0. */
export const CRON_CONTEXT_TYPE = 'distributed-cron';

/** Where Nest's own decorators (`@UseGuards` and the like) leave what they were given. */
const ENHANCER_METADATA = ['__guards__', '__interceptors__', '__exceptionFilters__'];

/** How a method is called with what it is told of its run. */
export interface InvocationRules<C> {
  /** The application's global enhancers stand around it too. */
  readonly globalEnhancers: boolean;
  /** The error of a run that a guard answered `false` to. */
  readonly refusal: (context: C) => Error;
}

type ContextId = Parameters<ExternalContextCreator['create']>[5];

/** What is replaced of Nest's creator: it finds a method's module by its class, which knows no controller, and tells a refusal by its error alone. */
interface CreatorInternals {
  createGuardsFn(...args: unknown[]): ((args: readonly unknown[]) => Promise<void>) | null;
}

/** Puts guards, interceptors and filters around a decorated method. */
@Injectable()
export class Enhancers {
  private readonly own: ExternalContextCreator;
  private readonly withGlobal: ExternalContextCreator;
  /** Runs that a guard answered `false` to. A filter may turn that into a result; the method has not run all the same. */
  private readonly refused = new WeakSet<object>();

  constructor(moduleRef: ModuleRef) {
    const container = containerOf(moduleRef);
    // Creators of our own: the application's one remembers a method's parameters by class and name, and GraphQL may have asked it first.
    this.withGlobal = ExternalContextCreator.fromContainer(container);
    // Global enhancers are mostly written for HTTP: an authentication guard would refuse every fire. Nest reads them off the container's application
    // config, so this creator gets a view of the container that has none.
    this.own = ExternalContextCreator.fromContainer(
      Object.create(container, { applicationConfig: { value: undefined } }) as typeof container,
    );
  }

  /** The method with what stands around it, or `undefined` where nothing does. */
  around<C extends object>(
    instance: object,
    method: DiscoveredMethod,
    { globalEnhancers, refusal }: InvocationRules<C>,
    contextId?: ContextId,
  ): ((context: C) => unknown) | undefined {
    if (!globalEnhancers && namedBy(instance, method.methodName).length === 0) return undefined;
    const { wrapper, methodName } = method;
    const enhanced = this.creatorFor(method, globalEnhancers).create(
      instance,
      (instance as Record<string | symbol, (...args: unknown[]) => unknown>)[methodName]!,
      // Only a part of a cache's key. Nest cannot use a symbol there.
      String(methodName),
      undefined,
      undefined,
      contextId,
      contextId === undefined ? undefined : wrapper.id,
      { guards: true, interceptors: true, filters: true },
      CRON_CONTEXT_TYPE,
    );
    return async (context) => {
      let result: unknown;
      try {
        result = await enhanced(context);
      } catch (error) {
        throw this.refused.has(context) ? refusal(context) : error;
      }
      if (this.refused.has(context)) throw refusal(context);
      return result;
    };
  }

  /**
   * Nest makes the guards, interceptors and filters of classes that it constructs itself, and skips in silence those it has not made: on an instance out of a
   * factory, or on a method whose name is a symbol. A guard that is skipped lets everybody in, so this is a fault.
   */
  faults({ wrapper, prototype, className, methodName }: DiscoveredMethod): ConfigurationFault[] {
    const { host } = wrapper;
    if (host === undefined) return [];
    const classes = namedBy(prototype, methodName).filter(
      (enhancer): enhancer is new () => object => typeof enhancer === 'function',
    );
    return classes
      .filter((enhancer) => !host.injectables.has(enhancer))
      .map((enhancer) => ({
        code: 'ENHANCER_MISSING',
        subject: `${className}.${String(methodName)}`,
        expected: `${enhancer.name} to stand around the method`,
        got: 'no instance of it: Nest makes these for classes that it constructs itself, and for methods that a text names',
        hint: `List ${className} among the providers of its module, or give the decorator an instance: new ${enhancer.name}(…).`,
      }));
  }

  private creatorFor({ wrapper }: DiscoveredMethod, globalEnhancers: boolean): ExternalContextCreator {
    const creator = globalEnhancers ? this.withGlobal : this.own;
    const { createGuardsFn } = creator as unknown as CreatorInternals;
    const watched = (...args: unknown[]) => {
      const activate = createGuardsFn.apply(creator, args);
      return activate && ((given: readonly unknown[]) => this.watch(activate, given));
    };
    const { host } = wrapper;
    const moduleKey = { value: () => host?.token };
    return Object.create(creator, {
      createGuardsFn: { value: watched },
      ...(host === undefined ? {} : { getHostModuleKey: moduleKey, getContextModuleKey: moduleKey }),
    }) as ExternalContextCreator;
  }

  private async watch(activate: (args: readonly unknown[]) => Promise<void>, args: readonly unknown[]): Promise<void> {
    try {
      await activate(args);
    } catch (error) {
      if (isGuardRefusal(error)) this.refused.add(args[0] as object);
      throw error;
    }
  }
}

/** The message that Nest itself gives to what a guard's `false` throws; a guard that throws an error of its own has failed. */
const GUARD_REFUSAL = 'Forbidden resource';

function isGuardRefusal(error: unknown): boolean {
  return error instanceof ForbiddenException && error.message === GUARD_REFUSAL;
}

/** What the decorators on the class and the method name, classes and instances. `owner` is an instance, or the prototype of one. */
function namedBy(owner: object, methodName: string | symbol): unknown[] {
  const method: unknown = (owner as Record<string | symbol, unknown>)[methodName];
  const places = [owner.constructor, method].filter((place): place is () => unknown => typeof place === 'function');
  return places.flatMap((place) =>
    ENHANCER_METADATA.flatMap((key) => (Reflect.getMetadata(key, place) as unknown[] | undefined) ?? []),
  );
}
