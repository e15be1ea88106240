import { AsyncLocalStorage } from 'node:async_hooks';
import { describe, expect, it } from '@jest/globals';
import type { Claim, Claimer } from '../coordination/claimer.js';
import type { CoordinationBackend } from '../coordination/coordination-backend.js';
import { MemoryBackend } from '../coordination/memory/memory-backend.js';
import { MemoryStore } from '../coordination/memory/memory-store.js';
import type { Schedule } from '../schedule/schedule.js';
import { VirtualClock } from '../testing/virtual-clock.js';
import type { EntryDefinition } from './entry.js';
import {
  at,
  DAY,
  definition,
  every,
  HOUR,
  heldMethod,
  MINUTE,
  type ReplicaOptions,
  replica,
  SECOND,
} from './replica.fixture.js';

let booted = 0;

/** Replicas that boot and close on one clock and one store. The store can be taken away; it counts what it is asked. */
function world(start = '2026-01-01T11:00:00Z') {
  const clock = new VirtualClock(start);
  const store = new MemoryStore({ clock });
  const reads: string[][] = [];
  const trips: string[][] = [];
  const state = { away: false, calls: 0, heldUp: undefined as Promise<void> | undefined };
  const runs: string[] = [];
  const backend = (): CoordinationBackend => {
    const { claimer, leases, membership } = new MemoryBackend({ store });
    const reach = async <T>(call: () => Promise<T>): Promise<T> => {
      state.calls += 1;
      await state.heldUp;
      if (state.away) throw new Error('away');
      return call();
    };
    const counted: Claimer = {
      repeatable: true,
      claim: () => Promise.reject(new Error('a batch was expected')),
      claimMany: (claims: readonly Claim[]) =>
        reach(() => {
          trips.push(claims.map(({ fireKey }) => fireKey));
          return claimer.claimMany(claims);
        }),
      lastFire: (namespace: string, keys: readonly string[]) =>
        reach(() => {
          reads.push([...keys]);
          return claimer.lastFire(namespace, keys);
        }),
    };
    return { store: 'memory', claimer: counted, leases, membership };
  };
  const boot = (
    definitions: EntryDefinition | readonly EntryDefinition[],
    options: Omit<ReplicaOptions, 'clock'> = {},
  ) => {
    const booting = replica({ id: `replica-${++booted}`, backend: backend(), ...options, clock });
    for (const each of [definitions].flat()) booting.scheduler.add(each);
    booting.scheduler.start();
    return booting;
  };
  const close = async (...replicas: readonly ReturnType<typeof replica>[]) => {
    const closed = Promise.all(replicas.map(({ scheduler }) => scheduler.stop()));
    await clock.advance(5 * SECOND);
    await closed;
  };
  /** An entry whose method notes its fires. */
  const job = (key: string, schedule: Schedule, change: Parameters<typeof definition>[2] = {}) =>
    definition(key, schedule, {
      run: ({ fireKey, origin }) => void runs.push(`${origin === 'schedule' ? '' : `${origin} `}${fireKey}`),
      ...change,
    });
  return { clock, store, state, reads, trips, runs, backend, boot, close, job };
}

const hourly = every(HOUR);

