import { describe, expect, it } from '@jest/globals';
import { cronMetadata } from './cron-metadata.js';
import { prototypeOf } from './method-metadata.js';

const metadata = (schedule: string) => ({ schedule, options: undefined });
const found = (type: { prototype: object }) =>
  Object.fromEntries(
    [...cronMetadata.of(type.prototype)].map(([name, list]) => [name, list.map(({ schedule }) => schedule)]),
  );

describe('the schedules of a method', () => {
  class Base {
    a() {}
    b() {}
  }
  cronMetadata.add(Base.prototype, 'a', metadata('lower'));
  cronMetadata.add(Base.prototype, 'a', metadata('upper'));
  cronMetadata.add(Base.prototype, 'b', metadata('b'));

  it('come in the order in which they are written: decorators run from the bottom up', () => {
    expect(found(Base)).toEqual({ a: ['upper', 'lower'], b: ['b'] });
  });

  it('are inherited, and lost by an override; those of a subclass do not reach its base', () => {
    class Derived extends Base {
      override a() {}
      override b() {}
    }
    cronMetadata.add(Derived.prototype, 'b', metadata('own'));
    class Leaf extends Derived {}
    expect(found(Derived)).toEqual({ b: ['own'] });
    expect(found(Leaf)).toEqual({ b: ['own'] });
    expect(found(Base)).toEqual({ a: ['upper', 'lower'], b: ['b'] });
  });

  it('are none on anything else', () => {
    for (const other of [Object.prototype, Object.create(null), Object.freeze({}), []]) {
      expect(cronMetadata.of(other as object).size).toBe(0);
    }
  });

  it('can be written and read for names like __proto__ and symbols', () => {
    class Odd {}
    const symbol = Symbol('s');
    cronMetadata.add(Odd.prototype, '__proto__', metadata('p'));
    cronMetadata.add(Odd.prototype, symbol, metadata('s'));
    expect([...cronMetadata.of(Odd.prototype).keys()]).toEqual(['__proto__', symbol]);
  });
});

describe('what refuses to tell its prototype', () => {
  it('has none', () => {
    const proxy = new Proxy(
      {},
      {
        getPrototypeOf: () => {
          throw new Error('asked');
        },
      },
    );
    expect(prototypeOf(proxy)).toBeNull();
    expect(prototypeOf(null)).toBeNull();
  });
});
