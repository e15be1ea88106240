import { describe, expect, it } from '@jest/globals';
import { type DynamicModule, Inject, Injectable, Module, type Type } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  CLOCK,
  type CoordinationBackend,
  DistributedCron,
  DistributedCronEvents,
  DistributedCronModule,
  type DistributedCronModuleOptions,
  DistributedCronRegistry,
  type FireContext,
  MemoryBackend,
  MemoryStore,
} from 'nestjs-distributed-cron';
import { VirtualClock } from 'nestjs-distributed-cron/testing';
import { compiled, Journal, started } from './application.fixture.js';

/** What happened, in order. */
const steps: string[] = [];
let endMethod: () => void = () => undefined;

/** The application's own store client, which its own provider quits. */
@Injectable()
class StoreClient {
  open = true;

  onApplicationBootstrap() {
    steps.push('store started');
  }

  onModuleDestroy() {
    this.open = false;
    steps.push('store quit');
  }
}

@Module({ providers: [StoreClient], exports: [StoreClient] })
class StoreModule {}

@Injectable()
class Printer {
  open = true;

  async onApplicationBootstrap() {
    await undefined;
    steps.push('printer started');
  }

  onModuleDestroy() {
    this.open = false;
    steps.push('printer quit');
  }
}

@Injectable()
class Jobs {
  constructor(
    private readonly printer: Printer,
    private readonly client: StoreClient,
  ) {}

  @DistributedCron('* * * * *', { key: 'print' })
  async print() {
    steps.push('print begins');
    await new Promise<void>((resolve) => {
      endMethod = resolve;
    });
    steps.push(
      `print ends, printer ${this.printer.open ? 'open' : 'gone'}, store ${this.client.open ? 'open' : 'gone'}`,
    );
  }
}

@Module({ imports: [StoreModule], providers: [Printer, Jobs] })
class JobsModule {}

@Module({ imports: [JobsModule] })
class FeatureModule {
  onApplicationBootstrap() {
    steps.push('feature started');
  }
}

@Injectable()
class Root {
  onModuleInit() {
    steps.push('root initialised');
  }

  onApplicationBootstrap() {
    steps.push('root started');
  }

  onModuleDestroy() {
    steps.push('root quit');
  }
}

/** A backend on the application's client, which says when it is called. */
function backendOn(client: StoreClient): CoordinationBackend {
  return {
    store: 'own',
    claimer: {
      claim: async () => {
        steps.push(`claim, store ${client.open ? 'open' : 'gone'}`);
        return true;
      },
    },
    open: async () => void steps.push('backend opened'),
    close: async () => void steps.push(`backend closed, store ${client.open ? 'open' : 'gone'}`),
  };
}

const cronModule = () =>
  DistributedCronModule.forRootAsync({
    imports: [StoreModule],
    inject: [StoreClient],
    useFactory: (client: StoreClient) => ({ backend: backendOn(client) }),
  });

async function application(imports: (DynamicModule | Type)[]) {
  steps.length = 0;
  const clock = new VirtualClock();
  @Module({ imports, providers: [Root] })
  class AppModule {}
  const testing = await Test.createTestingModule({ imports: [AppModule] })
    .setLogger(new Journal())
    .overrideProvider(CLOCK)
    .useValue(clock)
    .compile();
  testing.get(DistributedCronEvents).events$.subscribe(({ type }) => {
    if (type.startsWith('scheduler.')) steps.push(type);
  });
  return { clock, app: await testing.init() };
}

const NESTED = () => {
  @Module({ imports: [cronModule()] })
  class CronFeature {}
  @Module({ imports: [CronFeature] })
  class Outer {}
  return Outer;
};

