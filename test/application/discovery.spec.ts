import 'reflect-metadata';
import { describe, expect, it } from '@jest/globals';
import { Controller, Injectable, Module, Scope } from '@nestjs/common';
import {
  ConfigurationError,
  DistributedCron,
  DistributedCronRegistry,
  type FireContext,
} from 'nestjs-distributed-cron';
import { refused, started } from './application.fixture.js';

@Injectable()
class Reports {
  readonly fires: string[] = [];

  @DistributedCron('* * * * *', { key: 'report' })
  run(fire: FireContext) {
    this.fires.push(fire.fireKey);
  }
}

/** The keys that an application with these parts schedules. */
async function keysOf(given: Parameters<typeof started>[0]): Promise<string[]> {
  const { app, keys } = await started(given);
  const found = keys();
  await app.close();
  return found;
}

describe('an entry is found', () => {
  it('on a provider and on a controller, and runs on their instances', async () => {
    @Controller()
    class Orders {
      readonly fires: string[] = [];

      @DistributedCron('30 * * * * *')
      expire(fire: FireContext) {
        this.fires.push(fire.fireKey);
      }
    }
    const { app, clock } = await started({ providers: [Reports], controllers: [Orders] });
    await clock.advance(60_000);
    expect(app.get(Reports).fires).toEqual(['report@2026-01-01T00:01:00Z']);
    expect(app.get(Orders).fires).toEqual(['Orders.expire@2026-01-01T00:00:30Z']);
    await app.close();
  });

  it('on what a factory or a value provides, under whatever token', async () => {
    class Made {
      @DistributedCron('* * * * *')
      run() {}
    }
    class Given {
      @DistributedCron('* * * * *')
      run() {}
    }
    const providers = [
      { provide: 'made', useFactory: async () => new Made() },
      { provide: Symbol('given'), useValue: new Given() },
      { provide: 'classed', useClass: Reports },
    ];
    expect(await keysOf({ providers })).toEqual(['Given.run', 'Made.run', 'report']);
  });

  it('once for each instance, however many tokens it has', async () => {
    const value = new Reports();
    @Module({ providers: [{ provide: 'elsewhere', useValue: value }] })
    class Elsewhere {}
    expect(
      await keysOf({
        imports: [Elsewhere],
        providers: [
          { provide: 'alias of an alias', useExisting: 'alias' },
          { provide: 'alias', useExisting: Reports },
          { provide: Reports, useValue: value },
          { provide: 'same', useFactory: (reports: Reports) => reports, inject: [Reports] },
        ],
      }),
    ).toEqual(['report']);
  });

  it('on an alias of a provider that is made anew for each fire, once too', async () => {
    abstract class Base {
      @DistributedCron('* * * * *', { key: 'base' })
      run() {}
    }
    @Injectable({ scope: Scope.REQUEST })
    class Fresh extends Base {}
    expect(await keysOf({ providers: [{ provide: Base, useExisting: Fresh }, Fresh] })).toEqual(['base']);
  });

  it('for each of several decorators on one method, each with its key', async () => {
    class Jobs {
      @DistributedCron('0 9 * * *', { key: 'morning' })
      @DistributedCron('0 18 * * *', { key: 'evening' })
      run() {}
    }
    expect(await keysOf({ providers: [Jobs] })).toEqual(['evening', 'morning']);
  });

  it('on an inherited method, and not on one that a subclass overrides without a decorator', async () => {
    abstract class Base {
      @DistributedCron('* * * * *')
      kept() {}

      @DistributedCron('* * * * *')
      dropped() {}

      @DistributedCron('* * * * *', { key: 'base-schedule' })
      again() {}
    }
    class Middle extends Base {
      override dropped() {}
    }
    class Jobs extends Middle {
      @DistributedCron('*/5 * * * *', { key: 'own-schedule' })
      override again() {}
    }
    class Other extends Base {}
    expect(await keysOf({ providers: [Jobs] })).toEqual(['Jobs.kept', 'own-schedule']);
    expect(await keysOf({ providers: [Other] })).toEqual(['Other.dropped', 'Other.kept', 'base-schedule']);
  });

  it('under a decorator that wraps the method, whose wrapper runs', async () => {
    const steps: string[] = [];
    const Transactional = () => (_target: object, _name: string, descriptor: PropertyDescriptor) => {
      const method = descriptor.value as (...args: unknown[]) => unknown;
      descriptor.value = function (this: unknown, ...args: unknown[]) {
        steps.push('begin');
        const result = method.apply(this, args);
        steps.push('commit');
        return result;
      };
      return descriptor;
    };
    class Jobs {
      @Transactional()
      @DistributedCron('* * * * *', { key: 'above' })
      above() {
        steps.push('above');
      }

      @DistributedCron('30 * * * * *', { key: 'below' })
      @Transactional()
      below() {
        steps.push('below');
      }
    }
    const { app, clock } = await started({ providers: [Jobs] });
    await clock.advance(60_000);
    expect(steps).toEqual(['begin', 'below', 'commit', 'begin', 'above', 'commit']);
    await app.close();
  });

  it('on a method whose name is a symbol', async () => {
    const run = Symbol('run');
    const calls: string[] = [];
    class Jobs {
      @DistributedCron('* * * * *')
      [run](fire: FireContext) {
        calls.push(fire.entryKey);
      }
    }
    const { app, clock } = await started({ providers: [Jobs] });
    await clock.advance(60_000);
    expect(calls).toEqual(['Jobs.Symbol(run)']);
    await app.close();
  });

  it('that a second copy of the library decorated', async () => {
    class Jobs {
      run() {}
    }
    // What every copy writes and reads; changing it makes old and new copies deaf to one another.
    Reflect.defineMetadata(
      'nestjs-distributed-cron:schedules',
      new Map([['run', [{ schedule: '* * * * *', options: { key: 'from-the-other-copy' } }]]]),
      Jobs.prototype,
    );
    expect(await keysOf({ providers: [Jobs] })).toEqual(['from-the-other-copy']);
  });

  it('and the method may still be replaced by a spy after the start', async () => {
    const { app, clock } = await started({ providers: [Reports] });
    let spied = 0;
    app.get(Reports).run = () => {
      spied += 1;
    };
    await clock.advance(60_000);
    expect(spied).toBe(1);
    await app.close();
  });
});