describe('after the fleet was down over an instant', () => {
  it('the fire runs once, by whichever replica is first, under its own instant', async () => {
    const { clock, runs, boot, close, job } = world();
    const before = boot(job('report', hourly));
    await clock.advanceTo('2026-01-01T12:30:00Z');
    await close(before);
    await clock.advanceTo('2026-01-01T13:20:00Z');
    const after = [boot(job('report', hourly)), boot(job('report', hourly)), boot(job('report', hourly))];
    await clock.settle();
    expect(runs).toEqual(['report@2026-01-01T12:00:00Z', 'catch-up report@2026-01-01T13:00:00Z']);
    expect(after.map(({ story }) => story())).toEqual([
      ['started', 'completed'],
      ['skipped already-claimed'],
      ['skipped already-claimed'],
    ]);
    await clock.advanceTo('2026-01-01T14:00:00Z');
    expect(runs.slice(2)).toEqual(['report@2026-01-01T14:00:00Z']);
  });

  it('three replicas boot at different seconds after an outage over 12:00: all try its fire, one runs it', async () => {
    const { clock, runs, boot, close, job } = world();
    const before = boot(job('report', hourly));
    await clock.advanceTo('2026-01-01T11:00:00Z');
    await close(before);
    const first = boot(job('report', at('2026-01-01T11:00:20Z', '2026-01-01T12:00:00Z')));
    await clock.advanceTo('2026-01-01T11:30:00Z');
    await close(first);
    await clock.advanceTo('2026-01-01T12:05:00Z');
    const after = [];
    for (let second = 0; second < 3; second++) {
      after.push(boot(job('report', at('2026-01-01T11:00:20Z', '2026-01-01T12:00:00Z'))));
      await clock.advance((second + 1) * SECOND);
    }
    expect(runs).toEqual(['report@2026-01-01T11:00:20Z', 'catch-up report@2026-01-01T12:00:00Z']);
    // The later two read that it was claimed; were they to ask, they would be told no.
    expect(after.flatMap(({ ofType }) => ofType('fire.started'))).toHaveLength(1);
  });

  it.each([
    ['run-once', ['catch-up report@2026-01-01T15:00:00Z'], 2],
    ['skip', [], 3],
    [
      'run-all',
      [
        'catch-up report@2026-01-01T13:00:00Z',
        'catch-up report@2026-01-01T14:00:00Z',
        'catch-up report@2026-01-01T15:00:00Z',
      ],
      0,
    ],
  ] as const)('over three instants, with %s', async (missed, ran, reported) => {
    const { clock, runs, boot, close, job } = world();
    const before = boot(job('report', hourly, { missed }));
    await clock.advanceTo('2026-01-01T12:30:00Z');
    await close(before);
    await clock.advanceTo('2026-01-01T15:20:00Z');
    const { ofType } = boot(job('report', hourly, { missed }));
    await clock.settle();
    expect(runs.slice(1)).toEqual(ran);
    const missedEvents = ofType('fire.missed');
    expect(missedEvents.map(({ count }) => count)).toEqual(reported === 0 ? [] : [reported]);
    if (reported > 0) {
      expect(missedEvents[0]).toMatchObject({
        foundBy: 'start',
        policy: missed,
        first: new Date('2026-01-01T13:00:00Z'),
        atLeast: false,
      });
    }
    await clock.advance(HOUR);
    expect(ofType('fire.missed')).toHaveLength(missedEvents.length);
  });

  it.each([
    ['an ordinary fire within the tolerance, with any policy', 'skip', 10 * SECOND, ['report@2026-01-01T12:00:00Z'], 0],
    ['made up for beyond it, with run-once', 'run-once', SECOND, ['catch-up report@2026-01-01T12:00:00Z'], 0],
    ['an event beyond it, with skip', 'skip', SECOND, [], 1],
  ] as const)(
    'a slot that falls into a rolling deploy, down at :58 and up at :03, is %s',
    async (_, missed, missedToleranceMs, ran, reported) => {
      const { clock, runs, boot, close, job } = world();
      const old = boot(job('report', hourly, { missed, missedToleranceMs }));
      await clock.advanceTo('2026-01-01T11:00:00Z');
      await close(old);
      const seen = boot(
        job('report', at('2026-01-01T11:01:00Z', '2026-01-01T12:00:00Z'), { missed, missedToleranceMs }),
      );
      await clock.advanceTo('2026-01-01T11:59:53Z');
      await close(seen);
      await clock.advanceTo('2026-01-01T12:00:03Z');
      const renewed = boot(
        job('report', at('2026-01-01T11:01:00Z', '2026-01-01T12:00:00Z'), { missed, missedToleranceMs }),
      );
      await clock.settle();
      expect(runs.slice(1)).toEqual(ran);
      expect(renewed.ofType('fire.missed')).toHaveLength(reported);
    },
  );

  it('nothing older than catchUpWithin is run or reported', async () => {
    const { clock, runs, boot, close, job } = world();
    const before = boot(job('report', hourly));
    await clock.advanceTo('2026-01-01T12:30:00Z');
    await close(before);
    await clock.advance(10 * DAY);
    const { ofType } = boot(job('report', hourly, { catchUpWithinMs: 5 * HOUR, missed: 'run-all' }));
    await clock.settle();
    expect(runs.slice(1)).toHaveLength(5);
    expect(ofType('fire.missed')).toEqual([]);
  });

  it('a year of downtime of an entry of every second costs one plan, and its count is a lower bound', async () => {
    const { clock, runs, boot, close, job } = world();
    const before = boot(job('beat', every(SECOND)));
    await clock.advance(SECOND);
    await close(before);
    await clock.suspend(365 * DAY + 500);
    const asked = { next: 0, previous: 0 };
    const { next, previous, ...names } = every(SECOND);
    const counting: Schedule = {
      ...names,
      next: (afterMs) => {
        asked.next += 1;
        return next(afterMs);
      },
      previous: (beforeMs) => {
        asked.previous += 1;
        return previous!(beforeMs);
      },
    };
    const catchUpWithinMs = 400 * DAY;
    const { ofType } = boot(job('beat', counting, { catchUpWithinMs, missedToleranceMs: 0, missed: 'run-once' }));
    await clock.settle();
    expect(runs).toHaveLength(2);
    expect(ofType('fire.missed')).toMatchObject([{ count: 10_000, atLeast: true }]);
    expect(asked.next).toBeLessThan(10_010);
    // The newest, and the one before it, which is the last that is reported.
    expect(asked.previous).toBe(2);
  });
});

