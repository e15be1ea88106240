import { describe, expect, test } from '@jest/globals';
import { HashRing } from '../coordination/hash-ring.js';
import { StaticMembership } from '../coordination/static-membership.js';
import {
  fleet,
  held,
  LEASE_TTL,
  MEMBER_EXPIRY,
  noted,
  type Replica,
  replica,
  SECOND,
  task,
  watchedLeases,
} from './tasks.fixture.js';

const LIVE = { members: 'live' } as const;

function startAll(replicas: readonly Replica[], run: (id: string) => Parameters<typeof task>[1], key = 'task') {
  for (const { tasks, id } of replicas) {
    tasks.add(task('singleton', run(id), { key }));
    tasks.start();
  }
}

async function recordOf({ store }: Pick<Replica, 'store'>) {
  const lease = store.leasesOf('shop').get('task:task');
  return lease && { owner: lease.owner, value: JSON.parse(lease.valueText) };
}

describe('a singleton task', () => {
  test('in six seconds ran six times over four replicas, the parallel one twenty-four times', async () => {
    const { clock, replicas } = fleet(4, () => LIVE);
    const singleton = noted(clock);
    const parallel = noted(clock);
    startAll(replicas, singleton.by, 'singleton');
    for (const { tasks, id } of replicas) tasks.add(task('parallel', parallel.by(id), { key: 'parallel' }));
    await clock.advance(6 * SECOND);
    expect(singleton.runs).toHaveLength(6);
    expect(parallel.runs).toHaveLength(24);
  });

  test('runs on its home alone once all see the same members', async () => {
    const members = new StaticMembership(['a', 'b', 'c']);
    const { clock, replicas } = fleet(3, () => ({ members }));
    const method = noted(clock);
    startAll(replicas, method.by);
    await clock.advance(3 * SECOND);
    const home = replicas[0]?.homes.homeOf('task');
    expect(method.runs.map(({ by }) => by)).toEqual([home, home, home]);
    expect(replicas.map(({ tasks }) => tasks.list()[0]?.nextAt !== null)).toEqual(
      replicas.map(({ id }) => id === home),
    );
  });

  test('on a replica that is not its home sets no timer and asks the store nothing', async () => {
    let asked = 0;
    const { clock, tasks } = replica({
      members: new StaticMembership(['somebody else']),
      backend: watchedLeases(() => {
        asked += 1;
      }),
    });
    tasks.add(task('singleton', () => SECOND));
    tasks.start();
    await clock.advance(60 * SECOND);
    expect([asked, clock.pendingTimers]).toEqual([0, 0]);
  });

  test('costs the store two calls a run', async () => {
    const calls: string[] = [];
    const { clock, tasks } = replica({
      backend: watchedLeases((operation) => void calls.push(operation)),
    });
    tasks.add(task('singleton', () => SECOND));
    tasks.start();
    await clock.advance(2_500);
    expect(calls).toEqual(['read', 'acquire', 'release', 'acquire', 'release', 'acquire', 'release']);
  });

  test('holds its lease while it runs, and leaves an unowned record of due time, backoff step and previous run', async () => {
    const given = fleet(1);
    const [a] = given.replicas as [Replica];
    const method = held();
    startAll([a], () => method.run);
    await given.clock.advance(LEASE_TTL * 3);
    expect((await recordOf(given))?.owner).toBe('a');
    method.calls[0]?.end(-1);
    await given.clock.settle();
    const endedAtMs = given.clock.now();
    expect(await recordOf(given)).toEqual({
      owner: null,
      value: {
        dueAtMs: endedAtMs + 100,
        backoffStep: 1,
        previousRun: { startedAtMs: endedAtMs - LEASE_TTL * 3 + 1, endedAtMs, outcome: 'failed' },
      },
    });
  });

  test('gets a fencing token that grows with every run over all replicas, and keeps attempt and previous run over a handover', async () => {
    const members = new StaticMembership(['a']);
    const { clock, replicas } = fleet(2, () => ({ members }));
    const returns: unknown[] = [SECOND, -1, SECOND];
    const seen: unknown[] = [];
    startAll(replicas, (id) => ({ attempt, previousRun, fencingToken }) => {
      seen.push([id, attempt, previousRun?.outcome, fencingToken]);
      return returns.shift();
    });
    await clock.advance(1_050);
    members.update(['b']);
    await clock.advance(100);
    expect(seen).toEqual([
      ['a', 1, undefined, 1],
      ['a', 1, 'completed', 2],
      ['b', 2, 'failed', 3],
    ]);
  });
});

