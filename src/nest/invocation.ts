import { ForbiddenException, Injectable } from '@nestjs/common';
import { ContextIdFactory, ExternalContextCreator, ModuleRef } from '@nestjs/core';
import { FireRejectedError } from '../domain/errors.js';
import type { FireContext } from '../fire/fire-context.js';
import type { DiscoveredMethod } from './discovery.js';

type Method = (fire: FireContext) => unknown;
type ContextId = ReturnType<typeof ContextIdFactory.create>;

/** What `ExecutionContext.getType()` answers around a decorated method; the fire is argument 0. */
export const CRON_CONTEXT_TYPE = 'distributed-cron';

/** Where Nest's own decorators (`@UseGuards` and the like) leave what they were given. */
const ENHANCER_METADATA = ['__guards__', '__interceptors__', '__exceptionFilters__'];

/**
 * Makes the function that a fire runs out of a discovered method: on the one instance, or on a fresh one per fire where its provider depends on
 * request scope; with guards, interceptors and filters around it where there are any.
 */
@Injectable()
export class Invocation {
  private readonly ownEnhancers: ExternalContextCreator;

  constructor(
    private readonly moduleRef: ModuleRef,
    private readonly allEnhancers: ExternalContextCreator,
  ) {
    this.ownEnhancers = withoutGlobalEnhancers(allEnhancers);
  }

  of(method: DiscoveredMethod, globalEnhancers: boolean): Method {
    const { instance, wrapper } = method;
    if (instance === undefined) {
      return async (fire) => {
        const contextId = ContextIdFactory.create();
        // Providers of this context that inject REQUEST get the fire.
        this.moduleRef.registerRequestByContextId(fire, contextId);
        const fresh: object = await this.moduleRef.resolve(wrapper.token as symbol, contextId, { strict: false });
        return this.onInstance(fresh, method, globalEnhancers, contextId)(fire);
      };
    }
    let bound: Method | undefined;
    // At the first fire, not at bootstrap: until then an application may still replace the method by a spy.
    return (fire) => {
      bound ??= this.onInstance(instance, method, globalEnhancers);
      return bound(fire);
    };
  }

  private onInstance(
    instance: object,
    { methodName, wrapper }: DiscoveredMethod,
    globalEnhancers: boolean,
    contextId?: ContextId,
  ): Method {
    const target = instance as Record<string | symbol, Method>;
    if (!globalEnhancers && !hasEnhancers(instance, methodName)) return (fire) => target[methodName]!(fire);
    const creator = globalEnhancers ? this.allEnhancers : this.ownEnhancers;
    const enhanced = creator.create(
      instance,
      target[methodName] as (...args: unknown[]) => unknown,
      methodName as string,
      undefined,
      undefined,
      contextId,
      contextId === undefined ? undefined : wrapper.id,
      { guards: true, interceptors: true, filters: true },
      CRON_CONTEXT_TYPE,
    );
    return async (fire) => {
      try {
        return await enhanced(fire);
      } catch (error) {
        throw isGuardRefusal(error) ? new FireRejectedError(fire.entryKey, fire.fireKey, 'guard') : error;
      }
    };
  }
}

/** The message that Nest itself gives to what a guard's `false` throws. */
const GUARD_REFUSAL = 'Forbidden resource';

function isGuardRefusal(error: unknown): boolean {
  return error instanceof ForbiddenException && error.message === GUARD_REFUSAL;
}

function hasEnhancers(instance: object, methodName: string | symbol): boolean {
  const method: unknown = (instance as Record<string | symbol, unknown>)[methodName];
  const owner = instance.constructor;
  return ENHANCER_METADATA.some(
    (key) => Reflect.hasMetadata(key, owner) || (typeof method === 'function' && Reflect.hasMetadata(key, method)),
  );
}

/**
 * A creator that finds the method's and class's own enhancers alone. Global ones are mostly written for HTTP: an authentication guard would refuse every
 * fire. Nest reads the global ones off the container's application config, so this creator gets a view of the container that has none.
 */
function withoutGlobalEnhancers(creator: ExternalContextCreator): ExternalContextCreator {
  const { container } = creator as unknown as { readonly container: object };
  const view = Object.create(container, { applicationConfig: { value: undefined } });
  return ExternalContextCreator.fromContainer(view as Parameters<typeof ExternalContextCreator.fromContainer>[0]);
}