describe('nothing is caught up', () => {
  it('where one replica was down and the others ran', async () => {
    const { clock, runs, boot, close, job } = world();
    const [a, b] = [boot(job('report', hourly)), boot(job('report', hourly))];
    await clock.advanceTo('2026-01-01T11:30:00Z');
    await close(b!);
    await clock.advanceTo('2026-01-01T14:10:00Z');
    const back = boot(job('report', hourly));
    await clock.advance(MINUTE);
    expect(back.story()).toEqual([]);
    expect(runs).toHaveLength(3);
    await close(a!);
  });

  it('by a replica that boots at 14:00 with no memory of its own, when 12:00 ran on another', async () => {
    const { clock, runs, boot, job } = world();
    const daily = at('2026-01-01T12:00:00Z', '2026-01-02T12:00:00Z');
    boot(job('report', daily));
    await clock.advanceTo('2026-01-01T14:00:00Z');
    const b = boot(job('report', daily));
    await clock.advance(HOUR);
    expect(runs).toEqual(['report@2026-01-01T12:00:00Z']);
    expect(b.story()).toEqual([]);
  });

  it('at the first start ever, on the 17th of a monthly entry; and a daily restart does not run it daily', async () => {
    const { clock, runs, boot, close, job } = world('2026-01-17T10:00:00Z');
    const monthly = at('2026-01-01T00:00:00Z', '2026-02-01T00:00:00Z', '2026-03-01T00:00:00Z');
    const told: string[] = [];
    const day = async (upMs: number) => {
      const up = boot(job('invoices', monthly, { catchUpWithinMs: 40 * DAY }));
      await clock.advance(upMs);
      await close(up);
      told.push(...up.story());
    };
    for (let restart = 0; restart < 3; restart++) {
      await day(MINUTE);
      await clock.suspend(DAY);
    }
    await clock.advanceTo('2026-01-31T23:59:30Z');
    await day(MINUTE);
    for (let restart = 0; restart < 3; restart++) {
      await clock.suspend(DAY);
      await day(MINUTE);
    }
    expect(runs).toEqual(['invoices@2026-02-01T00:00:00Z']);
    expect(told).toEqual(['started', 'completed']);
  });

  it('from before a change of the schedule; from the first fire of the new one on it is', async () => {
    const { clock, runs, boot, close, job } = world();
    const before = boot(job('report', hourly));
    await clock.advanceTo('2026-01-01T12:30:00Z');
    await close(before);
    await clock.advanceTo('2026-01-01T15:20:00Z');
    const changed = boot(job('report', every(30 * MINUTE)));
    await clock.advanceTo('2026-01-01T15:40:00Z');
    expect(runs.slice(1)).toEqual(['report@2026-01-01T15:30:00Z']);
    expect(changed.ofType('fire.missed')).toEqual([]);
    await close(changed);
    await clock.advanceTo('2026-01-01T16:10:00Z');
    boot(job('report', every(30 * MINUTE)));
    await clock.settle();
    expect(runs.slice(2)).toEqual(['catch-up report@2026-01-01T16:00:00Z']);
  });

  it('of a fire whose winner was killed a second after its claim: it is lost, and the next one works', async () => {
    const { clock, runs, boot, job } = world();
    const killed = boot(job('report', hourly, { run: () => new Promise(() => undefined) }));
    await clock.advanceTo('2026-01-01T12:00:01Z');
    expect(killed.story()).toEqual(['started']);
    void killed.scheduler.stop();
    await clock.advanceTo('2026-01-01T12:10:00Z');
    const other = boot(job('report', hourly));
    await clock.advanceTo('2026-01-01T13:00:00Z');
    expect(runs).toEqual(['report@2026-01-01T13:00:00Z']);
    expect(other.story()).toEqual(['started', 'completed']);
  });
});

