import 'reflect-metadata';
import { expect, it } from '@jest/globals';
import { importersIfTwice, MODULE_MARK } from './importers.js';

class Cron {
  static readonly [MODULE_MARK] = true;
}
/** The same module out of a second copy of the library. */
class OtherCopy {
  static readonly [MODULE_MARK] = true;
}

const held = (metatype: { name: string }) => ({ metatype, name: metatype.name, token: metatype.name });

function importing(name: string, imports: unknown): ReturnType<typeof held> {
  const metatype = { [name]: class {} }[name] as new () => object;
  Reflect.defineMetadata('imports', imports, metatype);
  return held(metatype);
}

it('one module has no importers to name', () => {
  expect(importersIfTwice([held(Cron), importing('App', [Cron])], {})).toEqual([]);
});

it('two copies of the library are two modules', () => {
  const modules = [held(Cron), held(OtherCopy), importing('A', [Cron]), importing('B', [{ module: OtherCopy }])];
  expect(importersIfTwice(modules, {})).toEqual(['A', 'B']);
});

it('odd imports name nobody and break nothing', () => {
  const odd = importing('Odd', [undefined, null, 5, Promise.resolve(Cron), { module: undefined }, 'text']);
  expect(
    importersIfTwice([held(Cron), held(Cron), odd, importing('None', 'text'), importing('A', [Cron])], {}),
  ).toEqual(['A']);
});

it('an application whose imports cannot be read is still refused', () => {
  expect(importersIfTwice([held(Cron), held(Cron)], {})).toEqual(['modules that Nest does not name']);
  expect(importersIfTwice([held(Cron), held(Cron)], { getDynamicMetadataByToken: () => undefined })).toHaveLength(1);
});
