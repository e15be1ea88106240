import { describe, expect, it } from '@jest/globals';
import { Injectable, Module } from '@nestjs/common';
import {
  alignedInterval,
  type ConfigurationError,
  DistributedCron,
  DistributedCronModule,
  type DistributedCronModuleOptions,
  type DistributedCronOptionsFactory,
  MemoryBackend,
} from 'nestjs-distributed-cron';
import { compiled, refused, started } from './application.fixture.js';

@Injectable()
class Reports {
  @DistributedCron('0 9 * * MON-FRI', { key: 'daily-report' })
  daily() {}
}

const faultsOf = (error: ConfigurationError) => error.faults.map(({ subject, code }) => `${subject} ${code}`);

describe('options can be given', () => {
  it('not at all', async () => {
    const { app, keys } = await started({ cron: DistributedCronModule.forRoot(), providers: [Reports] });
    expect(keys()).toEqual(['daily-report']);
    await app.close();
  });

  @Module({ providers: [{ provide: 'ZONE', useValue: 'Asia/Tokyo' }], exports: ['ZONE'] })
  class ZoneModule {}

  @Injectable()
  class OptionsFactory implements DistributedCronOptionsFactory {
    createDistributedCronOptions() {
      return Promise.resolve({ timeZone: 'Asia/Tokyo' });
    }
  }

  @Module({ providers: [OptionsFactory], exports: [OptionsFactory] })
  class OptionsModule {}

  it.each([
    [
      'by a factory with imports and injected providers',
      DistributedCronModule.forRootAsync({
        imports: [ZoneModule],
        inject: ['ZONE'],
        useFactory: async (timeZone: string) => ({ timeZone }),
      }),
    ],
    ['by a class', DistributedCronModule.forRootAsync({ useClass: OptionsFactory })],
    [
      'by a provider that exists',
      DistributedCronModule.forRootAsync({ imports: [OptionsModule], useExisting: OptionsFactory }),
    ],
  ])('%s', async (_, cron) => {
    const { app, registry } = await started({ cron, providers: [Reports] });
    expect(registry.list()).toMatchObject([{ key: 'daily-report', timeZone: 'Asia/Tokyo' }]);
    await app.close();
  });

  it('but a factory that rejects stops the application with its own error', async () => {
    const cron = DistributedCronModule.forRootAsync({
      useFactory: async () => {
        throw new Error('no settings');
      },
    });
    await expect(compiled({ cron })).rejects.toThrow('no settings');
  });

  it('and a factory that forgets to return them stops the application: without options there is no store', async () => {
    const cron = DistributedCronModule.forRootAsync({ useFactory: () => undefined as never });
    const error = await refused({ cron });
    expect(error.faults).toMatchObject([{ code: 'OPTION_TYPE', subject: 'forRoot', got: 'undefined' }]);
    expect(error.message).toContain('Does the factory return its options?');
  });
});

