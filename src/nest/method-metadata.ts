import 'reflect-metadata';

/**
 * What decorators leave on methods. It lies on the prototype under the method's name, not on the function: a decorator above ours that replaces the function
 * would take it along.
 */
export class MethodMetadata<T> {
  /** `key` is a plain string: two copies of the library in one process must find each other's decorators. */
  constructor(private readonly key: string) {}

  /** Decorators run from the bottom up, so each one goes before those it stands above. */
  add(prototype: object, method: string | symbol, metadata: T): void {
    const own = this.ownOf(prototype) ?? new Map<string | symbol, readonly T[]>();
    Reflect.defineMetadata(this.key, new Map(own).set(method, [metadata, ...(own.get(method) ?? [])]), prototype);
  }

  /**
   * The decorated methods of an instance with this prototype, inherited ones included. A subclass that overrides a method without a decorator has
   * taken it off. Reads no property of any instance and calls no getter.
   */
  of(prototype: object): Map<string | symbol, readonly T[]> {
    const found = new Map<string | symbol, readonly T[]>();
    const moreDerived: object[] = [];
    for (let owner: object | null = prototype; owner !== null; owner = prototypeOf(owner)) {
      for (const [method, metadata] of this.ownOf(owner) ?? []) {
        if (!moreDerived.some((derived) => Object.hasOwn(derived, method))) found.set(method, metadata);
      }
      moreDerived.push(owner);
    }
    return found;
  }

  private ownOf(prototype: object): ReadonlyMap<string | symbol, readonly T[]> | undefined {
    return Reflect.getOwnMetadata(this.key, prototype) as ReadonlyMap<string | symbol, readonly T[]> | undefined;
  }
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
