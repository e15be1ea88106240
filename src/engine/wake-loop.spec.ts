import { AsyncLocalStorage } from 'node:async_hooks';
import { describe, expect, it } from '@jest/globals';
import { MemoryBackend } from '../coordination/memory/memory-backend.js';
import { MemoryStore } from '../coordination/memory/memory-store.js';
import { MISSED_POLICIES } from '../domain/policies.js';
import type { Schedule } from '../schedule/schedule.js';
import { VirtualClock } from '../testing/virtual-clock.js';
import { at, DAY, definition, every, fleet, HOUR, MINUTE, replica, SECOND } from './replica.fixture.js';

const time = (date: Date | number) => new Date(date).toISOString().slice(11, 19);

describe('wake loop', () => {
  describe('waiting', () => {
    it('has one timer, however many entries wait', async () => {
      const { clock, scheduler } = replica();
      scheduler.start();
      expect(clock.pendingTimers).toBe(0);
      for (let i = 0; i < 200; i++) scheduler.add(definition(`entry-${i}`, every(SECOND + i)));
      expect(clock.pendingTimers).toBe(1);
      await clock.advance(10 * SECOND);
      expect(clock.pendingTimers).toBe(1);
    });

    it('a wait above 2^31 - 1 ms does not fire at once, and fires at its instant', async () => {
      const { clock, scheduler, ofType } = replica();
      const instant = new Date(clock.now() + 2 ** 31 + 500);
      scheduler.add(definition('far', at(instant.getTime())));
      scheduler.start();
      await clock.advance(HOUR);
      expect(ofType('fire.started')).toEqual([]);
      // Not slice by slice for 25 days: as a machine that slept.
      await clock.suspend(2 ** 31 - HOUR);
      expect(ofType('fire.started')).toEqual([]);
      await clock.advance(500);
      expect(ofType('fire.started').map(({ fire }) => fire.scheduledAt)).toEqual([instant]);
      expect(ofType('fire.started')[0]?.latenessMs).toBe(0);
    });

    it('notices within five seconds that the wall clock was moved, however far the next instant is', async () => {
      const { clock, scheduler, ofType } = replica();
      scheduler.add(definition('daily', every(DAY)));
      scheduler.start();
      await clock.advance(10 * MINUTE);
      clock.step(DAY - 10 * MINUTE + 100);
      await clock.advance(5 * SECOND);
      expect(ofType('fire.completed')).toHaveLength(1);
    });

    it('an entry that is due sooner than what is waited for shortens the wait; nothing waits for a removed one', async () => {
      const { clock, scheduler, ofType } = replica();
      scheduler.start();
      scheduler.add(definition('slow', every(900)));
      scheduler.add(definition('quick', every(7)));
      await clock.advance(7);
      expect(ofType('fire.started').map(({ fire }) => fire.entryKey)).toEqual(['quick']);
      scheduler.remove('quick');
      scheduler.remove('slow');
      expect(clock.pendingTimers).toBe(0);
    });

    it('a timer that calls back 4 ms early runs the fire once, at its instant', async () => {
      const { clock, scheduler, ofType } = replica();
      scheduler.add(definition('second', every(SECOND)));
      scheduler.start();
      for (let i = 0; i < 5; i++) {
        await clock.wakeEarly(4);
        expect(ofType('fire.started')).toHaveLength(i);
        await clock.advance(4);
      }
      expect(ofType('fire.started').map(({ latenessMs }) => latenessMs)).toEqual([0, 0, 0, 0, 0]);
      expect(new Set(ofType('fire.started').map(({ fire }) => fire.fireKey)).size).toBe(5);
    });

    it('a late wake computes the next instant from the scheduled one, not from now', async () => {
      const asked: number[] = [];
      const { clock, scheduler, ofType } = replica();
      const start = clock.now();
      const schedule: Schedule = {
        ...every(10 * SECOND),
        next: (afterMs) => {
          asked.push(afterMs - start);
          return every(10 * SECOND).next(afterMs);
        },
        minIntervalMs: 10 * SECOND,
      };
      scheduler.add(definition('late', schedule));
      scheduler.start();
      await clock.suspend(10 * SECOND + 700);
      expect(asked).toEqual([0, 10 * SECOND]);
      expect(ofType('fire.started')[0]).toMatchObject({ latenessMs: 700 });
      expect(ofType('entry.scheduled').at(-1)?.nextAt?.getTime()).toBe(start + 20 * SECOND);
    });
  });

  describe('a wall clock that steps', () => {
    it('set back two hours: no entry is silent, and no fire that ran runs again', async () => {
      const { clock, replicas } = fleet(1);
      const { scheduler, ofType } = replicas[0]!;
      scheduler.add(definition('quarterly', every(15 * MINUTE)));
      scheduler.start();
      await clock.advance(3 * HOUR);
      const before = ofType('fire.started').map(({ fire }) => fire.fireKey);
      clock.step(-2 * HOUR);
      await clock.advance(2 * HOUR);
      // The two hours again: each instant is reached, and its claim refuses it.
      expect(ofType('fire.skipped').map(({ reason }) => reason)).toEqual(Array(8).fill('already-claimed'));
      await clock.advance(HOUR);
      const all = ofType('fire.started').map(({ fire }) => fire.fireKey);
      expect(all.slice(0, before.length)).toEqual(before);
      expect(all).toHaveLength(before.length + 4);
      expect(new Set(all).size).toBe(all.length);
    });

    it('set ahead for one fire and back: the true fire runs too, once, and the entry is not silent in between', async () => {
      const { clock, scheduler, ofType } = replica();
      scheduler.add(definition('hourly', every(HOUR)));
      scheduler.start();
      await clock.advance(30 * MINUTE);
      clock.step(2 * HOUR);
      await clock.advance(45 * MINUTE);
      expect(ofType('fire.started').map(({ fire }) => time(fire.scheduledAt))).toEqual(['02:00:00', '03:00:00']);
      clock.step(-2 * HOUR);
      await clock.advance(2 * HOUR);
      expect(ofType('fire.started').map(({ fire }) => time(fire.scheduledAt))).toEqual([
        '02:00:00',
        '03:00:00',
        '02:00:00',
        '03:00:00',
      ]);
    });

    it('set back by less than an early wake: no fire that ran is planned again', async () => {
      const { clock, scheduler, ofType } = replica();
      scheduler.add(definition('minutely', every(MINUTE)));
      scheduler.add(definition('jittered', every(MINUTE), { jitterMs: 20 }));
      scheduler.start();
      await clock.advance(MINUTE);
      clock.step(-50);
      // The jitter's end is a turn of the loop in which the wall clock shows less than the instant that was reached.
      await clock.advance(30 * SECOND);
      expect(ofType('fire.started').map(({ fire }) => fire.entryKey)).toEqual(['minutely', 'jittered']);
      expect(ofType('entry.scheduled')).toHaveLength(4);
    });

    it('set back: an entry that was added before the step does not wait for the time that was taken back', async () => {
      const { clock, scheduler, ofType } = replica();
      await clock.advance(3 * HOUR);
      scheduler.start();
      scheduler.add(definition('quarterly', every(15 * MINUTE)));
      clock.step(-2 * HOUR);
      await clock.advance(15 * MINUTE);
      expect(ofType('fire.started').map(({ fire }) => time(fire.scheduledAt))).toEqual(['01:15:00']);
    });

    it('ahead by an hour right after start: no burst', async () => {
      const { clock, scheduler, ofType } = replica();
      for (const [key, stepMs] of [
        ['second', SECOND],
        ['minute', MINUTE],
        ['quarter', 15 * MINUTE],
      ] as const)
        scheduler.add(definition(key, every(stepMs)));
      scheduler.start();
      clock.step(HOUR);
      await clock.advance(SECOND);
      const runs = ofType('fire.started').map(({ fire }) => `${fire.entryKey} ${time(fire.scheduledAt)}`);
      expect(runs).toEqual(['second 01:00:01', 'minute 01:00:00', 'quarter 01:00:00']);
      expect(ofType('fire.missed').map(({ entryKey, count, atLeast }) => ({ entryKey, count, atLeast }))).toEqual([
        { entryKey: 'second', count: 3_600, atLeast: false },
        { entryKey: 'minute', count: 59, atLeast: false },
        { entryKey: 'quarter', count: 3, atLeast: false },
      ]);
    });
  });

  describe('a replica that was suspended over three instants, the last of them too long ago', () => {
    const expected = {
      skip: { runs: [], missed: 3 },
      'run-once': { runs: ['00:45:00'], missed: 2 },
      'run-all': { runs: ['00:15:00', '00:30:00', '00:45:00'], missed: 0 },
    };
    it.each(MISSED_POLICIES)('%s', async (missed) => {
      const { clock, scheduler, ofType } = replica();
      scheduler.add(definition('quarterly', every(15 * MINUTE), { missed }));
      scheduler.start();
      await clock.suspend(50 * MINUTE);
      const runs = ofType('fire.completed').map(({ fire }) => time(fire.scheduledAt));
      expect(runs).toEqual(expected[missed].runs);
      expect(ofType('fire.missed').reduce((sum, { count }) => sum + count, 0)).toBe(expected[missed].missed);
      if (missed === 'skip')
        expect(ofType('fire.missed')[0]).toMatchObject({
          policy: 'skip',
          latenessMs: 5 * MINUTE,
          entryKey: 'quarterly',
        });
      // It goes on as if nothing had been.
      await clock.advance(10 * MINUTE);
      expect(
        ofType('fire.completed')
          .map(({ fire }) => time(fire.scheduledAt))
          .at(-1),
      ).toBe('01:00:00');
      expect(ofType('fire.completed')).toHaveLength(expected[missed].runs.length + 1);
    });
  });

  it.each(MISSED_POLICIES)(
    '%s on a blocked replica, while a healthy one ran all three: it runs none',
    async (missed) => {
      const clock = new VirtualClock();
      const store = new MemoryStore({ clock });
      const healthy = replica({ clock, backend: new MemoryBackend({ store }), id: 'healthy' });
      const blocked = replica({ backend: new MemoryBackend({ store }), id: 'blocked' });
      for (const { scheduler } of [healthy, blocked]) {
        scheduler.add(definition('quarterly', every(15 * MINUTE), { missed }));
        scheduler.start();
      }
      await healthy.clock.advance(50 * MINUTE);
      await blocked.clock.suspend(50 * MINUTE);
      expect(healthy.ofType('fire.completed')).toHaveLength(3);
      expect(blocked.ofType('fire.started')).toEqual([]);
      expect(blocked.ofType('fire.skipped').map(({ reason }) => reason)).toEqual(
        Array({ skip: 0, 'run-once': 1, 'run-all': 3 }[missed]).fill('already-claimed'),
      );
    },
  );

  describe('a schedule that breaks its promise', () => {
    const broken: [string, (afterMs: number) => unknown][] = [
      [
        'throws',
        () => {
          throw new Error('no');
        },
      ],
      ['does not advance', (afterMs) => afterMs],
      ['goes back', (afterMs) => afterMs - SECOND],
      ['answers NaN', () => Number.NaN],
      ['answers a fraction', (afterMs) => afterMs + 0.5],
      ['answers infinity', () => Number.POSITIVE_INFINITY],
      ['answers what no date can hold', () => 8.7e15],
      ['answers nothing', () => undefined],
      ['answers a promise', () => Promise.resolve(1)],
      ['answers an object without a text', () => Object.create(null)],
    ];

    it.each(broken)('at start, because it %s: that entry stops with an event, the others go on', async (how, next) => {
      const { clock, scheduler, ofType } = replica();
      scheduler.add(definition('before', every(SECOND)));
      scheduler.add(definition('broken', { ...every(SECOND), next } as Schedule));
      scheduler.add(definition('after', every(SECOND)));
      scheduler.start();
      await clock.advance(2 * SECOND);
      expect(ofType('entry.failed').map(({ entryKey }) => entryKey)).toEqual(['broken']);
      const { error } = ofType('entry.failed')[0]!;
      expect(error).toMatchObject(how === 'throws' ? { message: 'no' } : { code: 'SCHEDULE_ANSWER' });
      expect(ofType('fire.completed').map(({ fire }) => fire.entryKey)).toEqual(['before', 'after', 'before', 'after']);
      expect(scheduler.list().map(({ failed, nextAt }) => failed === (nextAt === null))).toEqual([true, true, true]);
    });

    it.each(broken)('after its first fire, because it %s: the fire ran, then the entry stops', async (_, next) => {
      const { clock, scheduler, ofType } = replica();
      const start = clock.now();
      const worksOnce = {
        ...every(SECOND),
        next: (afterMs: number) => (afterMs === start ? start + SECOND : next(afterMs)),
      } as Schedule;
      scheduler.add(definition('broken', worksOnce));
      scheduler.add(definition('sound', every(SECOND)));
      scheduler.start();
      await clock.advance(3 * SECOND);
      expect(ofType('entry.failed')).toHaveLength(1);
      expect(
        ofType('fire.completed')
          .map(({ fire }) => fire.entryKey)
          .filter((key) => key === 'sound'),
      ).toHaveLength(3);
    });

    it('whose very properties throw stops alone too', async () => {
      const { clock, scheduler, ofType } = replica();
      const broken = Object.defineProperty({ ...every(SECOND) }, 'minIntervalMs', {
        get() {
          throw new Error('no');
        },
      });
      scheduler.add(definition('broken', broken));
      scheduler.add(definition('sound', every(SECOND)));
      scheduler.start();
      await clock.advance(2 * SECOND);
      expect(ofType('entry.failed').map(({ entryKey }) => entryKey)).toEqual(['broken']);
      expect(ofType('fire.completed').map(({ fire }) => fire.entryKey)).toEqual(['sound', 'sound']);
    });

    it('an update with a sound schedule brings the entry back; a clock that is set back does not', async () => {
      const { clock, scheduler, ofType } = replica();
      let asked = 0;
      scheduler.add(
        definition('broken', {
          ...every(HOUR),
          minIntervalMs: HOUR,
          next: (afterMs) => {
            asked += 1;
            if (asked === 1) return every(HOUR).next(afterMs);
            throw new Error('no');
          },
        }),
      );
      scheduler.add(definition('sound', every(MINUTE)));
      scheduler.start();
      await clock.advance(HOUR);
      clock.step(-30 * MINUTE);
      await clock.advance(MINUTE);
      expect(asked).toBe(2);
      expect(ofType('entry.failed')).toHaveLength(1);
      scheduler.update('broken', { schedule: every(SECOND) });
      await clock.advance(SECOND);
      expect(ofType('fire.completed').at(-1)?.fire.entryKey).toBe('broken');
      expect(scheduler.list().map(({ failed }) => failed)).toEqual([false, false]);
    });

    it('that removes its own entry while it is asked leaves nothing armed', async () => {
      const { clock, scheduler, events } = replica();
      scheduler.start();
      const schedule = {
        ...every(SECOND),
        next: (afterMs: number) => {
          if (scheduler.list().length > 0) scheduler.remove('odd');
          return every(SECOND).next(afterMs);
        },
      };
      scheduler.add(definition('odd', schedule));
      await clock.advance(3 * SECOND);
      expect(events.map(({ type }) => type)).toEqual(['scheduler.started', 'entry.removed']);
      expect(clock.pendingTimers).toBe(0);
    });
  });

  it('a schedule that ends says so, keeps its entry, and sets no timer', async () => {
    const { clock, scheduler, ofType } = replica();
    scheduler.add(definition('once', at(clock.now() + SECOND)));
    scheduler.start();
    await clock.advance(SECOND);
    expect(ofType('entry.scheduled').map(({ nextAt }) => nextAt?.getTime() ?? null)).toEqual([clock.now(), null]);
    expect(scheduler.list()).toMatchObject([{ key: 'once', nextAt: null, failed: false }]);
    expect(clock.pendingTimers).toBe(0);
  });

  it('asks a schedule that entries share once per turn', async () => {
    let asked = 0;
    const shared = {
      ...every(SECOND),
      minIntervalMs: SECOND,
      next: (afterMs: number) => {
        asked += 1;
        return every(SECOND).next(afterMs);
      },
    };
    const { clock, scheduler, ofType } = replica();
    for (let i = 0; i < 50; i++) scheduler.add(definition(`entry-${i}`, shared));
    scheduler.start();
    asked = 0;
    await clock.advance(SECOND);
    expect(ofType('fire.completed')).toHaveLength(50);
    expect(asked).toBe(1);
  });

  describe('a method that changes the scheduler while it is called', () => {
    it('removes its own entry: the rest of what was caught up is canceled', async () => {
      const { clock, scheduler, story } = replica();
      const run = () => scheduler.remove('a');
      scheduler.add(definition('a', every(15 * MINUTE), { missed: 'run-all', run }));
      scheduler.start();
      await clock.suspend(50 * MINUTE);
      expect(story()).toEqual(['started', 'completed', 'canceled removed', 'canceled removed']);
      await clock.advance(HOUR);
      expect(story()).toHaveLength(4);
      expect(clock.pendingTimers).toBe(0);
    });

    it('removes another that is due in the same turn: that fire is canceled, not silent', async () => {
      const { clock, scheduler, story } = replica();
      scheduler.add(definition('a', every(SECOND), { run: () => scheduler.remove('b') }));
      scheduler.add(definition('b', every(SECOND)));
      scheduler.start();
      await clock.advance(SECOND);
      expect(story('b')).toEqual(['canceled removed']);
    });

    it('updates its own entry: the new schedule counts, and is armed once', async () => {
      const { clock, scheduler, ofType } = replica();
      const start = clock.now();
      scheduler.add(
        definition('a', every(SECOND), {
          run: () => scheduler.update('a', { schedule: every(10 * SECOND), run: () => undefined }),
        }),
      );
      scheduler.start();
      await clock.advance(25 * SECOND);
      expect(ofType('fire.completed').map(({ fire }) => fire.scheduledAt.getTime() - start)).toEqual([
        SECOND,
        10 * SECOND,
        20 * SECOND,
      ]);
    });

    it('updates another that is due in the same turn: that fire is canceled as updated', async () => {
      const { clock, scheduler, story } = replica();
      scheduler.add(definition('a', every(SECOND), { run: () => scheduler.update('b', { schedule: every(HOUR) }) }));
      scheduler.add(definition('b', every(SECOND)));
      scheduler.start();
      await clock.advance(SECOND);
      expect(story('b')).toEqual(['canceled updated']);
    });

    it('drains the scheduler: what else is due in that turn is canceled, with jitter too, and nothing is armed', async () => {
      const { clock, scheduler, story } = replica();
      scheduler.add(definition('a', every(SECOND), { run: () => void scheduler.drain() }));
      scheduler.add(definition('b', every(SECOND)));
      scheduler.add(definition('c', every(SECOND), { jitterMs: HOUR }));
      scheduler.start();
      await clock.advance(SECOND);
      expect(story()).toEqual(['started', 'completed', 'canceled draining', 'canceled draining']);
      expect(scheduler.state).toBe('stopped');
      expect(scheduler.list().map(({ nextAt }) => nextAt)).toEqual([null, null, null]);
      expect(clock.pendingTimers).toBe(0);
    });

    it('adds an entry and triggers another: both work', async () => {
      const { clock, scheduler, story } = replica();
      scheduler.add(definition('b', every(HOUR)));
      scheduler.add(
        definition('a', at(clock.now() + SECOND), {
          run: () => {
            scheduler.add(definition('c', every(SECOND)));
            scheduler.trigger('b');
          },
        }),
      );
      scheduler.start();
      await clock.advance(2 * SECOND);
      expect(story('b')).toEqual(['started', 'completed']);
      expect(story('c')).toEqual(['started', 'completed']);
    });
  });

  it('fires run in the context the scheduler was made in, not in that of whoever set its timer', async () => {
    const request = new AsyncLocalStorage<string>();
    const seen: unknown[] = [];
    const { clock, scheduler } = replica();
    scheduler.start();
    const run = () => void seen.push(request.getStore());
    request.run('a request', () => scheduler.add(definition('a', every(SECOND), { run })));
    await clock.advance(2 * SECOND);
    expect(seen).toEqual([undefined, undefined]);
  });

  it('many entries of several schedules, watched for a minute, run each instant once', async () => {
    const { clock, scheduler, ofType } = replica({ clock: new VirtualClock('2026-03-29T00:59:30Z') });
    const steps = [700, SECOND, 1_500, 7 * SECOND, MINUTE];
    await Promise.all([
      scheduler.addAll(Array.from({ length: 200 }, (_, i) => definition(`entry-${i}`, every(steps[i % 5]!)))),
      clock.advance(0),
    ]);
    const start = clock.now();
    scheduler.start();
    await clock.advance(MINUTE);
    const keys = ofType('fire.completed').map(({ fire }) => fire.fireKey);
    expect(new Set(keys).size).toBe(keys.length);
    const due = (stepMs: number) => Math.floor((start + MINUTE) / stepMs) - Math.floor(start / stepMs);
    expect(keys).toHaveLength(steps.reduce((sum, stepMs) => sum + 40 * due(stepMs), 0));
    expect(ofType('fire.missed')).toEqual([]);
  });
});
