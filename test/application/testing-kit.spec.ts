import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { Inject, Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  CLAIMER,
  CLOCK,
  type Clock,
  DistributedCron,
  DistributedCronEvents,
  DistributedCronModule,
  type DistributedCronModuleOptions,
  DistributedCronRegistry,
  DistributedTasks,
  type FireContext,
  ParallelTask,
  SingletonTask,
  type TaskContext,
} from 'nestjs-distributed-cron';
import {
  type BuildReplica,
  type Fleet,
  type FleetOptions,
  fleet,
  recorder,
  VirtualClock,
} from 'nestjs-distributed-cron/testing';

jest.setTimeout(60_000);

const SECOND = 1_000;

let open: Fleet[] = [];
afterEach(async () => {
  await Promise.all(open.map((each) => each.close()));
  open = [];
});

async function opened(size: number, build: BuildReplica, options?: FleetOptions): Promise<Fleet> {
  const made = await fleet(size, build, options);
  open.push(made);
  return made;
}

@Injectable()
class Reports {
  @DistributedCron('* * * * * *', { key: 'report' })
  send() {}
}

@Injectable()
class Tasks {
  @SingletonTask({ key: 'sync', initialDelay: '1s' })
  sync() {
    return SECOND;
  }

  @ParallelTask({ key: 'flush', initialDelay: '1s' })
  flush() {
    return SECOND;
  }
}

/** A method that runs until the test ends it. */
class Held {
  end: () => void = () => undefined;
  signal: AbortSignal | undefined;

  @DistributedCron('0 * * * * *', { key: 'held' })
  run({ signal }: FireContext) {
    this.signal = signal;
    return new Promise<void>((resolve) => {
      this.end = resolve;
      signal.addEventListener('abort', () => resolve());
    });
  }
}

const plan =
  (options: DistributedCronModuleOptions = {}) =>
  () => ({ providers: [Reports], options });

describe('fleet', () => {
  it('runs each fire once over its replicas; the others tell why they did not', async () => {
    const { advance, recorder } = await opened(4, plan());
    await advance(5 * SECOND);
    expect(recorder.runs('report')).toHaveLength(5);
    expect(recorder.skips('report').map(({ reason }) => reason)).toEqual(Array(15).fill('already-claimed'));
    expect(recorder.count('fire.completed')).toBe(5);
  });

  it('advance six seconds: the singleton ran six times over four replicas, the parallel one twenty-four', async () => {
    const { advance, recorder, replicas } = await opened(4, () => ({ providers: [Tasks] }));
    await advance(6 * SECOND);
    expect(recorder.runs('sync')).toHaveLength(6);
    expect(recorder.runs('flush')).toHaveLength(24);
    expect(replicas.map((replica) => replica.recorder.runs('flush').length)).toEqual([6, 6, 6, 6]);
  });

  it('gives each replica its name, its backend and its clock, which options of the test come before', async () => {
    const members: string[] = [];
    const claimed: string[] = [];
    const { advance, clock, recorder, replicas } = await opened(
      2,
      ({ index, memberName }) => {
        members.push(`${index} ${memberName}`);
        const claimer = { claim: async (fireKey: string) => claimed.push(fireKey) > 0 };
        return { providers: [Reports], options: { claimer } };
      },
      { start: '2026-03-02T07:59:59Z' },
    );
    await advance(SECOND);
    expect(members).toEqual(['0 replica-0', '1 replica-1']);
    expect(replicas.map(({ name, index }) => `${index} ${name}`)).toEqual(members);
    expect(claimed).toEqual(Array(2).fill('report@2026-03-02T08:00:00Z'));
    expect(recorder.runs('report')).toHaveLength(2);
    for (const { app } of replicas) expect(app.get<Clock>(CLOCK).now()).toBe(clock.now());
  });

  it('tells the start of each replica, and its end', async () => {
    const running = await opened(2, plan());
    expect(running.recorder.count('scheduler.started')).toBe(2);
    await running.close();
    expect(running.recorder.count('scheduler.stopped')).toBe(2);
    expect(running.clock.pendingTimers).toBe(0);
    await running.close();
    expect(running.recorder.count('scheduler.stopped')).toBe(2);
  });

  it('takes an application that the test built and did not initialise, on the clock it was given', async () => {
    const build: BuildReplica = ({ backend, memberName, clock }) =>
      Test.createTestingModule({
        imports: [DistributedCronModule.forRoot({ backend, memberName })],
        providers: [Reports],
      })
        .overrideProvider(CLOCK)
        .useValue(clock)
        .compile();
    const { advance, recorder } = await opened(3, build);
    expect(recorder.count('scheduler.started')).toBe(3);
    await advance(2 * SECOND);
    expect(recorder.runs('report')).toHaveLength(2);
  });

  it('refuses an application that waits by another clock', async () => {
    const build: BuildReplica = () =>
      Test.createTestingModule({ imports: [DistributedCronModule.forRoot()], providers: [Reports] }).compile();
    await expect(fleet(1, build)).rejects.toThrow(/replica-0 waits by another clock.*overrideProvider\(CLOCK\)/);
  });

  it('a replica that does not start fails the test, and leaves none of the others running', async () => {
    const shutdown = jest.fn();
    class Resource implements OnApplicationShutdown {
      onApplicationShutdown() {
        shutdown();
      }
    }
    const build: BuildReplica = ({ index }) => ({
      providers: [Resource, Reports],
      options: { timeZone: index < 2 ? 'UTC' : 'Nowhere/AtAll' },
    });
    await expect(fleet(3, build, { logger: false })).rejects.toThrow('Nowhere/AtAll');
    expect(shutdown).toHaveBeenCalledTimes(2);
    await expect(fleet(0, build)).rejects.toThrow(RangeError);
  });

  it('a replica that cannot be put together fails the test, and does not end the process', async () => {
    @Injectable()
    class Lost {
      constructor(@Inject('nobody provides this') readonly missing: unknown) {}
    }
    await expect(fleet(1, () => ({ providers: [Lost] }), { logger: false })).rejects.toThrow('nobody provides this');
  });

  it('closes without a test that moves time: a method that still runs is aborted at the drain deadline', async () => {
    const { advance, close, clock, recorder, replicas } = await opened(2, () => ({ providers: [Held] }));
    await advance(60 * SECOND);
    const startedMs = clock.now();
    await close();
    expect(clock.now() - startedMs).toBe(10 * SECOND);
    expect(recorder.ofType('scheduler.stopped').map(({ aborted }) => aborted)).toEqual(expect.arrayContaining([0, 1]));
    expect(replicas.map(({ recorder: { running } }) => running)).toEqual([0, 0]);
  });
});

