import 'reflect-metadata';

interface HeldModule {
  readonly metatype: unknown;
  readonly name: string;
}

/** Marks the module class, so that a second copy of the library (CommonJS beside ES modules) is recognised too. */
export const MODULE_MARK = Symbol.for('nestjs-distributed-cron:module');

function isMarked(metatype: unknown): boolean {
  return typeof metatype === 'function' && Object.hasOwn(metatype, MODULE_MARK);
}

/**
 * The modules that import ours, if it stands in the application more than once; else none. Nest's own links are of no use here, since every module imports
 * a global one; what was written in `@Module({ imports })` is.
 */
export function importersIfTwice(modules: Iterable<unknown>): readonly string[] {
  const all = [...(modules as Iterable<HeldModule>)];
  if (all.filter((module) => isMarked(module.metatype)).length < 2) return [];
  const importers = all.filter((module) => {
    const imports: unknown =
      typeof module.metatype === 'function' ? Reflect.getMetadata('imports', module.metatype) : undefined;
    return Array.isArray(imports) && imports.some((imported) => isMarked(imported?.module ?? imported));
  });
  const names = importers.map((module) => module.name);
  return names.length < 2 ? [...names, 'a dynamic module'] : names;
}
