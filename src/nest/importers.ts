import 'reflect-metadata';

interface HeldModule {
  readonly metatype: unknown;
  readonly token: string;
  readonly name: string;
}

/** What Nest keeps of `{ module, imports }` objects, by module token. */
interface DynamicImports {
  getDynamicMetadataByToken?(token: string, key: 'imports'): unknown;
}

/** Marks the module class, so that a second copy of the library (CommonJS beside ES modules) is recognised too. */
export const MODULE_MARK = Symbol.for('nestjs-distributed-cron:module');

function isMarked(metatype: unknown): boolean {
  return typeof metatype === 'function' && Object.hasOwn(metatype, MODULE_MARK);
}

/**
 * The modules that import ours, if it stands in the application more than once; else none. Nest's own links are of no use here, since every module imports
 * a global one; what was written is, in `@Module({ imports })` and in the object of a dynamic module.
 */
export function importersIfTwice(modules: Iterable<unknown>, container: DynamicImports): readonly string[] {
  const all = [...(modules as Iterable<HeldModule>)];
  if (all.filter((module) => isMarked(module.metatype)).length < 2) return [];
  const importers = all.flatMap((module) => {
    const times = [...staticImports(module), ...dynamicImports(module, container)].filter(isOurs).length;
    return times === 0 ? [] : [times === 1 ? module.name : `${module.name} (${times} times)`];
  });
  return importers.length === 0 ? ['modules that Nest does not name'] : importers;
}

function staticImports({ metatype }: HeldModule): readonly unknown[] {
  return typeof metatype === 'function' ? asList(Reflect.getMetadata('imports', metatype)) : [];
}

function dynamicImports({ token }: HeldModule, container: DynamicImports): readonly unknown[] {
  return asList(container.getDynamicMetadataByToken?.(token, 'imports'));
}

function asList(imports: unknown): readonly unknown[] {
  return Array.isArray(imports) ? imports : [];
}

function isOurs(imported: unknown): boolean {
  const { module, forwardRef } = (imported ?? {}) as { module?: unknown; forwardRef?: () => unknown };
  if (typeof forwardRef === 'function') return isOurs(forwardRef());
  return isMarked(module ?? imported);
}
