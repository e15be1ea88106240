/** How Nest holds a module, as far as its place in the hook order goes. */
interface HeldModule {
  readonly metatype: unknown;
  distance: number;
}

/**
 * Puts a module last in the order of start hooks and first in the order of stop hooks. Nest sorts by distance from the root and gives a global module
 * the largest, which is the reverse: the scheduler would fire before others have started, and the store's client would be closed under
 * it. The order is fixed at the first init hook, so this must happen in a constructor.
 */
export function startLastAndStopFirst(modules: Iterable<unknown>, moduleClass: unknown): void {
  for (const module of modules as Iterable<HeldModule>) {
    if (module.metatype === moduleClass) module.distance = Number.MIN_SAFE_INTEGER;
  }
}