describe('discovery survives', () => {
  const refuse = (what: string) => () => {
    throw new Error(`${what} was asked`);
  };

  it.each<[string, unknown]>([
    ['an object without a prototype', Object.create(null)],
    ['a frozen object', Object.freeze({ run: () => undefined })],
    ['a number', 42],
    ['a text', 'text'],
    ['a function', () => undefined],
    ['a class', Reports],
    ['a symbol', Symbol('value')],
    ['null', null],
    ['an empty value', undefined],
    ['a map', new Map()],
  ])('%s', async (_, value) => {
    expect(await keysOf({ providers: [{ provide: 'odd', useValue: value }, Reports] })).toEqual(['report']);
  });

  it('a proxy that throws on whatever it is asked', async () => {
    let hostile = false;
    const trap =
      <A extends unknown[], R>(ask: (...args: A) => R) =>
      (...args: A): R => {
        if (hostile) throw new Error('the proxy was asked');
        return ask(...args);
      };
    const proxy = new Proxy(new Reports(), {
      // Nest itself looks for a promise, and for lifecycle hooks.
      get: (target, name) =>
        ['then', 'onModuleInit', 'onApplicationBootstrap'].includes(String(name))
          ? undefined
          : trap(Reflect.get)(target, name),
      getPrototypeOf: trap(Reflect.getPrototypeOf),
      has: trap(Reflect.has),
      ownKeys: trap(Reflect.ownKeys),
      getOwnPropertyDescriptor: trap(Reflect.getOwnPropertyDescriptor),
    });
    class Jobs {
      @DistributedCron('* * * * *')
      run() {}
    }
    class Arms {
      // Nest asks it a lot while the application is put together; ours is the last start hook.
      onModuleInit() {
        hostile = true;
      }
    }
    const { app, keys } = await started({ providers: [Arms, { provide: 'odd', useValue: proxy }, Jobs] });
    hostile = false;
    expect(keys()).toEqual(['Jobs.run']);
    await app.close();
  });

  it('a class whose getters throw: it calls none', async () => {
    class Getters {
      get open(): never {
        throw new Error('a getter was called');
      }

      static get settings(): never {
        throw new Error('a static getter was called');
      }

      @DistributedCron('* * * * *')
      run() {}
    }
    class Derived extends Getters {
      override get open(): never {
        throw new Error('a getter was called');
      }
    }
    const own = Object.defineProperty(new Getters(), 'connection', { get: refuse('an own getter'), enumerable: true });
    expect(await keysOf({ providers: [Derived, { provide: 'own', useValue: own }] })).toEqual([
      'Derived.run',
      'Getters.run',
    ]);
  });
});