describe('a singleton task whose home moves', () => {
  test('neither runs early nor loses its cadence: the new home waits for the due time of the record', async () => {
    const members = new StaticMembership(['a']);
    const { clock, replicas } = fleet(2, () => ({ members }));
    const method = noted(clock, 10 * SECOND);
    startAll(replicas, method.by);
    await clock.advance(4 * SECOND);
    members.update(['b']);
    await clock.advance(16 * SECOND + 10);
    expect(method.runs.map(({ by, atMs }) => `${by} ${atMs}`)).toEqual(['a 1', 'b 10001', 'b 20001']);
  });

  test('is told as task.home-changed, and stops being scheduled on the old home', async () => {
    const members = new StaticMembership(['a']);
    const { clock, replicas } = fleet(2, () => ({ members }));
    const [a, b] = replicas as [Replica, Replica];
    startAll(replicas, () => () => SECOND);
    await clock.advance(SECOND / 2);
    members.update(['b']);
    // A member that comes and takes nothing is no change of this home.
    members.update([
      'b',
      ['c', 'd', 'e', 'f', 'g', 'h'].find((name) => new HashRing(['b', name]).home('task') === 'b')!,
    ]);
    expect(a.ofType('task.home-changed').map(({ home, here }) => [home, here])).toEqual([
      ['a', true],
      ['b', false],
    ]);
    expect([a.tasks.list()[0]?.nextAt, b.tasks.list()[0]?.nextAt]).toEqual([null, expect.any(Date)]);
  });

  test('while its method runs is left to run to its end; the new home runs it when that said', async () => {
    const members = new StaticMembership(['a']);
    const { clock, replicas } = fleet(2, () => ({ members }));
    const method = held();
    startAll(replicas, () => method.run);
    await clock.advance(1);
    members.update(['b']);
    await clock.advance(60 * SECOND);
    expect(method.calls).toHaveLength(1);
    expect(method.calls[0]?.context.signal.aborted).toBe(false);
    method.calls[0]?.end(5 * SECOND);
    await clock.advance(5 * SECOND - 1);
    expect(method.calls).toHaveLength(1);
    await clock.advance(1_001);
    expect(method.calls).toHaveLength(2);
  });

  test('while its method runs is only looked at by the new home, once a second', async () => {
    const members = new StaticMembership(['a']);
    const calls: string[] = [];
    const { clock, replicas } = fleet(2, (index) =>
      index === 0 ? { members } : { members, backend: watchedLeases((operation) => void calls.push(operation)) },
    );
    startAll(replicas, () => held().run);
    await clock.advance(1);
    members.update(['b']);
    await clock.advance(5 * SECOND);
    expect(calls).toEqual(['read', 'read', 'read', 'read', 'read']);
  });

  test('by the drain of its home runs elsewhere within a refresh of the members, at its due time', async () => {
    const { clock, replicas } = fleet(2, () => LIVE);
    const method = noted(clock, 8 * SECOND);
    startAll(replicas, method.by);
    await clock.advance(17 * SECOND);
    const home = replicas.find(({ id }) => id === method.runs.at(-1)?.by)!;
    const before = method.times();
    await home.close();
    await clock.advance(8 * SECOND);
    const after = method.runs.slice(before.length);
    expect(after.map(({ by }) => by)).toEqual([home.id === 'a' ? 'b' : 'a']);
    expect(method.times().at(-1)! - before.at(-1)!).toBe(8 * SECOND);
  });

  test.each([
    ['three seconds ahead', 3 * SECOND],
    ['three seconds behind', -3 * SECOND],
  ])('to a replica whose wall clock is %s is on time: due times are by the clock of the store', async (_, offMs) => {
    const members = new StaticMembership(['a']);
    const { clock, replicas } = fleet(1, () => ({ members }));
    const own = { ...ownClock(clock), now: () => clock.now() + offMs };
    const b = replica({ id: 'b', clock, own, store: replicas[0]!.store, members });
    const method = noted(clock, 10 * SECOND);
    startAll([...replicas, b], method.by);
    await clock.advance(4 * SECOND);
    members.update(['b']);
    await clock.advance(8 * SECOND);
    members.update(['a']);
    await clock.advance(9 * SECOND);
    expect(method.runs.map(({ by, atMs }) => `${by} ${atMs}`)).toEqual(['a 1', 'b 10001', 'a 20001']);
  });
});

describe('a singleton task whose home dies', () => {
  test('runs elsewhere within member expiry and one refresh', async () => {
    const { clock, store, replicas } = fleet(2, () => LIVE);
    const dying = ownClock(clock);
    const c = replica({ id: 'c', clock, own: dying, store, members: 'live' });
    const method = noted(clock);
    const all = [...replicas, c];
    // A key that the ring gives to c.
    const key = ['k1', 'k2', 'k3', 'k4', 'k5', 'k6', 'k7', 'k8'].find((name) => ringHome(all, name) === 'c')!;
    startAll(all, method.by, key);
    await clock.advance(20 * SECOND);
    expect(method.runs.at(-1)?.by).toBe('c');
    dying.kill();
    const diedAtMs = method.times().at(-1)!;
    await clock.advance(MEMBER_EXPIRY + MEMBER_EXPIRY / 3 + 1_000);
    const next = method.runs.find(({ atMs }) => atMs > diedAtMs);
    expect(next?.by).not.toBe('c');
    expect(next!.atMs - diedAtMs).toBeLessThanOrEqual(MEMBER_EXPIRY + MEMBER_EXPIRY / 3 + 1_000);
  });

  test('in the middle of a run is due at its last stored due time, as soon as the lease has expired', async () => {
    const members = new StaticMembership(['a']);
    const { clock, store } = fleet(0);
    const dying = ownClock(clock);
    const a = replica({ id: 'a', clock, own: dying, store, members });
    const b = replica({ id: 'b', clock, store, members });
    const method = noted(clock, 10 * SECOND);
    const stuck = held();
    let runs = 0;
    startAll([a], () => (context) => (runs++ === 0 ? method.by('a')(context) : stuck.run(context)));
    startAll([b], method.by);
    await clock.advance(12 * SECOND);
    dying.kill();
    members.update(['b']);
    await clock.advance(LEASE_TTL);
    expect(method.runs.map(({ by, atMs }) => `${by} ${atMs}`)).toEqual(['a 1', 'b 40001']);
  });
});

