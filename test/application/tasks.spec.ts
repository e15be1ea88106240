import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { type CanActivate, Injectable, Scope, UseGuards } from '@nestjs/common';
import {
  DistributedTasks,
  fetchedMembership,
  MemoryBackend,
  MemoryStore,
  ParallelTask,
  SingletonTask,
  StaticMembership,
  type TaskContext,
} from 'nestjs-distributed-cron';
import { VirtualClock } from 'nestjs-distributed-cron/testing';
import { compiled, type Given, refused, started } from './application.fixture.js';

const SECOND = 1_000;

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const app of open.splice(0)) await app.close();
});

async function running(given: Given) {
  const application = await started(given);
  open.push(application.app);
  return { ...application, tasks: application.app.get(DistributedTasks) };
}

/** Applications on one clock and one store. */
async function fleet(size: number, given: Given) {
  const clock = new VirtualClock();
  const store = new MemoryStore({ clock });
  const replicas = [];
  for (let index = 0; index < size; index++) {
    const options = { backend: new MemoryBackend({ store }), memberName: `web-${index}`, ...given.options };
    replicas.push(await running({ ...given, clock, options }));
  }
  return { clock, replicas };
}

describe('an application with tasks', () => {
  it('in six seconds ran the singleton six times over four replicas, the parallel one twenty-four times', async () => {
    const runs = { singleton: 0, parallel: 0 };
    @Injectable()
    class Jobs {
      @SingletonTask({ key: 'sync', initialDelay: 0 })
      sync() {
        runs.singleton += 1;
        return '1s';
      }

      @ParallelTask({ key: 'flush', initialDelay: 0 })
      async flush() {
        runs.parallel += 1;
        return SECOND;
      }
    }
    const { clock } = await fleet(4, { providers: [Jobs] });
    await clock.advance(6 * SECOND);
    expect(runs).toEqual({ singleton: 6, parallel: 24 });
  });

  it('gives a method its context, on its instance; inherited tasks count, overridden ones do not', async () => {
    const seen: unknown[] = [];
    class Base {
      protected readonly name: string = 'base';

      @ParallelTask({ key: 'kept', initialDelay: 0 })
      kept({ key, attempt, previousRun, fencingToken, signal }: TaskContext) {
        seen.push([this.name, key, attempt, previousRun, fencingToken, signal.aborted]);
        return '1h';
      }

      @ParallelTask({ key: 'dropped', initialDelay: 0 })
      dropped() {
        return '1h';
      }
    }
    @Injectable()
    class Derived extends Base {
      protected override readonly name = 'derived';

      override dropped() {
        return '1h';
      }
    }
    const { clock, tasks } = await running({ providers: [Derived] });
    await clock.advance(10);
    expect(seen).toEqual([['derived', 'kept', 1, null, null, false]]);
    expect(tasks.list().map(({ key }) => key)).toEqual(['kept']);
  });

  it('names a task after its class and method where it has no key', async () => {
    @Injectable()
    class Outbox {
      @SingletonTask()
      send() {
        return SECOND;
      }
    }
    const { tasks, journal } = await running({ providers: [Outbox], options: { backend: new MemoryBackend() } });
    expect(tasks.list().map(({ key, kind }) => [key, kind])).toEqual([['Outbox.send', 'singleton']]);
    expect(journal.texts('log')).toContainEqual('task Outbox.send: singleton');
  });

  it('warns of a key that comes from the class name of a minifier', async () => {
    @Injectable()
    class t {
      @ParallelTask()
      flush() {
        return SECOND;
      }
    }
    const { journal } = await running({ providers: [t] });
    expect(journal.texts('warn').filter((text) => text.startsWith('task t.flush: its key comes from'))).toHaveLength(1);
  });

  it('makes a fresh instance per run where a provider depends on request scope', async () => {
    let instances = 0;
    @Injectable({ scope: Scope.REQUEST })
    class Unit {
      readonly number = ++instances;
    }
    const seen: number[] = [];
    @Injectable()
    class Jobs {
      constructor(readonly unit: Unit) {}

      @ParallelTask({ key: 'flush', initialDelay: 0 })
      flush() {
        seen.push(this.unit.number);
        return SECOND;
      }
    }
    Reflect.defineMetadata('design:paramtypes', [Unit], Jobs);
    const { clock } = await running({ providers: [Unit, Jobs] });
    await clock.advance(2_100);
    expect(seen).toEqual([1, 2, 3]);
  });

  it('runs no task that a guard refuses: the run failed, and the task goes on', async () => {
    const refuse: CanActivate = { canActivate: () => false };
    const run = jest.fn(() => SECOND);
    @Injectable()
    class Jobs {
      @UseGuards(refuse)
      @ParallelTask({ key: 'flush', initialDelay: 0 })
      flush() {
        return run();
      }
    }
    const { clock, ofType } = await running({ providers: [Jobs] });
    await clock.advance(150);
    expect(run).not.toHaveBeenCalled();
    expect(ofType('task.failed').map(({ error }) => (error as { code: string }).code)).toEqual([
      'TASK_REFUSED',
      'TASK_REFUSED',
    ]);
  });

  it('tells a run that failed in its log, with key and error', async () => {
    const { clock, tasks, journal } = await running({});
    tasks.parallel('flush', () => -1, { initialDelay: 0 });
    await clock.advance(10);
    expect(journal.texts('error')).toEqual([
      expect.stringMatching(/^task flush failed after 0 ms \(attempt 1, next in 100 ms\): Task "flush" returned -1;/),
    ]);
  });

  it('with enabled: false schedules no task; runNow works', async () => {
    const run = jest.fn(() => SECOND);
    @Injectable()
    class Jobs {
      @SingletonTask({ key: 'sync', initialDelay: 0 })
      sync() {
        return run();
      }
    }
    const backend = new MemoryBackend();
    const { clock, tasks, journal } = await running({ providers: [Jobs], options: { enabled: false, backend } });
    await clock.advance(60 * SECOND);
    expect(run).not.toHaveBeenCalled();
    expect(await tasks.runNow('sync')).toBe(SECOND);
    await clock.advance(60 * SECOND);
    expect(run).toHaveBeenCalledTimes(1);
    expect(journal.texts('log')).toContainEqual('task sync: singleton, not scheduled (enabled: false)');
  });

  it('when it closes lets a running task finish, gives its lease back, and leaves no timer', async () => {
    const clock = new VirtualClock();
    const store = new MemoryStore({ clock });
    const { app, tasks, ofType } = await started({ clock, options: { backend: new MemoryBackend({ store }) } }).then(
      (application) => ({ ...application, tasks: application.app.get(DistributedTasks) }),
    );
    const run = () => new Promise<number>((end) => void clock.setTimer(() => end(SECOND), 5 * SECOND));
    tasks.singleton('sync', run, { initialDelay: 0 });
    await clock.advance(SECOND);
    const closed = app.close();
    await clock.advance(5 * SECOND);
    await closed;
    expect(ofType('task.completed')).toHaveLength(1);
    expect(store.leasesOf('default').get('task:sync')?.owner).toBeNull();
    expect(store.membersOf('default').size).toBe(0);
    expect(clock.pendingTimers).toBe(0);
  });

  it('is no member of the fleet from the moment its drain starts, while a task of it still runs', async () => {
    const clock = new VirtualClock();
    const store = new MemoryStore({ clock });
    const { app, tasks, registry } = await running({ clock, options: { backend: new MemoryBackend({ store }) } });
    tasks.singleton('sync', () => new Promise<number>((end) => void clock.setTimer(() => end(1), 5 * SECOND)), {
      initialDelay: 0,
    });
    await clock.advance(SECOND);
    expect(store.membersOf('default').size).toBe(1);
    const drained = registry.drain();
    await clock.settle();
    expect(store.membersOf('default').size).toBe(0);
    await clock.advance(5 * SECOND);
    await drained;
    expect(app.get(DistributedTasks).list()[0]?.running).toBe(false);
  });

  it('asks the store for no members while nothing needs to know them', async () => {
    const clock = new VirtualClock();
    const store = new MemoryStore({ clock });
    const { tasks } = await running({ clock, options: { backend: new MemoryBackend({ store }) } });
    tasks.parallel('flush', () => SECOND);
    await clock.advance(60 * SECOND);
    expect(store.membersOf('default').size).toBe(0);
    tasks.singleton('sync', () => SECOND);
    await clock.settle();
    expect(store.membersOf('default').size).toBe(1);
  });
});

