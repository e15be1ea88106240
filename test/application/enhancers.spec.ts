import { describe, expect, it } from '@jest/globals';
import {
  type ArgumentsHost,
  type CallHandler,
  type CanActivate,
  Catch,
  Controller,
  type ExceptionFilter,
  type ExecutionContext,
  ForbiddenException,
  Injectable,
  Module,
  type NestInterceptor,
  Scope,
  SetMetadata,
  UnauthorizedException,
  UseFilters,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import { APP_GUARD, Reflector } from '@nestjs/core';
import { DistributedCron, type FireContext, FireRejectedError } from 'nestjs-distributed-cron';
import { map, of } from 'rxjs';
import { refused, started } from './application.fixture.js';

/** What enhancers saw, and whether the guard lets through. */
const seen: string[] = [];
let open = true;

@Injectable()
class Gate implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext) {
    const fire = context.getArgByIndex<FireContext>(0);
    const role = this.reflector.get<string>('role', context.getHandler());
    seen.push(`guard ${context.getType()} ${fire.entryKey} ${role} ${context.getClass().name}`);
    return open;
  }
}

@Injectable()
class Doubles implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler) {
    seen.push(`interceptor ${context.getArgs<[FireContext]>()[0].entryKey}`);
    return next.handle().pipe(map((value: number) => value * 2));
  }
}

@Catch()
class Swallows implements ExceptionFilter {
  catch(error: Error, host: ArgumentsHost) {
    seen.push(`filter ${host.getType()} ${error.message}`);
    return 'swallowed';
  }
}

const begin = (guardOpens = true) => {
  seen.length = 0;
  open = guardOpens;
};

class Work {
  runs = 0;

  @SetMetadata('role', 'clerk')
  @UseGuards(Gate)
  @UseInterceptors(Doubles)
  @DistributedCron('* * * * *', { key: 'method' })
  onMethod() {
    this.runs += 1;
    return 21;
  }
}

@UseGuards(Gate)
@UseInterceptors(Doubles)
class OnClass {
  @SetMetadata('role', 'owner')
  @DistributedCron('* * * * *', { key: 'class' })
  run() {
    return 4;
  }
}

describe('guards, interceptors and filters', () => {
  it.each([
    ['on a method', Work, 'method', 'clerk', 42],
    ['on a class', OnClass, 'class', 'owner', 8],
  ])('%s stand around the fire, which is their argument', async (_, provider, key, role, result) => {
    begin();
    const { app, registry } = await started({ providers: [provider] });
    await expect(registry.triggerAndWait(key)).resolves.toBe(result);
    expect(seen).toEqual([`guard distributed-cron ${key} ${role} ${provider.name}`, `interceptor ${key}`]);
    await app.close();
  });

  it('on a controller too', async () => {
    begin(false);
    @Controller()
    class Orders {
      @UseGuards(Gate)
      @DistributedCron('* * * * *', { key: 'expire' })
      expire() {}
    }
    const { app, registry } = await started({ controllers: [Orders] });
    await expect(registry.triggerAndWait('expire')).rejects.toBeInstanceOf(FireRejectedError);
    await app.close();
  });

  it('under whatever token the class is provided, in each module with its own', async () => {
    begin(false);
    @Module({ providers: [{ provide: 'WORK', useClass: Work }] })
    class WorkModule {}
    const { app, registry } = await started({ imports: [WorkModule] });
    await expect(registry.triggerAndWait('method')).rejects.toBeInstanceOf(FireRejectedError);
    await app.close();
  });

  it('on a provider of request scope, and of request scope themselves', async () => {
    begin();
    @Injectable({ scope: Scope.REQUEST })
    class FreshGate implements CanActivate {
      static instances = 0;

      constructor() {
        FreshGate.instances += 1;
      }

      canActivate() {
        return true;
      }
    }
    @Injectable({ scope: Scope.REQUEST })
    class Fresh extends Work {}
    @Injectable()
    class Guarded {
      @UseGuards(FreshGate)
      @DistributedCron('* * * * *', { key: 'guarded' })
      run() {
        return 'ran';
      }
    }
    const { app, registry } = await started({ providers: [Fresh, Guarded] });
    await expect(registry.triggerAndWait('method')).resolves.toBe(42);
    expect(seen).toEqual(['guard distributed-cron method clerk Fresh', 'interceptor method']);
    await expect(registry.triggerAndWait('guarded')).resolves.toBe('ran');
    await expect(registry.triggerAndWait('guarded')).resolves.toBe('ran');
    expect(FreshGate.instances).toBe(2);
    await app.close();
  });

  it('a filter turns what the method threw into its result', async () => {
    begin();
    class Jobs {
      @UseFilters(Swallows)
      @DistributedCron('* * * * *', { key: 'job' })
      run() {
        throw new Error('no paper');
      }
    }
    const { app, registry } = await started({ providers: [Jobs] });
    await expect(registry.triggerAndWait('job')).resolves.toBe('swallowed');
    expect(seen).toEqual(['filter distributed-cron no paper']);
    await app.close();
  });

  it('given as instances, on a method whose name is a symbol', async () => {
    const run = Symbol('run');
    class Jobs {
      @UseGuards({ canActivate: () => false })
      @DistributedCron('* * * * *', { key: 'job' })
      [run]() {}
    }
    const { app, registry } = await started({ providers: [Jobs] });
    await expect(registry.triggerAndWait('job')).rejects.toBeInstanceOf(FireRejectedError);
    await app.close();
  });

  it('an Observable that a method returns is run to its end, with and without them', async () => {
    class Jobs {
      @DistributedCron('* * * * *', { key: 'plain' })
      plain() {
        return of(1, 2, 3);
      }

      @UseInterceptors(Doubles)
      @DistributedCron('* * * * *', { key: 'doubled' })
      doubled() {
        return of(1, 2, 3);
      }
    }
    const { app, registry } = await started({ providers: [Jobs] });
    await expect(registry.triggerAndWait('plain')).resolves.toBe(3);
    await expect(registry.triggerAndWait('doubled')).resolves.toBe(6);
    await app.close();
  });
});