describe('two replicas that both think they are its home', () => {
  test('never run it together, and together keep its cadence', async () => {
    const { clock, replicas } = fleet(2);
    let running = 0;
    let most = 0;
    const starts: number[] = [];
    startAll(replicas, () => async () => {
      running += 1;
      most = Math.max(most, running);
      starts.push(clock.now());
      await new Promise<void>((resume) => clock.setTimer(resume, 40 * SECOND));
      running -= 1;
      return 5 * SECOND;
    });
    await clock.advance(300 * SECOND);
    expect(most).toBe(1);
    const gaps = starts.slice(1).map((at, index) => at - starts[index]!);
    expect(gaps.every((gap) => gap >= 45 * SECOND && gap <= 46 * SECOND)).toBe(true);
    expect(gaps.length).toBeGreaterThanOrEqual(5);
  });

  test('of one name, while one replaces the other, do not run it together either', async () => {
    const members = new StaticMembership(['pod-0']);
    const { clock, replicas } = fleet(2, () => ({ members, memberName: 'pod-0' }));
    const method = noted(clock);
    startAll(replicas, method.by);
    await clock.advance(3 * SECOND);
    expect(method.times()).toEqual([1, 1_001, 2_001]);
  });
});

describe('runNow of a singleton', () => {
  test('works where it is not at home, and moves the due time for all', async () => {
    const members = new StaticMembership(['a']);
    const { clock, replicas } = fleet(2, () => ({ members }));
    const method = noted(clock, 10 * SECOND);
    startAll(replicas, method.by);
    await clock.advance(6 * SECOND);
    await replicas[1]?.tasks.runNow('task');
    await clock.advance(10 * SECOND + 1);
    expect(method.runs.map(({ by, atMs }) => `${by} ${atMs}`)).toEqual(['a 1', 'b 6000', 'a 16000']);
  });

  test('is refused while another replica runs the task', async () => {
    const members = new StaticMembership(['a']);
    const { clock, replicas } = fleet(2, () => ({ members }));
    startAll(replicas, () => held().run);
    await clock.advance(SECOND);
    await expect(replicas[1]?.tasks.runNow('task')).rejects.toMatchObject({ code: 'TASK_RUNNING', where: 'elsewhere' });
  });
});

describe('without leases a singleton', () => {
  test('goes by the ring alone, without a fencing token', async () => {
    const members = new StaticMembership(['a']);
    const { clock, replicas } = fleet(2, () => ({ members, backend: null }));
    const method = noted(clock);
    startAll(replicas, method.by);
    await clock.advance(1_500);
    members.update(['b']);
    await clock.advance(1_000);
    expect(method.runs.map(({ by }) => by)).toEqual(['a', 'a', 'b']);
    expect(method.runs[0]?.context.fencingToken).toBeNull();
  });
});

describe('a singleton whose store does not answer', () => {
  test('is not run, says so once per outage, and runs when the store is back', async () => {
    const path = { cut: false };
    const { clock, tasks, ofType } = replica({
      backend: watchedLeases(() => {
        if (path.cut) throw new Error('down');
      }),
    });
    const method = noted(clock);
    tasks.add(task('singleton', method.by('a')));
    tasks.start();
    await clock.advance(500);
    path.cut = true;
    await clock.advance(60 * SECOND);
    expect([method.runs.length, ofType('task.blocked').length]).toEqual([1, 1]);
    path.cut = false;
    await clock.advance(6 * SECOND);
    path.cut = true;
    await clock.advance(6 * SECOND);
    expect(method.runs.length).toBeGreaterThanOrEqual(2);
    expect(ofType('task.blocked')).toHaveLength(2);
  });
});

/** A replica's clock on the fleet's time, whose process can die: nothing of it calls back any more. */
function ownClock(clock: Replica['clock']) {
  let dead = false;
  return {
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    setTimer: (callback: () => void, delayMs: number) => clock.setTimer(() => void (dead || callback()), delayMs),
    clearTimer: (timer: object) => clock.clearTimer(timer),
    kill: () => {
      dead = true;
    },
  };
}

function ringHome(replicas: readonly Replica[], key: string): string | undefined {
  return replica({ members: new StaticMembership(replicas.map(({ id }) => id)) }).homes.homeOf(key);
}