describe.each<[string, () => (DynamicModule | Type)[]]>([
  ['first', () => [cronModule(), FeatureModule]],
  ['last', () => [FeatureModule, cronModule()]],
  ['in a module within a module', () => [NESTED(), FeatureModule]],
  ['in a module within a module, after the others', () => [FeatureModule, NESTED()]],
])('imported %s', (_, imports) => {
  it('the scheduler starts after every other provider has started', async () => {
    const { app } = await application(imports());
    expect(steps[0]).toBe('root initialised');
    expect(steps.slice(1, 5).sort()).toEqual(['feature started', 'printer started', 'root started', 'store started']);
    expect(steps.slice(5)).toEqual(['scheduler.started']);
    await app.close();
  });

  it('it drains before any other provider quits: a running method ends with all it uses, then the clients quit', async () => {
    const { app, clock } = await application(imports());
    await clock.advance(60_000);
    steps.length = 0;
    const closing = app.close();
    await clock.settle();
    expect(steps).toEqual(['scheduler.draining']);
    endMethod();
    await closing;
    expect(steps.slice(1, 4)).toEqual([
      'print ends, printer open, store open',
      'scheduler.stopped',
      'backend closed, store open',
    ]);
    expect(steps.slice(4).sort()).toEqual(['printer quit', 'root quit', 'store quit']);
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('closing an application', () => {
  it('lets a claim on its way run if it is granted, asks no other, and resolves once all have ended', async () => {
    const clock = new VirtualClock();
    const asked: string[] = [];
    let grant: () => void = () => undefined;
    let endRun: () => void = () => undefined;
    const ran: string[] = [];
    class Work {
      @DistributedCron('0 * * * * *', { key: 'running' })
      async running(fire: FireContext) {
        await new Promise<void>((resolve) => {
          endRun = resolve;
        });
        ran.push(fire.entryKey);
      }

      @DistributedCron('10 * * * * *', { key: 'asked' })
      asked(fire: FireContext) {
        ran.push(fire.entryKey);
      }

      @DistributedCron('11 * * * * *', { key: 'due' })
      due() {
        ran.push('due');
      }

      @DistributedCron('5 * * * * *', { key: 'waiting', jitter: '30s' })
      waiting() {
        ran.push('waiting');
      }
    }
    const { app, story } = await started({
      clock,
      options: {
        claimer: {
          claim: (_fireKey, { entryKey }) => {
            asked.push(entryKey);
            if (entryKey !== 'asked') return Promise.resolve(entryKey === 'running');
            return new Promise((resolve) => {
              grant = () => resolve(true);
            });
          },
        },
      },
      providers: [Work],
    });
    await clock.advance(60_000);
    asked.length = 0;
    ran.length = 0;
    // Half a second after its claim was asked, half a second before the next entry is due.
    await clock.advanceTo('2026-01-01T00:01:10.500Z');
    let closed = false;
    const closing = app.close().then(() => {
      closed = true;
    });
    await clock.advance(2_000);
    grant();
    await clock.settle();
    expect(ran).toContain('asked');
    expect(ran).not.toContain('due');
    expect(closed).toBe(false);
    endRun();
    await closing;
    expect(asked.filter((key) => key === 'due')).toEqual([]);
    expect(ran).toContain('running');
    expect(
      story().filter((chapter) => chapter === 'canceled draining').length +
        asked.filter((key) => key === 'waiting').length,
    ).toBe(1);
    expect(clock.pendingTimers).toBe(0);
  });

  it('aborts a method that has not ended by the deadline, and gives it up a second later', async () => {
    let signal: AbortSignal | undefined;
    class Work {
      @DistributedCron('* * * * *', { key: 'endless' })
      endless(fire: FireContext) {
        signal = fire.signal;
        return new Promise(() => undefined);
      }
    }
    const { app, clock, journal, story } = await started({ options: { drainDeadline: '3s' }, providers: [Work] });
    await clock.advance(60_000);
    let closed = false;
    const closing = app.close().then(() => {
      closed = true;
    });
    await clock.advance(2_999);
    expect(signal?.aborted).toBe(false);
    await clock.advance(1);
    expect(signal?.aborted).toBe(true);
    expect(signal?.reason).toMatchObject({ code: 'DRAIN_DEADLINE' });
    expect(closed).toBe(false);
    await clock.advance(1_000);
    await closing;
    expect(story()).toEqual(['started', 'failed']);
    expect(journal.texts('warn').at(-1)).toBe('stopped; 1 running method was aborted at the deadline');
    expect(clock.pendingTimers).toBe(0);
  });

  it('twice, or at once, drains once and closes the backend once', async () => {
    let closes = 0;
    const clock = new VirtualClock();
    const memory = new MemoryBackend({ store: new MemoryStore({ clock }) });
    const backend: CoordinationBackend = {
      store: 'counted',
      claimer: memory.claimer,
      close: async () => {
        closes += 1;
      },
    };
    const { app, events } = await started({ clock, options: { backend }, providers: [] });
    const registry = app.get(DistributedCronRegistry);
    registry.add('job', '* * * * *', () => undefined);
    await clock.advance(60_000);
    await Promise.all([app.close(), app.close()]);
    await app.close();
    expect(closes).toBe(1);
    expect(events.filter(({ type }) => type === 'scheduler.stopped')).toHaveLength(1);
    expect(() => registry.trigger('job')).toThrow(expect.objectContaining({ code: 'SCHEDULER_STOPPED' }));
  });

  it('whose backend cannot be closed is told in the log, and the other hooks run', async () => {
    const quits: string[] = [];
    class Other {
      onModuleDestroy() {
        quits.push('other');
      }
    }
    const clock = new VirtualClock();
    const { app, journal } = await started({
      clock,
      options: {
        backend: {
          store: 'sticky',
          claimer: { claim: async () => true },
          now: async () => clock.now(),
          close: async () => Promise.reject(new Error('still busy')),
        },
      },
      providers: [Other],
    });
    await clock.settle();
    await app.close();
    expect(quits).toEqual(['other']);
    expect(journal.texts('error')).toEqual([expect.stringMatching(/^stopping failed: .*still busy/)]);
  });

  it('that was never initialised, or whose start failed elsewhere, leaves nothing behind', async () => {
    const fresh = await compiled({ providers: [] });
    await fresh.testing.close();
    expect(fresh.clock.pendingTimers).toBe(0);

    class Fails {
      onApplicationBootstrap() {
        throw new Error('no printer');
      }
    }
    class Work {
      runs = 0;

      @DistributedCron('* * * * * *', { key: 'work' })
      run() {
        this.runs += 1;
      }
    }
    const failing = await compiled({ providers: [Fails, Work] });
    await expect(failing.testing.init()).rejects.toThrow('no printer');
    await failing.clock.advance(5_000);
    expect(failing.testing.get(Work).runs).toBe(0);
    // Nest rejects this close with the error of the start.
    await failing.testing.close().catch(() => undefined);
    expect(failing.clock.pendingTimers).toBe(0);
  });

  it('while nothing was due leaves no timer', async () => {
    class Work {
      @DistributedCron('0 0 1 1 *')
      run() {}
    }
    const { app, clock } = await started({ providers: [Work] });
    expect(clock.pendingTimers).toBe(1);
    await app.close();
    expect(clock.pendingTimers).toBe(0);
  });

  it('by the registry first, the application then closes at once', async () => {
    const { app, registry, events } = await started({ providers: [] });
    await registry.drain();
    expect(registry.snapshot().state).toBe('stopped');
    await app.close();
    expect(events.map(({ type }) => type)).toEqual(['scheduler.started', 'scheduler.draining', 'scheduler.stopped']);
  });
});

describe('before the start', () => {
  it('the registry can be injected and takes entries, which fire from the start on', async () => {
    const fired: string[] = [];
    @Injectable()
    class Adds {
      constructor(@Inject(DistributedCronRegistry) private readonly registry: DistributedCronRegistry) {}

      onModuleInit() {
        this.registry.add('early', '* * * * *', ({ fireKey }) => void fired.push(fireKey));
      }

      onApplicationBootstrap() {
        this.registry.add('later', '* * * * *', ({ fireKey }) => void fired.push(fireKey));
      }
    }
    const options: DistributedCronModuleOptions = { entries: { early: { cron: '30 * * * * *' } } };
    const { app, clock } = await started({ options, providers: [Adds] });
    await clock.advance(60_000);
    expect(fired).toEqual(['early@2026-01-01T00:00:30Z', 'later@2026-01-01T00:01:00Z']);
    await app.close();
  });
});