describe('the members of an application', () => {
  const homeOf = (tasks: DistributedTasks) => tasks.list().find(({ kind }) => kind === 'singleton')?.home;

  it('can be given and updated: the home of a task follows', async () => {
    const membership = new StaticMembership(['web-0']);
    const { clock, replicas } = await fleet(2, { options: { membership } });
    for (const { tasks } of replicas) tasks.singleton('sync', () => SECOND);
    await clock.advance(3 * SECOND);
    membership.update(['web-1']);
    await clock.advance(SECOND);
    expect(replicas.map(({ tasks }) => homeOf(tasks))).toEqual(['web-1', 'web-1']);
    // Nest has one logger in a process: the last application's.
    expect(
      replicas
        .at(-1)
        ?.journal.texts('warn')
        .map((text) => text.split(':')[0]),
    ).toEqual([
      'The member list does not name this replica ("web-1"), so it is home to nothing',
      'The member list does not name this replica ("web-0"), so it is home to nothing',
    ]);
  });

  it('can be fetched; before the first list a replica is home to nothing, with one warning', async () => {
    let names: string[] | undefined;
    const membership = fetchedMembership(() => names ?? Promise.reject(new Error('no registry yet')), {
      everyMs: SECOND,
    });
    const run = jest.fn(() => SECOND);
    const { clock, replicas } = await fleet(1, { options: { membership } });
    const [{ tasks, journal } = undefined as never] = replicas;
    tasks.singleton('sync', run, { initialDelay: 0 });
    await clock.advance(10 * SECOND);
    expect(run).not.toHaveBeenCalled();
    expect(journal.texts('warn')).toEqual([
      'The members could not be asked for (no registry yet); without a list this replica is home to nothing.',
    ]);
    names = ['web-0'];
    await clock.advance(2 * SECOND);
    expect(run).toHaveBeenCalled();
  });

  it.each([
    ['no backend at all', {}, /each replica runs every singleton task/],
    [
      'a claimer alone and a given list',
      { claimer: { claim: async () => true }, membership: new StaticMembership(['a']), memberName: 'a' },
      /go by the ring alone/,
    ],
  ])('and %s are warned about once where there is a singleton task', async (_, options, warning) => {
    const { tasks, journal } = await running({ options });
    tasks.parallel('flush', () => SECOND);
    expect(journal.texts('warn').filter((text) => warning.test(text))).toHaveLength(0);
    tasks.singleton('sync', () => SECOND);
    tasks.singleton('purge', () => SECOND);
    expect(journal.texts('warn').filter((text) => warning.test(text))).toHaveLength(1);
  });
});