describe('a replica of a fleet', () => {
  it('that is killed does nothing more, and its fires run elsewhere', async () => {
    const { advance, clock, recorder, replicas } = await opened(3, plan({ placement: 'spread' }));
    await advance(10 * SECOND);
    const timers = clock.pendingTimers;
    const [killed, ...others] = replicas;
    killed!.kill();
    expect(clock.pendingTimers).toBeLessThan(timers);
    const told = killed!.recorder.events.length;
    recorder.clear();
    await advance(60 * SECOND);
    expect(killed!.recorder.events).toHaveLength(told);
    const late = others
      .flatMap((each) => each.recorder.ofType('fire.started'))
      .filter(({ latenessMs }) => latenessMs > 0);
    expect(late.length).toBeGreaterThan(0);
    expect(late.every(({ latenessMs }) => latenessMs === 2 * SECOND)).toBe(true);
    // Those of the last two seconds may still wait for a home that is dead.
    const keys = recorder.ofType('fire.started').map(({ fire }) => fire.fireKey);
    expect(new Set(keys).size).toBe(keys.length);
    expect(keys.length).toBeGreaterThanOrEqual(58);
    await others[0]!.close();
  });

  it('that is killed leaves the members when its time is over, and tells nothing of the method that ran', async () => {
    const { advance, recorder, replicas } = await opened(2, () => ({
      providers: [Held],
      options: { placement: 'spread' },
    }));
    await advance(58 * SECOND);
    const [home] = await Promise.all([recorder.waitFor('fire.started'), advance(2 * SECOND)]);
    const killed = replicas.find((each) => each.recorder.runs('held').length > 0)!;
    const alive = replicas.find((each) => each !== killed)!;
    killed.kill();
    killed.app.get(Held).end();
    await advance(20 * SECOND);
    expect(home.instanceId).toBe(killed.app.get(DistributedCronRegistry).snapshot().instanceId);
    expect(killed.recorder.count('fire.completed')).toBe(0);
    expect(killed.app.get(Held).signal!.aborted).toBe(false);
    expect(alive.recorder.ofType('membership.changed').at(-1)!.members).toEqual([alive.name]);
    await expect(killed.recorder.waitFor('fire.completed')).rejects.toThrow('its replica killed');
  });

  it('that is killed cannot be reached by what it asked: neither sent nor answered', async () => {
    const { advance, replicas } = await opened(2, plan());
    const [killed, alive] = replicas;
    killed!.kill();
    const waiting = jest.fn();
    const clock = killed!.app.get<Clock>(CLOCK);
    const nowMs = clock.now();
    clock.setTimer(waiting, 1);
    await advance(3 * SECOND);
    expect(waiting).not.toHaveBeenCalled();
    expect(clock.now()).toBe(nowMs);
    expect(alive!.recorder.runs('report')).toHaveLength(3);
  });

  it('that is stalled does nothing until it wakes; then it sees what it was late for', async () => {
    const { advance, recorder, replicas } = await opened(2, plan({ missedTolerance: '1s' }));
    const [stalled, other] = replicas;
    stalled!.stall();
    await advance(10 * SECOND);
    expect(stalled!.recorder.fires()).toEqual([]);
    expect(other!.recorder.runs('report')).toHaveLength(10);
    await stalled!.wake();
    expect(stalled!.recorder.ofType('fire.missed').map(({ count }) => count)).toEqual([9]);
    expect(stalled!.recorder.skips('report').map(({ reason }) => reason)).toEqual(['already-claimed']);
    await advance(5 * SECOND);
    expect(recorder.runs('report')).toHaveLength(15);
  });

  it('that is stalled past its lease is aborted when it wakes, while another has run the task', async () => {
    const aborted = jest.fn();
    @Injectable()
    class Slow {
      constructor(@Inject(CLOCK) readonly clock: Clock) {}

      @SingletonTask({ key: 'slow', initialDelay: 0 })
      async run({ signal }: TaskContext) {
        signal.addEventListener('abort', () => aborted(signal.reason));
        await new Promise<void>((resolve) => {
          this.clock.setTimer(resolve, 5 * SECOND);
          signal.addEventListener('abort', () => resolve());
        });
        return '1s';
      }
    }
    const { advance, recorder, replicas } = await opened(2, () => ({ providers: [Slow] }));
    await advance(30 * SECOND);
    if (recorder.running === 0) await advance(SECOND);
    const home = replicas.find((each) => each.recorder.running > 0)!;
    const other = replicas.find((each) => each !== home)!;
    home.stall();
    await advance(60 * SECOND);
    expect(aborted).not.toHaveBeenCalled();
    const tokens = other.recorder.ofType('task.started').map(({ fencingToken }) => fencingToken ?? 0);
    expect(tokens.length).toBeGreaterThan(0);
    await home.wake();
    expect(aborted).toHaveBeenCalledTimes(1);
    expect(home.recorder.count('task.lease-lost')).toBe(1);
    expect(Math.max(...home.recorder.ofType('task.started').map(({ fencingToken }) => fencingToken ?? 0))).toBeLessThan(
      tokens.at(-1)!,
    );
  });
});

