import { ConfigurationError } from '../domain/errors.js';

/** @throws ConfigurationError if the decorator stands elsewhere than on an instance method */
export function requireMethod(
  decorator: string,
  target: object,
  method: unknown,
  descriptor: PropertyDescriptor | undefined,
): void {
  if (typeof method !== 'object' && typeof target !== 'function' && typeof descriptor?.value === 'function') return;
  throw new ConfigurationError([
    {
      code: 'DECORATOR_PLACE',
      subject: `@${decorator} on ${placeOf(target, method)}`,
      expected: 'an instance method of a class, compiled with experimentalDecorators',
      hint: 'Nest providers are instances: a static method, a property or an accessor has none to run on.',
    },
  ]);
}

/** Whatever a compiler and its settings pass: `method` is undefined on a class, and an object under standard decorators. */
function placeOf(target: unknown, method: unknown): string {
  const { name } = ((typeof target === 'function' ? target : target?.constructor) ?? {}) as { name?: string };
  if (typeof method === 'object') return `the method ${name ?? ''}`;
  return method === undefined ? `the class ${name ?? ''}` : `${name ?? 'a class'}.${String(method)}`;
}