describe("a guard's false", () => {
  it('rejects the fire: it did not run, and triggerAndWait says so', async () => {
    begin(false);
    const { app, clock, registry, story, journal } = await started({ providers: [Work] });
    await expect(registry.triggerAndWait('method')).rejects.toMatchObject({
      code: 'FIRE_REJECTED',
      entryKey: 'method',
      reason: 'guard',
    });
    await clock.advance(60_000);
    expect(story()).toEqual(['started', 'rejected guard', 'started', 'rejected guard']);
    expect(journal.texts('warn')).toContain('method@2026-01-01T00:01:00Z was rejected here: guard');
    expect(app.get(Work).runs).toBe(0);
    await app.close();
  });

  it('stays a rejection when a filter catches everything', async () => {
    begin();
    class Jobs {
      @UseGuards({ canActivate: () => false })
      @UseFilters(Swallows)
      @DistributedCron('* * * * *', { key: 'job' })
      run() {}
    }
    const { app, registry, story } = await started({ providers: [Jobs] });
    await expect(registry.triggerAndWait('job')).rejects.toMatchObject({ reason: 'guard' });
    expect(story()).toEqual(['started', 'rejected guard']);
    await app.close();
  });

  it.each([
    ['a guard that throws', () => new UnauthorizedException('no token'), 'no token'],
    ['a guard that throws what Nest would', () => new ForbiddenException('not today'), 'not today'],
  ])('is not the same as %s: that fails the fire with its error', async (_, error, message) => {
    class Jobs {
      @UseGuards({
        canActivate: () => {
          throw error();
        },
      })
      @DistributedCron('* * * * *', { key: 'job' })
      run() {}
    }
    const { app, registry, story } = await started({ providers: [Jobs] });
    await expect(registry.triggerAndWait('job')).rejects.toThrow(message);
    expect(story()).toEqual(['started', 'failed']);
    await app.close();
  });

  it('is not the same as a method that throws the error Nest makes of it', async () => {
    class Jobs {
      @UseGuards({ canActivate: () => true })
      @DistributedCron('* * * * *', { key: 'job' })
      run() {
        throw new ForbiddenException('Forbidden resource');
      }
    }
    const { app, registry, story } = await started({ providers: [Jobs] });
    await expect(registry.triggerAndWait('job')).rejects.toBeInstanceOf(ForbiddenException);
    expect(story()).toEqual(['started', 'failed']);
    await app.close();
  });
});

describe('global guards', () => {
  @Injectable()
  class Jobs {
    @DistributedCron('* * * * *', { key: 'job' })
    run() {
      return 'ran';
    }
  }
  const providers = [Jobs, { provide: APP_GUARD, useClass: Gate }];

  it('do not stand around fires: they are written for HTTP', async () => {
    begin(false);
    const { app, registry } = await started({ providers });
    await expect(registry.triggerAndWait('job')).resolves.toBe('ran');
    expect(seen).toEqual([]);
    await app.close();
  });

  it('not even around a method that has a guard of its own', async () => {
    begin();
    const closed = { provide: APP_GUARD, useValue: { canActivate: () => false } };
    const { app, registry } = await started({ providers: [Work, closed] });
    await expect(registry.triggerAndWait('method')).resolves.toBe(42);
    await app.close();
  });

  it('do where the options ask for it', async () => {
    begin(false);
    const { app, registry } = await started({ options: { globalEnhancers: true }, providers });
    await expect(registry.triggerAndWait('job')).rejects.toMatchObject({ reason: 'guard' });
    expect(seen).toEqual(['guard distributed-cron job undefined Jobs']);
    await app.close();
  });
});

describe('a guard that Nest has not made would let everybody in, so the application does not start', () => {
  it.each([
    ['on an instance out of a factory', { provide: Work, useFactory: () => new Work() }],
    ['on an instance given as a value', { provide: Work, useValue: new Work() }],
  ])('%s', async (_, provider) => {
    const { faults } = await refused({ providers: [provider] });
    expect(faults).toMatchObject([
      { code: 'ENHANCER_MISSING', subject: 'Work.onMethod', expected: 'Gate to stand around the method' },
      { code: 'ENHANCER_MISSING', subject: 'Work.onMethod', expected: 'Doubles to stand around the method' },
    ]);
    expect(faults[0]?.hint).toBe(
      'List Work among the providers of its module, or give the decorator an instance: new Gate(…).',
    );
  });

  it('on a method whose name is a symbol', async () => {
    const run = Symbol('run');
    class Jobs {
      @UseGuards(Gate)
      @DistributedCron('* * * * *', { key: 'job' })
      [run]() {}
    }
    expect((await refused({ providers: [Jobs] })).faults).toMatchObject([{ code: 'ENHANCER_MISSING' }]);
  });
});