describe('the application does not start', () => {
  it('with two entries of one key: the report names both places', async () => {
    class Orders {
      @DistributedCron('* * * * *', { key: 'report' })
      expire() {}
    }
    const { faults } = await refused({ providers: [Reports, Orders] });
    expect(faults).toMatchObject([{ code: 'KEY_DUPLICATE' }]);
    expect(faults[0]?.subject).toMatch(/^Orders\.expire \(.+\), key "report"$/);
    expect(faults[0]?.got).toMatch(/^the key of Reports\.run \(.+\)$/);
  });

  it('with one class in two modules: the report names both modules', async () => {
    @Module({ providers: [Reports] })
    class Billing {}
    @Module({ providers: [Reports] })
    class Shipping {}
    const { faults } = await refused({ imports: [Billing, Shipping] });
    expect(faults).toMatchObject([
      {
        code: 'KEY_DUPLICATE',
        subject: 'Reports.run (Shipping), key "report"',
        got: 'the key of Reports.run (Billing)',
      },
    ]);
  });

  it('with the key of an entry that code has added', async () => {
    @Injectable()
    class Adds {
      constructor(private readonly registry: DistributedCronRegistry) {}

      onModuleInit() {
        this.registry.add('report', '* * * * *', () => undefined);
      }
    }
    const { faults } = await refused({ providers: [Reports, Adds] });
    expect(faults).toMatchObject([{ code: 'KEY_DUPLICATE', got: 'the key of an entry added through the registry' }]);
  });

  it('with several schedules of one method that have no key, and reports what else is wrong with them', async () => {
    class Jobs {
      @DistributedCron('0 9 * * *', { key: 'morning' })
      @DistributedCron('0 18 * * *')
      @DistributedCron('0 25 * * *', { key: null } as never)
      run() {}
    }
    const { faults } = await refused({ providers: [Jobs] });
    expect(faults.map(({ code, subject }) => [code, subject])).toEqual([
      ['KEY_MISSING', 'Jobs.run'],
      ['KEY_MISSING', 'Jobs.run'],
      ['EXPRESSION_INVALID', 'Jobs.run, key "Jobs.run"'],
    ]);
  });

  it.each<[unknown]>([[''], [' padded '], [5], ['line\nbreak'], ['x'.repeat(513)]])(
    'with a key that cannot be one (%#)',
    async (key) => {
      class Jobs {
        @DistributedCron('nonsense', { key: key as string })
        run() {}
      }
      const { faults } = await refused({ providers: [Jobs] });
      expect(faults.map(({ code }) => code)).toEqual(['KEY_INVALID', 'EXPRESSION_INVALID']);
    },
  );
});

describe('keys are never folded or merged', () => {
  it('Job beside job, __proto__, braces, emoji and 300 characters', async () => {
    const keys = ['Job', 'job', '__proto__', 'constructor', 'a@{b}*./c d', '🦉'.repeat(10), 'k'.repeat(300)];
    class Jobs {
      run() {}
    }
    for (const key of keys) {
      DistributedCron('* * * * *', { key })(
        Jobs.prototype,
        'run',
        Object.getOwnPropertyDescriptor(Jobs.prototype, 'run') as PropertyDescriptor,
      );
    }
    expect(await keysOf({ providers: [Jobs] })).toEqual([...keys].sort());
  });
});

describe('the decorator says clearly that it stands in the wrong place', () => {
  const decorator = DistributedCron('* * * * *') as (...args: unknown[]) => unknown;
  class Jobs {
    static cleanUp() {}
    get accessor() {
      return 1;
    }
  }

  it.each<[string, () => unknown]>([
    [
      'a static method',
      () => {
        class Static {
          @DistributedCron('* * * * *')
          static cleanUp() {}
        }
        return Static;
      },
    ],
    ['a property', () => decorator(Jobs.prototype, 'cleanUp', undefined)],
    [
      'an accessor',
      () => decorator(Jobs.prototype, 'accessor', Object.getOwnPropertyDescriptor(Jobs.prototype, 'accessor')),
    ],
    ['a class', () => decorator(Jobs)],
    ['a method under standard decorators', () => decorator(Jobs.cleanUp, { kind: 'method', name: 'cleanUp' })],
  ])('on %s', (_, decorate) => {
    let error: unknown;
    try {
      decorate();
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(ConfigurationError);
    expect((error as ConfigurationError).faults).toMatchObject([
      { code: 'DECORATOR_PLACE', expected: expect.stringContaining('an instance method of a class') },
    ]);
    expect((error as ConfigurationError).message).not.toContain('undefined');
  });
});