describe('a faulty configuration', () => {
  @Injectable()
  class Orders {
    @DistributedCron('61 * * * *', { key: 'expire', jitter: 'soon' })
    expire() {}

    @DistributedCron('* * * * *', { retries: 3 } as never)
    ship() {}

    @DistributedCron(process.env.NO_SUCH_VARIABLE as string, { key: 'count', timeZone: 'Europe/Nowhere' })
    count() {}
  }

  const given = {
    options: {
      jiter: '5s',
      timeZone: 'Europe/Nowhere',
      overlap: 'wait',
      entries: { 'daily-report': { cron: '0 25 * * *', timeout: -1 }, 'dayly-report': {} },
    } as unknown as DistributedCronModuleOptions,
    providers: [Reports, Orders],
  };

  it('is reported once and whole: options, entries, and what configuration changes of them', async () => {
    const error = await refused(given);
    expect(faultsOf(error).sort()).toEqual(
      [
        'forRoot.jiter OPTION_UNKNOWN',
        'forRoot.overlap OPTION_VALUE',
        'forRoot.timeZone OPTION_VALUE',
        'forRoot.entries["daily-report"].timeout OPTION_VALUE',
        'forRoot.entries["daily-report"].cron EXPRESSION_INVALID',
        'forRoot.entries["dayly-report"] ENTRY_UNKNOWN',
        'Orders.expire, key "expire", option jitter OPTION_VALUE',
        'Orders.expire, key "expire" EXPRESSION_INVALID',
        'Orders.ship, key "Orders.ship", option retries OPTION_UNKNOWN',
        'Orders.count, key "count" TIME_ZONE_UNKNOWN',
      ].sort(),
    );
  });

  it('says what was expected, what was got, and the remedy', async () => {
    const { message, faults } = await refused(given);
    expect(message).toMatch(/^nestjs-distributed-cron cannot start: 10 faults\.\n/);
    expect(message).toContain(
      'forRoot.jiter: expected a known option, got "jiter" [OPTION_UNKNOWN]\n    Did you mean "jitter"?',
    );
    expect(message).toContain('forRoot.overlap: expected one of "allow", "skip", "queue", got "wait"');
    expect(message).toContain('Did you mean "daily-report"?');
    expect(message).toContain('expected a cron expression with a valid minute field, got "61 * * * *"');
    expect(message).toContain('got time zone "Europe/Nowhere"');
    expect(
      faults.find(({ code, subject }) => code === 'EXPRESSION_INVALID' && subject.startsWith('Orders')),
    ).toMatchObject({
      field: 'minute',
    });
  });

  it('schedules nothing, and the application can be closed', async () => {
    const { testing, clock, journal } = await compiled(given);
    await expect(testing.init()).rejects.toThrow('cannot start');
    expect(clock.pendingTimers).toBe(0);
    expect(journal.lines).toEqual([]);
    // Nest itself rejects the close of an application whose start was rejected.
    await testing.close().catch(() => undefined);
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('an expression is refused at start', () => {
  const refusedExpression = async (expression: unknown) => {
    @Injectable()
    class Jobs {
      @DistributedCron(expression as string, { key: 'job' })
      run() {}
    }
    return (await refused({ providers: [Jobs] })).faults;
  };

  it.each([
    ['0 0 30 2 *', 'day-of-month'],
    ['0 0 31 4,6,9,11 *', 'day-of-month'],
    ['0 0 1 0 *', 'month'],
    ['0 0 * * FRI-MON', 'day-of-week'],
    ['10-5 * * * *', 'minute'],
    ['*/90 * * * *', 'minute'],
    ['*/0 * * * *', 'minute'],
    ['1,,2 * * * *', 'minute'],
    ['0 0 * * MON_FRI', 'day-of-week'],
    ['0x5 * * * *', 'minute'],
    ['1.5 * * * *', 'minute'],
  ])('%s, naming entry, field and reason', async (expression, field) => {
    expect(await refusedExpression(expression)).toEqual([
      expect.objectContaining({
        code: 'EXPRESSION_INVALID',
        subject: 'Jobs.run, key "job"',
        field,
        got: `"${expression}"`,
        hint: expect.stringMatching(/\w/),
      }),
    ]);
  });

  it.each([['* * * *'], ['']])('"%s", which has too few fields', async (expression) => {
    expect(await refusedExpression(expression)).toMatchObject([
      { code: 'EXPRESSION_INVALID', subject: 'Jobs.run, key "job"' },
    ]);
  });

  it('when it comes from an environment variable that is not set', async () => {
    expect(await refusedExpression(process.env.NO_SUCH_VARIABLE)).toMatchObject([
      { code: 'EXPRESSION_INVALID', got: 'undefined (is an environment variable unset?)' },
    ]);
  });

  it.each([[null], [5], [{}], [{ next: () => null }], [Symbol('cron')]])(
    'when it is no expression at all: %p',
    async (schedule) => {
      expect(await refusedExpression(schedule)).toHaveLength(1);
    },
  );
});

describe('a time zone is refused at start', () => {
  const refusedZone = async (timeZone: unknown) => {
    @Injectable()
    class Jobs {
      @DistributedCron('0 9 * * *', { key: 'job', timeZone: timeZone as string })
      run() {}
    }
    return (await refused({ providers: [Jobs] })).faults;
  };

  it.each([['Europe/Nowhere'], ['+25:00'], ['']])('"%s", naming entry and zone', async (timeZone) => {
    expect(await refusedZone(timeZone)).toMatchObject([
      { code: 'TIME_ZONE_UNKNOWN', subject: 'Jobs.run, key "job"', got: `time zone "${timeZone}"` },
    ]);
  });

  it('in forRoot, and in a TZ= prefix', async () => {
    expect((await refused({ options: { timeZone: '' } })).faults).toMatchObject([
      { code: 'OPTION_VALUE', subject: 'forRoot.timeZone' },
    ]);

    @Injectable()
    class Jobs {
      @DistributedCron('TZ=Europe/Nowhere 0 9 * * *')
      run() {}
    }
    expect((await refused({ providers: [Jobs] })).faults).toMatchObject([
      { code: 'TIME_ZONE_UNKNOWN', subject: 'Jobs.run, key "Jobs.run"' },
    ]);
  });

  it('beside a TZ= prefix, or beside a schedule that has its own instants', async () => {
    @Injectable()
    class Jobs {
      @DistributedCron('TZ=Asia/Tokyo 0 9 * * *', { timeZone: 'Europe/Berlin' })
      twice() {}

      @DistributedCron(alignedInterval('1h'), { timeZone: 'Europe/Berlin' })
      interval() {}
    }
    expect(faultsOf(await refused({ providers: [Jobs] }))).toEqual([
      'Jobs.twice, key "Jobs.twice" EXPRESSION_INVALID',
      'Jobs.interval, key "Jobs.interval" SCHEDULE_INVALID',
    ]);
  });
});

describe('without a zone', () => {
  it('an entry is in UTC; forRoot sets another for all that name none', async () => {
    @Injectable()
    class Jobs {
      @DistributedCron('0 9 * * *', { key: 'plain' })
      plain() {}

      @DistributedCron('0 9 * * *', { key: 'named', timeZone: 'America/New_York' })
      named() {}

      @DistributedCron('TZ=Asia/Tokyo 0 9 * * *', { key: 'prefixed' })
      prefixed() {}
    }
    const zones = async (options: DistributedCronModuleOptions) => {
      const { app, registry } = await started({ options, providers: [Jobs] });
      const found = Object.fromEntries(registry.list().map(({ key, nextAt }) => [key, nextAt?.toISOString()]));
      await app.close();
      return found;
    };
    expect(await zones({})).toEqual({
      plain: '2026-01-01T09:00:00.000Z',
      named: '2026-01-01T14:00:00.000Z',
      prefixed: '2026-01-02T00:00:00.000Z',
    });
    expect(await zones({ timeZone: 'Europe/Berlin' })).toMatchObject({
      plain: '2026-01-01T08:00:00.000Z',
      named: '2026-01-01T14:00:00.000Z',
    });
  });
});

describe('configuration by entry key', () => {
  @Injectable()
  class Jobs {
    @DistributedCron('0 9 * * *', { key: 'report', timeZone: 'Asia/Tokyo', overlap: 'skip' })
    report() {}

    @DistributedCron('0 9 * * *', { key: 'count', enabled: false })
    count() {}
  }

  it('changes expression, zone and policies, and leaves what it does not name', async () => {
    const { app, registry, keys } = await started({
      options: {
        entries: {
          report: { cron: '30 6 * * *', timeZone: 'Europe/Berlin', maxConcurrent: 3 },
          count: { enabled: true },
        },
      },
      providers: [Jobs],
    });
    expect(keys()).toEqual(['count', 'report']);
    expect(registry.next('report')[0]?.toISOString()).toBe('2026-01-01T05:30:00.000Z');
    await app.close();
  });

  it('ignores what an unset environment variable leaves undefined', async () => {
    const { app, registry } = await started({
      options: { entries: { report: { cron: process.env.NO_SUCH_VARIABLE as string } } },
      providers: [Jobs],
    });
    expect(registry.next('report')[0]?.toISOString()).toBe('2026-01-02T00:00:00.000Z');
    await app.close();
  });

  it('takes an entry off the schedule', async () => {
    const { app, keys, journal } = await started({
      options: { entries: { report: { enabled: false } } },
      providers: [Jobs],
    });
    expect(keys()).toEqual([]);
    expect(journal.texts('log')).toContain('entry report: "0 9 * * *" Asia/Tokyo, disabled');
    await app.close();
  });

  it('is read as strictly as code', async () => {
    const error = await refused({
      options: {
        entries: {
          report: { cron: 'daily', enabled: 'no', timeZone: 'Mars/Olympus', missed: 'never', overlaps: 'skip' },
          count: null,
        },
      } as never,
      providers: [Jobs],
    });
    expect(faultsOf(error)).toEqual([
      'forRoot.entries["report"].overlaps OPTION_UNKNOWN',
      'forRoot.entries["report"].enabled OPTION_VALUE',
      'forRoot.entries["report"].missed OPTION_VALUE',
      'forRoot.entries["report"].cron TIME_ZONE_UNKNOWN',
      'forRoot.entries["count"] OPTION_TYPE',
    ]);
  });

  it('must be by an object', async () => {
    const error = await refused({ options: { entries: [] as never } });
    expect(faultsOf(error)).toEqual(['forRoot.entries OPTION_VALUE']);
  });
});

describe('across fields', () => {
  const backend = new MemoryBackend();

  @Injectable()
  class Jobs {
    @DistributedCron('0 * * * *', { key: 'hourly', jitter: '59m30s' })
    hourly() {}

    @DistributedCron('* * * * * *', { key: 'beat', jitter: '200s' })
    beat() {}

    @DistributedCron('* * * * * *', { key: 'quick', jitter: '199s' })
    quick() {}
  }

  it('jitter and claimPatience stay below retention, and jitter below 200 intervals of its entry', async () => {
    const error = await refused({ options: { backend }, providers: [Jobs] });
    expect(error.faults).toMatchObject([
      {
        code: 'JITTER_TOO_LONG',
        subject: 'Jobs.hourly, key "hourly"',
        expected: 'jitter + claimPatience below retention (1h)',
        got: '59m30s + 30s',
      },
      {
        code: 'JITTER_TOO_LONG',
        subject: 'Jobs.beat, key "beat"',
        expected: 'jitter below 200 intervals of the entry (3m20s)',
        got: '3m20s',
      },
    ]);
  });

  it('claimPatience stays below retention without jitter too', async () => {
    const error = await refused({ options: { backend, claimPatience: '1h' }, providers: [Reports] });
    expect(faultsOf(error)).toEqual(['forRoot.claimPatience OPTION_CONFLICT']);
  });

  it('a claimer of the application keeps claims by its own rules', async () => {
    const { app, keys } = await started({ options: { claimer: { claim: async () => true } }, providers: [Jobs] });
    expect(keys()).toEqual(['beat', 'hourly', 'quick']);
    await app.close();
  });

  it('a backend brings its own claimer', async () => {
    const error = await refused({ options: { backend, claimer: backend.claimer } });
    expect(faultsOf(error)).toEqual(['forRoot.claimer OPTION_CONFLICT']);
  });
});
