import { describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import {
  type CoordinationBackend,
  DistributedCron,
  DistributedCronRegistry,
  MemoryBackend,
  MemoryStore,
} from 'nestjs-distributed-cron';
import { VirtualClock } from 'nestjs-distributed-cron/testing';
import { started } from './application.fixture.js';

@Injectable()
class Reports {
  runs = 0;

  @DistributedCron('0 9 * * MON-FRI', { key: 'daily-report', timeZone: 'Europe/Berlin' })
  daily() {
    this.runs += 1;
    return this.runs;
  }

  @DistributedCron('@every 90s', { key: 'beat', enabled: false })
  beat() {}

  @DistributedCron(() => null, { key: 'never' })
  never() {}

  @DistributedCron(
    () => {
      throw new Error('no calendar');
    },
    { key: 'broken' },
  )
  broken() {}
}

const elector = { isLeader: () => true };

describe('at start the log says', () => {
  it('for each entry its key, expression, zone and next instant, or why there is none', async () => {
    @Injectable()
    class Adds {
      constructor(private readonly registry: DistributedCronRegistry) {}

      onModuleInit() {
        this.registry.add('added', '30 6 * * *', () => undefined);
      }
    }
    const { app, journal } = await started({ providers: [Reports, Adds] });
    expect(journal.texts('log').filter((text) => text.startsWith('entry '))).toEqual([
      'entry beat: "@every 90s", disabled',
      'entry added: "30 6 * * *" UTC, next 2026-01-01T06:30:00.000Z',
      'entry daily-report: "0 9 * * MON-FRI" Europe/Berlin, next 2026-01-01T08:00:00.000Z',
      'entry never: "unnamed", no further instant',
      'entry broken: "unnamed", not scheduled (its schedule failed)',
    ]);
    expect(journal.texts('error')).toEqual(['broken is not scheduled any more, its schedule failed: no calendar']);
    await app.close();
  });

  it('in one line what coordinates: store, namespace, leadership, clock offset, zone data', async () => {
    const clock = new VirtualClock();
    const backend = new MemoryBackend({ store: new MemoryStore({ clock }) });
    const ahead: CoordinationBackend = {
      store: backend.store,
      claimer: backend.claimer,
      now: async () => clock.now() + 250,
    };
    const { app, journal } = await started({ clock, options: { backend: ahead, namespace: 'shop', elector } });
    await clock.settle();
    const lines = journal.texts('log').filter((text) => text.startsWith('coordination:'));
    expect(lines).toEqual([
      expect.stringMatching(
        /^coordination: store memory, namespace "shop", leadership on, clock offset to the store \+250\.0 ms, instance [0-9a-f-]{36} \(.+, pid \d+\), zone data \d{4}/,
      ),
    ]);
    expect(journal.texts('warn')).toEqual([]);
    await app.close();
  });

  it('that the clock offset is unknown where the store tells no time or does not answer; the application starts all the same', async () => {
    const claimer = { claim: async () => true };
    const silent = await started({ options: { claimer } });
    await silent.clock.settle();
    expect(silent.journal.texts('log').join()).toContain('store custom');
    expect(silent.journal.texts('log').join()).toContain('clock offset to the store unknown (the store tells no time)');
    await silent.app.close();

    const down = await started({
      options: {
        backend: {
          store: 'redis',
          claimer,
          now: async () => {
            throw new Error('connection refused');
          },
        },
      },
    });
    await down.clock.settle();
    expect(down.journal.texts('warn').join()).toContain('connection refused');
    expect(down.journal.texts('log').join()).toContain('unknown (the store did not answer)');
    await down.app.close();
  });

  it('once that without a claimer each replica runs every fire', async () => {
    const { app, journal } = await started({ providers: [Reports] });
    expect(journal.texts('warn')).toEqual([expect.stringContaining('each replica runs every fire')]);
    await app.close();
  });

  it('once that an elector without a claimer does not keep two replicas apart', async () => {
    const { app, journal } = await started({ options: { elector }, providers: [Reports] });
    expect(journal.texts('warn')).toEqual([expect.stringContaining('An elector without a claimer')]);
    await app.close();
  });

  it('nothing of the kind where a backend or a claimer decides', async () => {
    const { app, journal } = await started({ options: { claimer: { claim: async () => true } }, providers: [Reports] });
    expect(journal.texts('warn')).toEqual([]);
    await app.close();
  });

  it('what the backend has to say of how its store is set up, as warnings', async () => {
    const backend = Object.assign(new MemoryBackend(), {
      warnings: async () => ['maxmemory-policy is allkeys-lru: an evicted head is a forgotten promise'],
    });
    const { app, clock, journal } = await started({ options: { backend } });
    await clock.settle();
    expect(journal.texts('warn')).toEqual(['maxmemory-policy is allkeys-lru: an evicted head is a forgotten promise']);
    await app.close();
  });

  it('that a key comes from a class name of a minifier, or from none', async () => {
    @Injectable()
    class a {
      @DistributedCron('* * * * *')
      b() {}
    }
    const Unnamed = (() =>
      class {
        run() {}
      })();
    DistributedCron('* * * * *')(
      Unnamed.prototype,
      'run',
      Object.getOwnPropertyDescriptor(Unnamed.prototype, 'run') as PropertyDescriptor,
    );
    const { app, journal, keys } = await started({
      options: { claimer: { claim: async () => true } },
      providers: [a, Unnamed],
    });
    expect(keys()).toEqual(['a.b', 'anonymous class.run']);
    expect(journal.texts('warn')).toEqual([
      expect.stringMatching(/^entry a\.b: its key comes from the class name "a", which looks like a minifier's/),
      expect.stringMatching(/^entry anonymous class\.run: its key comes from a class without a name/),
    ]);
    await app.close();
  });
});

describe('enabled: false', () => {
  it('schedules nothing and asks the store nothing, says so, and manual triggers work', async () => {
    const clock = new VirtualClock();
    let calls = 0;
    const backend: CoordinationBackend = {
      store: 'counted',
      claimer: {
        claim: async () => {
          calls += 1;
          return true;
        },
      },
      open: async () => {
        calls += 1;
      },
      now: async () => {
        calls += 1;
        return 0;
      },
      close: async () => {
        calls += 1;
      },
    };
    const { app, journal, registry } = await started({
      clock,
      options: { enabled: false, backend },
      providers: [Reports],
    });
    expect(journal.texts('log')).toContain(
      'entry daily-report: "0 9 * * MON-FRI" Europe/Berlin, not scheduled (enabled: false)',
    );
    expect(journal.texts('log').join()).toContain('clock offset to the store not asked');
    await clock.advance(86_400_000);
    expect(app.get(Reports).runs).toBe(0);
    await expect(registry.triggerAndWait('daily-report')).resolves.toBe(1);
    await app.close();
    expect(calls).toBe(0);
    expect(clock.pendingTimers).toBe(0);
  });

  it('warns of no missing claimer, since no fire is scheduled', async () => {
    const { app, journal } = await started({ options: { enabled: false }, providers: [Reports] });
    expect(journal.texts('warn')).toEqual([]);
    await app.close();
  });
});