describe('the faults of tasks', () => {
  it('come in one report with all others', async () => {
    @Injectable()
    class Jobs {
      @SingletonTask({ key: 'same', retry: { min: '2s', max: '1s', factor: 0.5, jitter: 2, step: 1 } as object })
      one() {
        return SECOND;
      }

      @ParallelTask({ key: 'same', initialDelay: 'soon' })
      two() {
        return SECOND;
      }

      @ParallelTask({ key: ' padded', retires: 3 } as object)
      three() {
        return SECOND;
      }
    }
    const { faults } = await refused({
      providers: [Jobs],
      options: { backend: new MemoryBackend(), coordinationTimeout: '11s', memberExpiry: '10s' },
    });
    expect(faults.map(({ code, subject }) => `${code} ${subject}`).sort()).toEqual(
      [
        'OPTION_UNKNOWN Jobs.one, key "same", option retry.step',
        'OPTION_VALUE Jobs.one, key "same", option retry.factor',
        'OPTION_VALUE Jobs.one, key "same", option retry.jitter',
        'OPTION_CONFLICT Jobs.one, key "same", option retry.min',
        'KEY_DUPLICATE Jobs.two (RootTestModule), task key "same"',
        'OPTION_VALUE Jobs.two, key "same", option initialDelay',
        'KEY_INVALID Jobs.three, option key',
        'OPTION_UNKNOWN Jobs.three, option retires',
      ].sort(),
    );
  });

  it('name options of the module that are too tight for singleton tasks', async () => {
    @Injectable()
    class Jobs {
      @SingletonTask()
      sync() {
        return SECOND;
      }
    }
    const options = { backend: new MemoryBackend(), coordinationTimeout: '11s', memberExpiry: '15s' };
    const { faults } = await refused({ providers: [Jobs], options });
    expect(faults.map(({ subject }) => subject)).toEqual(['forRoot.leaseTtl', 'forRoot.memberExpiry']);
    const given = { ...options, membership: new StaticMembership(['a']), leaseTtl: '33s' };
    const { testing } = await compiled({ providers: [Jobs], options: given });
    open.push(await testing.init());
  });

  it('of code are thrown at the call, and add nothing', async () => {
    const { tasks } = await running({});
    expect(() => tasks.parallel('flush', 'no function' as never, { initialDelay: -1 })).toThrow(
      expect.objectContaining({ code: 'CONFIGURATION_INVALID', faults: [expect.anything(), expect.anything()] }),
    );
    expect(tasks.list()).toEqual([]);
  });

  it('include a decorator in a wrong place', () => {
    const place = () => SingletonTask()(class {} as object, 'method', {});
    expect(place).toThrow(expect.objectContaining({ code: 'CONFIGURATION_INVALID' }));
  });
});