describe('the read of the last fires', () => {
  it('is one for all entries of a boot, and one for all that are added in a turn', async () => {
    const { clock, reads, boot, job } = world();
    const { scheduler } = boot(Array.from({ length: 300 }, (_, i) => job(`entry-${i}`, hourly)));
    await clock.settle();
    expect(reads.map((keys) => keys.length)).toEqual([300]);
    for (let i = 300; i < 400; i++) scheduler.add(job(`entry-${i}`, hourly));
    await clock.settle();
    expect(reads.map((keys) => keys.length)).toEqual([300, 100]);
  });

  it('of many thousand entries is settled in stretches that let others run', async () => {
    const { clock, boot, reads, job } = world();
    const { scheduler } = boot([]);
    await scheduler.addAll(Array.from({ length: 3_500 }, (_, i) => job(`entry-${i}`, hourly)));
    await clock.advance(HOUR);
    expect(reads.flat()).toHaveLength(3_500);
  });

  it('of an entry that is added while one is under way comes when that has ended', async () => {
    const { clock, state, reads, boot, job } = world();
    let go = () => {};
    state.heldUp = new Promise((resolve) => {
      go = resolve;
    });
    const { scheduler } = boot(job('first', hourly));
    await clock.settle();
    scheduler.add(job('second', hourly));
    await clock.settle();
    expect(reads).toEqual([]);
    go();
    await clock.settle();
    expect(reads).toEqual([['first'], ['second']]);
  });

  it('of an entry that is added while the store is away waits for the next look, with the others', async () => {
    const { clock, state, reads, boot, job } = world();
    state.away = true;
    const { scheduler } = boot(job('entry-0', hourly));
    await clock.advance(10 * SECOND);
    const { calls } = state;
    for (let i = 1; i < 20; i++) {
      scheduler.add(job(`entry-${i}`, hourly));
      await clock.settle();
    }
    expect(state.calls).toBe(calls);
    state.away = false;
    await clock.advance(SECOND);
    expect(reads.map((keys) => keys.length)).toEqual([20]);
  });

  it('an entry that was removed and comes back is read as one that was added', async () => {
    const { clock, runs, boot, job } = world();
    const { scheduler } = boot(job('report', hourly));
    await clock.advanceTo('2026-01-01T12:30:00Z');
    scheduler.remove('report');
    await clock.advanceTo('2026-01-01T13:30:00Z');
    scheduler.add(job('report', hourly));
    await clock.settle();
    expect(runs.slice(1)).toEqual(['catch-up report@2026-01-01T13:00:00Z']);
  });

  it('what it makes run does not belong to whoever added the entry', async () => {
    const { clock, boot, close, job } = world();
    await (async () => {
      const before = boot(job('report', hourly));
      await clock.advanceTo('2026-01-01T12:30:00Z');
      await close(before);
    })();
    await clock.advanceTo('2026-01-01T13:30:00Z');
    const requests = new AsyncLocalStorage<string>();
    const { scheduler } = boot([]);
    const seen: (string | undefined)[] = [];
    requests.run('a request', () =>
      scheduler.add(job('report', hourly, { run: () => void seen.push(requests.getStore()) })),
    );
    await clock.settle();
    expect(seen).toEqual([undefined]);
    scheduler.pause('report');
    await clock.advanceTo('2026-01-01T14:30:00Z');
    requests.run('a request', () => scheduler.resume('report', { catchUp: true }));
    await clock.settle();
    expect(seen).toEqual([undefined, undefined]);
    const lastRun = () => {
      seen.push(requests.getStore());
      return null;
    };
    requests.run('a request', () => scheduler.add(job('new', hourly, { lastRun })));
    await clock.settle();
    expect(seen).toEqual([undefined, undefined, undefined]);
  });

  it('an update while it is under way: what was missed counts if the schedule is still the same, and else not', async () => {
    const { clock, runs, state, boot, close, job } = world();
    const entries = () => [job('same', hourly), job('other', hourly)];
    const before = boot(entries());
    await clock.advanceTo('2026-01-01T12:30:00Z');
    await close(before);
    await clock.advanceTo('2026-01-01T13:30:00Z');
    state.away = true;
    const { scheduler } = boot(entries());
    await clock.settle();
    scheduler.update('same', { policies: job('', hourly, { timeoutMs: 5 }).policies });
    scheduler.update('other', { schedule: every(2 * HOUR) });
    state.away = false;
    await clock.advance(2 * SECOND);
    expect(runs.slice(2)).toEqual(['catch-up same@2026-01-01T13:00:00Z']);
  });
});