/** What docs/testing.md says its examples do; test/docs holds them to compile. */
describe('the guide to testing', () => {
  @Injectable()
  class Jobs extends Tasks {
    @DistributedCron('0 9 * * MON-FRI', { key: 'report', timeZone: 'Europe/Berlin' })
    report({ scheduledAt }: FireContext) {
      return `report of ${scheduledAt.toISOString()}`;
    }
  }

  @Injectable()
  class Nightly {
    @DistributedCron('30 2 * * *', { key: 'nightly', timeZone: 'Europe/Berlin' })
    run() {}
  }

  it('runs a method here and now in an application whose schedules are off', async () => {
    const testing = await Test.createTestingModule({
      imports: [DistributedCronModule.forRoot({ enabled: false })],
      providers: [Jobs],
    }).compile();
    const app = await testing.init();
    expect(await app.get(DistributedCronRegistry).triggerAndWait('report')).toMatch(/^report of 20/);
    expect(await app.get(DistributedTasks).runNow('sync')).toBe(SECOND);
    await app.close();
  });

  it('moves through a night without 02:30', async () => {
    const clock = new VirtualClock('2026-03-29T00:00:00Z');
    const testing = await Test.createTestingModule({ imports: [DistributedCronModule.forRoot()], providers: [Nightly] })
      .overrideProvider(CLOCK)
      .useValue(clock)
      .compile();
    const told = recorder(testing.get(DistributedCronEvents), { clock });
    const app = await testing.init();
    await clock.advance(3 * 3_600_000);
    expect(told.count('scheduler.started')).toBe(1);
    expect(told.ofType('fire.started').map(({ fire }) => fire.fireKey)).toEqual(['nightly@2026-03-29T01:00:00Z']);
    await app.close();
  });

  it('gives the answer of a claimer that the test brings', async () => {
    const clock = new VirtualClock('2026-03-02T07:59:00Z');
    const testing = await Test.createTestingModule({ imports: [DistributedCronModule.forRoot()], providers: [Jobs] })
      .setLogger(false as never)
      .overrideProvider(CLOCK)
      .useValue(clock)
      .overrideProvider(CLAIMER)
      .useValue({ claim: async () => false })
      .compile();
    const told = recorder(testing.get(DistributedCronEvents), { clock });
    const app = await testing.init();
    await clock.advance(60_000);
    expect(told.skips('report').map(({ reason }) => reason)).toEqual(['already-claimed']);
    await app.close();
  });

  it('hands replicas what they share, and changes a schedule by configuration', async () => {
    const sent: string[] = [];
    const build: BuildReplica = ({ memberName }) => ({
      providers: [Reports, { provide: 'MAILER', useValue: (text: string) => sent.push(`${memberName} ${text}`) }],
      options: { placement: 'spread', entries: { report: { cron: '*/10 * * * * *' } } },
    });
    const { advance, recorder: told, replicas } = await opened(3, build, { start: '2026-03-02T07:59:00Z' });
    for (const { app } of replicas) app.get<(text: string) => void>('MAILER')('up');
    replicas[0]!.kill();
    await advance(60_000);
    expect(sent).toEqual(['replica-0 up', 'replica-1 up', 'replica-2 up']);
    expect(told.runs('report').length).toBeGreaterThanOrEqual(5);
  });
});
