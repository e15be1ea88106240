import { Injectable } from '@nestjs/common';
import { ContextIdFactory, ModuleRef } from '@nestjs/core';
import { isObservable, lastValueFrom } from 'rxjs';
import type { FireContext } from '../fire/fire-context.js';
import type { DiscoveredMethod } from './discovery.js';
import { Enhancers } from './enhancers.js';

type Method = (fire: FireContext) => unknown;

/**
 * Makes the function that a fire runs out of a discovered method: on the one instance, or on a fresh one per fire where its provider depends on
 * request scope; with guards, interceptors and filters around it where there are any.
 */
@Injectable()
export class Invocation {
  constructor(
    private readonly moduleRef: ModuleRef,
    private readonly enhancers: Enhancers,
  ) {}

  of(method: DiscoveredMethod, globalEnhancers: boolean): Method {
    const { instance } = method;
    if (instance === undefined) {
      return async (fire) => {
        const contextId = ContextIdFactory.create();
        // Providers of this context that inject REQUEST get the fire.
        this.moduleRef.registerRequestByContextId(fire, contextId);
        const fresh = await this.resolve(method, contextId);
        const enhanced = this.enhancers.around(fresh, method, globalEnhancers, contextId);
        return enhanced === undefined ? call(fresh, method, fire) : enhanced(fire);
      };
    }
    let enhanced: Method | undefined;
    let known = false;
    return (fire) => {
      // At the first fire, not at bootstrap: until then an application may still replace the method by a spy.
      if (!known) enhanced = this.enhancers.around(instance, method, globalEnhancers);
      known = true;
      return enhanced === undefined ? call(instance, method, fire) : enhanced(fire);
    };
  }

  /** In its own module: another one may provide something else under the same token. */
  private resolve(
    { wrapper }: DiscoveredMethod,
    contextId: ReturnType<typeof ContextIdFactory.create>,
  ): Promise<object> {
    const home = wrapper.host?.providers.get(ModuleRef)?.instance as ModuleRef | undefined;
    return (home ?? this.moduleRef).resolve(wrapper.token as symbol, contextId, { strict: home !== undefined });
  }
}

/** An Observable is run to its end, as Nest does with what a handler returns; with or without enhancers around the method. */
function call(instance: object, { methodName }: DiscoveredMethod, fire: FireContext): unknown {
  const result = (instance as Record<string | symbol, Method>)[methodName]!(fire);
  return isObservable(result) ? lastValueFrom(result, { defaultValue: undefined }) : result;
}