describe('a store that is away at the start', () => {
  it('holds nobody up: the replica starts, says so once, reads when the store is back, and claims what was missed before the next live instant', async () => {
    const { clock, state, trips, runs, boot, close, job } = world();
    const minutely = every(MINUTE);
    const before = boot(job('report', minutely, { missed: 'run-all' }));
    await clock.advance(MINUTE);
    await close(before);
    await clock.advance(3 * MINUTE);
    trips.length = 0;
    state.away = true;
    const after = boot(job('report', minutely, { missed: 'run-all', missedToleranceMs: 0 }));
    await clock.advance(MINUTE);
    expect(after.scheduler.state).toBe('started');
    // 11:05 came due and waits.
    expect(after.story()).toEqual([]);
    expect(after.ofType('history.unreachable')).toMatchObject([{ error: { code: 'COORDINATION_FAILED' } }]);
    state.away = false;
    await clock.advance(2 * SECOND);
    expect(trips.flat()).toEqual([
      'report@2026-01-01T11:02:00Z',
      'report@2026-01-01T11:03:00Z',
      'report@2026-01-01T11:04:00Z',
      'report@2026-01-01T11:05:00Z',
    ]);
    expect(runs.slice(1).toSorted()).toEqual([
      'catch-up report@2026-01-01T11:02:00Z',
      'catch-up report@2026-01-01T11:03:00Z',
      'catch-up report@2026-01-01T11:04:00Z',
      'report@2026-01-01T11:05:00Z',
    ]);
    expect(after.ofType('history.unreachable')).toHaveLength(1);
  });

  it('a fire waits for the read no longer than claimPatience, nor past the next instant, and ends as one whose store is away', async () => {
    const { clock, state, boot, job } = world();
    state.away = true;
    const { story, ofType } = boot([job('slow', at('2026-01-01T11:00:10Z')), job('fast', every(4 * SECOND))]);
    await clock.advanceTo('2026-01-01T11:00:08.100Z');
    expect(story()).toEqual(['skipped claim-error']);
    await clock.advanceTo('2026-01-01T11:00:39.900Z');
    expect(story('slow')).toEqual([]);
    await clock.advanceTo('2026-01-01T11:00:40.100Z');
    expect(story('slow')).toEqual(['skipped claim-error']);
    expect(ofType('history.unreachable')).toHaveLength(1);
  });

  it('that returns between two looks: the store is looked at once more before a fire that waited long enough asks its claim', async () => {
    const { clock, state, runs, boot, close, job } = world();
    const beat = every(10 * SECOND);
    const before = boot(job('beat', beat));
    await clock.advance(10 * SECOND);
    await close(before);
    await clock.advance(MINUTE);
    state.away = true;
    const change = { missed: 'run-all', missedToleranceMs: 0 } as const;
    boot(job('beat', beat, change));
    await clock.advanceTo('2026-01-01T11:01:29.999Z');
    state.away = false;
    await clock.advance(1);
    expect(runs.filter((run) => run.startsWith('catch-up'))).toHaveLength(6);
  });

  it('an entry that is updated or removed meanwhile, and a drain, end the wait of its fire at once', async () => {
    const { clock, state, boot, job } = world();
    state.away = true;
    const { scheduler, story } = boot(
      ['updated', 'removed', 'drained'].map((key) => job(key, at('2026-01-01T11:00:10Z'))),
    );
    await clock.advanceTo('2026-01-01T11:00:15Z');
    scheduler.update('updated', { run: () => undefined });
    scheduler.remove('removed');
    const drained = scheduler.drain();
    await drained;
    expect(story('updated')).toEqual(['canceled updated']);
    expect(story('removed')).toEqual(['canceled removed']);
    expect(story('drained')).toEqual(['canceled draining']);
    expect(clock.pendingTimers).toBe(0);
  });

  it('a drain reads nothing more, sends nothing more, and leaves no timer', async () => {
    const { clock, state, reads, runs, boot, close, job } = world();
    const before = boot(job('report', hourly));
    await clock.advanceTo('2026-01-01T12:30:00Z');
    await close(before);
    await clock.advanceTo('2026-01-01T13:30:00Z');
    reads.length = 0;
    state.away = true;
    const away = boot(job('report', hourly));
    await clock.advance(SECOND);
    state.away = false;
    await away.scheduler.drain();
    expect(clock.pendingTimers).toBe(0);
    await clock.advance(MINUTE);
    expect(reads).toEqual([]);
    // Drained while the answer is on its way.
    const onTheWay = boot(job('report', hourly));
    await undefined;
    await onTheWay.scheduler.drain();
    await clock.advance(MINUTE);
    expect(runs).toEqual(['report@2026-01-01T12:00:00Z']);
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('without a store that remembers, by lastRun', () => {
  const claimer: Claimer = { claim: async () => true };

  it.each([
    ['a Date', new Date('2026-01-01T09:30:00Z')],
    ['a function', () => new Date('2026-01-01T09:30:00Z')],
    ['a function that has to ask', async () => new Date('2026-01-01T09:30:00Z')],
  ])('%s tells where to begin', async (_, lastRun) => {
    const { clock, runs, boot, job } = world('2026-01-01T11:10:00Z');
    boot(job('report', hourly, { lastRun, missed: 'run-all' }), { backend: { store: 'custom', claimer } });
    await clock.settle();
    expect(runs).toEqual(['catch-up report@2026-01-01T10:00:00Z', 'catch-up report@2026-01-01T11:00:00Z']);
  });

  it('also of entries without a claimer, and of those that a store has no history of; not of others', async () => {
    const { clock, runs, boot, close, job } = world();
    const lastRun = new Date('2026-01-01T11:30:00Z');
    const before = boot(job('known', hourly));
    await clock.advanceTo('2026-01-01T12:30:00Z');
    await close(before);
    runs.length = 0;
    boot([
      { ...job('alone', hourly, { lastRun }), claimer: null },
      job('new', hourly, { lastRun }),
      job('known', hourly, { lastRun }),
    ]);
    await clock.settle();
    expect(runs.toSorted()).toEqual(['catch-up alone@2026-01-01T12:00:00Z', 'catch-up new@2026-01-01T12:00:00Z']);
  });

  it.each([null, undefined])('%s: it never ran, and nothing was missed', async (answer) => {
    const { clock, boot, job } = world();
    const { events, story } = boot(job('report', hourly, { lastRun: async () => answer }));
    await clock.settle();
    expect(story()).toEqual([]);
    expect(events.filter(({ type }) => type === 'history.unreachable')).toEqual([]);
  });

  it('one that throws, rejects, hangs or answers nonsense harms its own entry alone, and is told', async () => {
    const { clock, runs, boot, job } = world('2026-01-01T11:10:00Z');
    const good = new Date('2026-01-01T10:30:00Z');
    const bad: Record<string, () => never> = {
      throws: () => {
        throw new Error('no');
      },
      rejects: () => Promise.reject(new Error('no')) as never,
      hangs: () => new Promise(() => undefined) as never,
      'no date': () => '2026-01-01' as never,
      'no instant': () => new Date(Number.NaN) as never,
    };
    const { ofType } = boot([
      ...Object.entries(bad).map(([key, lastRun]) => job(key, hourly, { lastRun })),
      job('good', hourly, { lastRun: () => good }),
    ]);
    await clock.settle();
    expect(runs).toEqual(['catch-up good@2026-01-01T11:00:00Z']);
    await clock.advance(5 * SECOND);
    const told = ofType('history.unreachable');
    expect(told.map(({ entryKey }) => entryKey).toSorted()).toEqual(Object.keys(bad).toSorted());
    for (const { error } of told) expect(error).toMatchObject({ code: 'LAST_RUN' });
    await clock.advance(50 * MINUTE);
    expect(runs.slice(1).toSorted()).toEqual(
      ['good', ...Object.keys(bad)].map((key) => `${key}@2026-01-01T12:00:00Z`).toSorted(),
    );
  });

  it('very many are asked a few at a time', async () => {
    const { clock, boot, job } = world();
    const answers: (() => void)[] = [];
    const lastRun = () => new Promise<null>((resolve) => answers.push(() => resolve(null)));
    boot(Array.from({ length: 40 }, (_, i) => job(`entry-${i}`, hourly, { lastRun })));
    await clock.settle();
    expect(answers).toHaveLength(16);
    for (const answer of answers.splice(0)) answer();
    await clock.settle();
    expect(answers).toHaveLength(16);
  });

  it('a drain does not wait for it, and leaves no timer', async () => {
    const { clock, boot, job } = world();
    const { scheduler } = boot(job('report', hourly, { lastRun: () => new Promise(() => undefined) }));
    await clock.settle();
    await scheduler.drain();
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('caught-up fires', () => {
  /** Replicas that boot together after an outage over `count` instants. */
  async function replay(
    count: number,
    size: number,
    change: Parameters<typeof definition>[2],
    options: Partial<ReplicaOptions> = {},
  ) {
    const it = world();
    const before = it.boot(it.job('beat', every(10 * SECOND)));
    await it.clock.advance(10 * SECOND);
    await it.close(before);
    it.runs.length = 0;
    it.trips.length = 0;
    await it.clock.advance(count * 10 * SECOND);
    const policies = { missed: 'run-all', missedToleranceMs: 0, ...change } as const;
    const replicas = Array.from({ length: size }, () => it.boot(it.job('beat', every(10 * SECOND), policies), options));
    return { ...it, replicas };
  }

  it('of three replicas that replay 300 instants together, more than a store keeps: none is lost, none runs twice', async () => {
    const { clock, runs, trips, replicas } = await replay(300, 3, {});
    await clock.settle();
    expect(runs).toHaveLength(300);
    expect(new Set(runs).size).toBe(300);
    expect(trips.map((keys) => keys.length)).toEqual([300, 300, 300]);
    expect(trips[0]).toEqual(trips[0]?.toSorted());
    for (const { story } of replicas) expect(story().length).toBeGreaterThanOrEqual(300);
  });

  it('run eight at a time on a replica, oldest first', async () => {
    const method = heldMethod();
    const { clock, replicas } = await replay(20, 1, { run: method.run });
    const [{ ofType }] = replicas as [(typeof replicas)[0]];
    await clock.settle();
    expect(method.calls).toHaveLength(8);
    for (let ended = 0; ended < 20; ended++) {
      method.calls[ended]?.end();
      await clock.settle();
      expect(method.calls).toHaveLength(Math.min(20, ended + 9));
    }
    const started = ofType('fire.started').map(({ fire }) => fire.fireKey);
    expect(started).toEqual(started.toSorted());
  });

  it('as many at a time as catchUpConcurrency says; one that overran its time has its place until it returns', async () => {
    const method = heldMethod();
    const { clock, replicas } = await replay(
      6,
      1,
      { run: method.run, timeoutMs: 3 * SECOND },
      { catchUpConcurrency: 2 },
    );
    await clock.advance(3 * SECOND);
    expect(replicas[0]?.story().filter((each) => each === 'failed')).toHaveLength(2);
    expect(method.calls).toHaveLength(2);
    method.calls[0]?.end();
    await clock.settle();
    expect(method.calls).toHaveLength(3);
  });

  it.each(['skip', 'queue'] as const)(
    'with overlap %s run one after the other, oldest first, and none is refused',
    async (overlap) => {
      const method = heldMethod();
      const { clock, replicas } = await replay(12, 1, { run: method.run, overlap });
      const [{ ofType, story }] = replicas as [(typeof replicas)[0]];
      for (let ended = 0; ended < 12; ended++) {
        await clock.settle();
        expect(method.calls).toHaveLength(ended + 1);
        method.calls[ended]?.end();
      }
      await clock.settle();
      expect(story()).toEqual(Array(12).fill(['started', 'completed']).flat());
      const started = ofType('fire.started').map(({ fire }) => fire.fireKey);
      expect(started).toEqual(started.toSorted());
    },
  );

  it("wait for the entry's and the replica's limit of runs, which they share with live ones", async () => {
    const method = heldMethod();
    const { clock } = await replay(12, 1, { run: method.run, maxConcurrent: 3 }, { maxConcurrentFires: 2 });
    await clock.settle();
    expect(method.calls).toHaveLength(2);
    method.calls[0]?.end();
    await clock.settle();
    expect(method.calls).toHaveLength(3);
  });

  it('that wait for their own entry keep no other entry waiting', async () => {
    const { clock, boot, close, job, runs } = world();
    const change = { missed: 'run-all', missedToleranceMs: 0 } as const;
    const holder = heldMethod();
    const entries = (serial: EntryDefinition['run'], held: EntryDefinition['run']) => [
      job('serial', every(10 * SECOND), { ...change, run: serial, overlap: 'skip' }),
      job('holder', every(10 * SECOND), { missedToleranceMs: 0, run: held }),
      job('other', every(10 * SECOND), { missedToleranceMs: 0 }),
    ];
    const before = boot(
      entries(
        () => undefined,
        () => undefined,
      ),
    );
    await clock.advance(10 * SECOND);
    await close(before);
    await clock.advance(100 * SECOND);
    runs.length = 0;
    boot(entries(heldMethod().run, holder.run), { catchUpConcurrency: 2 });
    await clock.settle();
    expect(runs).toEqual([]);
    holder.calls[0]?.end();
    await clock.settle();
    expect(runs).toEqual(['catch-up other@2026-01-01T11:01:50Z']);
  });

  it("of the wake loop's own late turns go the same way", async () => {
    const method = heldMethod();
    const { clock, boot, job, trips } = world();
    const { story } = boot(
      job('beat', every(10 * SECOND), { run: method.run, overlap: 'skip', missed: 'run-all', missedToleranceMs: 0 }),
    );
    await clock.suspend(35 * SECOND);
    expect(trips.map((keys) => keys.length)).toEqual([3]);
    for (let ended = 0; ended < 3; ended++) {
      method.calls[ended]?.end();
      await clock.settle();
    }
    expect(story()).toEqual(['started', 'completed', 'started', 'completed', 'started', 'completed']);
  });

  it('a loop blocked over three slots while the other replica ran them: the blocked one says already-claimed', async () => {
    const { clock, boot, job, runs } = world();
    const change = { missed: 'run-all', missedToleranceMs: 0 } as const;
    const slots = at('2026-01-01T11:00:10Z', '2026-01-01T11:00:20Z', '2026-01-01T11:00:30Z');
    boot(job('beat', slots, change));
    // Its clock is behind, so that it comes to the three slots when the other has run them.
    const late = boot(job('beat', slots, change), { offsetMs: -30 * SECOND });
    await clock.advance(30 * SECOND);
    expect(runs).toHaveLength(3);
    await clock.suspend(35 * SECOND);
    expect(runs).toHaveLength(3);
    expect(late.story()).toEqual(Array(3).fill('skipped already-claimed'));
  });

  it('of a paused entry are rejected, and claim nothing', async () => {
    const { clock, boot, close, job, trips } = world();
    const before = boot(job('report', hourly));
    await clock.advanceTo('2026-01-01T12:30:00Z');
    await close(before);
    await clock.advanceTo('2026-01-01T13:30:00Z');
    trips.length = 0;
    const paused = boot(job('report', hourly));
    paused.scheduler.pause('report');
    await clock.settle();
    expect(paused.story()).toEqual(['rejected paused']);
    expect(trips).toEqual([]);
  });

  it('that have their claim and wait run in the time a drain leaves, and else end failed at its deadline', async () => {
    const method = heldMethod();
    const { clock, replicas } = await replay(4, 1, { run: method.run, overlap: 'skip' });
    const [{ scheduler, story, ofType }] = replicas as [(typeof replicas)[0]];
    await clock.settle();
    let drained = false;
    void scheduler.drain().then(() => {
      drained = true;
    });
    await clock.advance(SECOND);
    method.calls[0]?.end();
    await clock.settle();
    expect(method.calls).toHaveLength(2);
    // The second one never returns.
    await clock.advance(11 * SECOND);
    expect(drained).toBe(true);
    expect(story().filter((each) => each === 'started')).toHaveLength(2);
    expect(ofType('fire.completed')).toHaveLength(1);
    expect(ofType('fire.failed').map(({ error }) => error)).toMatchObject(Array(3).fill({ code: 'DRAIN_DEADLINE' }));
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('resume', () => {
  it.each([
    ['goes on from now', {}, []],
    [
      'with catchUp applies the missed policy to the pause',
      { catchUp: true },
      ['catch-up report@2026-01-01T13:00:00Z'],
    ],
  ] as const)('%s', async (_, options, ran) => {
    const { clock, boot, job, runs } = world();
    const { scheduler, ofType } = boot(job('report', hourly));
    await clock.advanceTo('2026-01-01T11:30:00Z');
    scheduler.pause('report');
    await clock.advanceTo('2026-01-01T13:30:00Z');
    scheduler.resume('report', options);
    await clock.settle();
    expect(runs).toEqual(ran);
    expect(ofType('fire.missed').map(({ foundBy, count }) => [foundBy, count])).toEqual(
      ran.length === 0 ? [] : [['resume', 1]],
    );
    await clock.advanceTo('2026-01-01T14:00:00Z');
    expect(runs.slice(ran.length)).toEqual(['report@2026-01-01T14:00:00Z']);
  });

  it('with catchUp leaves what came before the pause, and what another replica ran meanwhile', async () => {
    const { clock, boot, job, runs } = world();
    const change = { missed: 'run-all' } as const;
    const a = boot(job('report', hourly, change));
    await clock.advanceTo('2026-01-01T12:30:00Z');
    a.scheduler.pause('report');
    const b = boot(job('report', hourly, change));
    await clock.advanceTo('2026-01-01T13:30:00Z');
    void b.scheduler.stop();
    await clock.advanceTo('2026-01-01T14:30:00Z');
    runs.length = 0;
    a.scheduler.resume('report', { catchUp: true });
    await clock.settle();
    expect(runs).toEqual(['catch-up report@2026-01-01T14:00:00Z']);
    expect(a.story().slice(-3)).toEqual(['skipped already-claimed', 'started', 'completed']);
  });
});

describe('where the leader lease gates', () => {
  it('the start reads nothing; leadership that is gained applies the rule of a boot to the gap', async () => {
    const { clock, boot, job, runs, reads } = world();
    const leader = boot(job('report', every(10 * SECOND)), { leadership: true });
    await clock.advance(5 * SECOND);
    const follower = boot(job('report', every(10 * SECOND), { missedToleranceMs: SECOND }), { leadership: true });
    await clock.advance(10 * SECOND);
    expect(runs).toEqual(['report@2026-01-01T11:00:10Z']);
    expect(reads).toHaveLength(1);
    await leader.scheduler.stop();
    await clock.advance(7 * SECOND);
    expect(runs.slice(1)).toEqual(['report@2026-01-01T11:00:20Z']);
    expect(follower.ofType('fire.missed')).toEqual([]);
    expect(reads).toHaveLength(2);
  });

  it('the fires of a gap run under the missed policy when leadership is gained, and are reported once', async () => {
    const { clock, boot, job, runs } = world();
    const leader = boot(job('report', every(10 * SECOND), { missedToleranceMs: SECOND }), { leadership: true });
    await clock.advance(10 * SECOND);
    // The leader ends to lead, and nobody follows.
    const way = cutOff(leader);
    await clock.advance(55 * SECOND);
    expect(leader.ofType('fire.skipped').at(-1)).toMatchObject({ reason: 'election-error' });
    const before = runs.length;
    way.mend();
    await clock.advance(3 * SECOND);
    expect(runs.slice(before)).toEqual(['catch-up report@2026-01-01T11:01:00Z']);
    expect(leader.ofType('fire.missed').map(({ foundBy }) => foundBy)).toEqual(['leadership']);
  });

  it('a gap that was reported is not reported again with the next term', async () => {
    const { clock, boot, job } = world();
    const change = { missed: 'skip', missedToleranceMs: SECOND } as const;
    const leader = boot(job('report', every(10 * SECOND), change), { leadership: true });
    await clock.advance(10 * SECOND);
    const way = cutOff(leader);
    await clock.advance(55 * SECOND);
    way.mend();
    await clock.advance(2 * SECOND);
    expect(leader.ofType('fire.missed')).toHaveLength(1);
    // Claims nothing in its second term, so that the store remembers what it did before.
    leader.scheduler.pause('report');
    const again = cutOff(leader);
    await clock.advance(60 * SECOND);
    again.mend();
    await clock.advance(2 * SECOND);
    const [first, second] = leader.ofType('fire.missed');
    expect(second?.first.getTime()).toBeGreaterThan(first!.last.getTime());
  });

  it('a read that succeeds when its replica leads no more makes up for nothing; its next term does', async () => {
    const { clock, state, boot, job, runs } = world();
    const change = { missed: 'run-all', missedToleranceMs: SECOND } as const;
    const leader = boot(job('report', every(10 * SECOND), change), { leadership: true });
    await clock.advance(10 * SECOND);
    const way = cutOff(leader);
    await clock.advance(55 * SECOND);
    // It leads again, but its last fires cannot be read.
    state.away = true;
    way.mend();
    await clock.advance(2 * SECOND);
    expect(leader.ofType('history.unreachable')).toHaveLength(1);
    const again = cutOff(leader);
    await clock.advance(30 * SECOND);
    state.away = false;
    await clock.advance(2 * SECOND);
    expect(runs.filter((run) => run.startsWith('catch-up'))).toEqual([]);
    expect(leader.ofType('fire.skipped').filter(({ fire }) => fire.origin === 'catch-up')).toEqual([]);
    again.mend();
    await clock.advance(2 * SECOND);
    expect(runs.filter((run) => run.startsWith('catch-up'))).toEqual(
      ['00:40', '00:50', '01:00', '01:10', '01:20', '01:30'].map((time) => `catch-up report@2026-01-01T11:${time}Z`),
    );
  });
});

/** The replica's way to its leases is cut until it is mended; its claims and reads go on. */
function cutOff({ claims }: ReturnType<typeof replica>) {
  const leases = claims!.leases!;
  const { acquire, renew } = leases;
  leases.acquire = () => Promise.reject(new Error('away'));
  leases.renew = () => Promise.reject(new Error('away'));
  return { mend: () => Object.assign(leases, { acquire, renew }) };
}
