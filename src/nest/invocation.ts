import { Injectable } from '@nestjs/common';
import { ContextIdFactory, ModuleRef } from '@nestjs/core';
import { isObservable, lastValueFrom } from 'rxjs';
import type { DiscoveredMethod } from './discovery.js';
import { Enhancers, type InvocationRules } from './enhancers.js';

/**
 * Makes the function that a fire or a task runs out of a discovered method: on the one instance, or on a fresh one per run where its provider depends on
 * request scope; with guards, interceptors and filters around it where there are any.
 */
@Injectable()
export class Invocation {
  constructor(
    private readonly moduleRef: ModuleRef,
    private readonly enhancers: Enhancers,
  ) {}

  of<C extends object>(method: DiscoveredMethod, rules: InvocationRules<C>): (context: C) => unknown {
    const { instance } = method;
    if (instance === undefined) {
      return async (context) => {
        const contextId = ContextIdFactory.create();
        // Providers of this context that inject REQUEST get the context of the run.
        this.moduleRef.registerRequestByContextId(context, contextId);
        const fresh = await this.resolve(method, contextId);
        const enhanced = this.enhancers.around(fresh, method, rules, contextId);
        return enhanced === undefined ? call(fresh, method, context) : enhanced(context);
      };
    }
    let enhanced: ((context: C) => unknown) | undefined;
    let known = false;
    return (context) => {
      // At the first run, not at bootstrap: until then an application may still replace the method by a spy.
      if (!known) enhanced = this.enhancers.around(instance, method, rules);
      known = true;
      return enhanced === undefined ? call(instance, method, context) : enhanced(context);
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
function call(instance: object, { methodName }: DiscoveredMethod, context: object): unknown {
  const result = (instance as Record<string | symbol, (context: object) => unknown>)[methodName]!(context);
  return isObservable(result) ? lastValueFrom(result, { defaultValue: undefined }) : result;
}
