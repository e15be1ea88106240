import { describe, expect, it } from '@jest/globals';
import { Subject } from 'rxjs';
import type { CronEvent } from '../events/cron-event.js';
import { recorder } from './recorder.js';
import { watchStandstill } from './standstill.js';
import { VirtualClock } from './virtual-clock.js';

const base = { atMs: 0, instanceId: 'i' };

function fireOf(entryKey: string) {
  return { entryKey, fireKey: `${entryKey}@x`, scheduledAt: new Date(0), origin: 'schedule' } as const;
}

const started = (key: string): CronEvent => ({ ...base, type: 'fire.started', fire: fireOf(key), latenessMs: 0 });
const completed = (key: string): CronEvent => ({ ...base, type: 'fire.completed', fire: fireOf(key), durationMs: 0 });
const skipped = (key: string): CronEvent => ({
  ...base,
  type: 'fire.skipped',
  fire: fireOf(key),
  reason: 'not-leader',
});
const task = (taskKey: string): CronEvent => ({
  ...base,
  type: 'task.started',
  taskKey,
  kind: 'parallel',
  attempt: 1,
  fencingToken: null,
});
const missed = (entryKey: string): CronEvent => ({
  ...base,
  type: 'fire.missed',
  entryKey,
  policy: 'skip',
  foundBy: 'loop',
  first: new Date(0),
  last: new Date(0),
  count: 1,
  atLeast: false,
  latenessMs: 0,
});

function recording(clock?: VirtualClock) {
  const events$ = new Subject<CronEvent>();
  return { events$, told: recorder({ events$ }, clock ? { clock } : {}) };
}

const types = (events: readonly CronEvent[]) => events.map(({ type }) => type);

describe('recorder', () => {
  it('counts what was told of all, of a type, and of one key', () => {
    const { events$, told } = recording();
    for (const event of [started('a'), completed('a'), skipped('a'), started('b'), missed('a'), task('a'), task('t')])
      events$.next(event);
    expect(told.events).toHaveLength(7);
    expect(told.count('fire.started')).toBe(2);
    expect(told.ofType('fire.started').map(({ fire }) => fire.fireKey)).toEqual(['a@x', 'b@x']);
    expect(types(told.fires('a'))).toEqual(['fire.started', 'fire.completed', 'fire.skipped', 'fire.missed']);
    expect(told.fires()).toHaveLength(5);
    expect(types(told.runs('a'))).toEqual(['fire.started', 'task.started']);
    expect(told.runs()).toHaveLength(4);
    expect(told.skips('a')).toHaveLength(1);
    expect(told.skips('b')).toHaveLength(0);
    expect(told.running).toBe(3);
  });

  it('waits for an event to come, and does not for one that was told already', async () => {
    const { events$, told } = recording();
    const waiting = told.waitFor('fire.started', ({ fire }) => fire.entryKey === 'b');
    events$.next(started('a'));
    events$.next(completed('b'));
    events$.next(started('b'));
    expect((await waiting).fire.entryKey).toBe('b');
    expect((await told.waitFor('fire.started')).fire.entryKey).toBe('a');
  });

  it('after clear, waits for the next', async () => {
    const { events$, told } = recording();
    events$.next(started('a'));
    told.clear();
    const waiting = told.waitFor('fire.started');
    events$.next(started('b'));
    expect((await waiting).fire.entryKey).toBe('b');
    expect(told.runs()).toHaveLength(1);
  });

  it('a wait ends with the stream, at once where that has ended already', async () => {
    const { events$, told } = recording();
    const waiting = told.waitFor('fire.completed');
    events$.complete();
    await expect(waiting).rejects.toThrow('no such "fire.completed" was told, and its stream has ended');
    await expect(told.waitFor('fire.failed')).rejects.toThrow('no such "fire.failed"');
  });

  it('a predicate that throws fails its wait and no other', async () => {
    const { events$, told } = recording();
    const bad = told.waitFor('fire.started', () => {
      throw new Error('predicate');
    });
    const good = told.waitFor('fire.started');
    events$.next(started('a'));
    await expect(bad).rejects.toThrow('predicate');
    await good;
  });

  it('on a virtual clock that nobody moves, a wait fails and says so, unless a method runs', async () => {
    const clock = new VirtualClock();
    clock.setTimer(() => undefined, 1_000);
    const busy = recording(clock);
    busy.events$.next(started('a'));
    let given = false;
    busy.told.waitFor('fire.completed').catch(() => {
      given = true;
    });
    await expect(recording(clock).told.waitFor('fire.completed')).rejects.toThrow(
      'the virtual clock stands still, and what comes next waits for it. Move it with advance()',
    );
    expect(given).toBe(false);
    busy.events$.complete();
  });

  it('a wait keeps no process alive', () => {
    const before = process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
    const { events$, told } = recording(new VirtualClock());
    void told.waitFor('fire.started');
    expect(process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout')).toHaveLength(before);
    events$.complete();
  });
});

describe('a clock', () => {
  it('does not stand still while it moves, or while it has nothing to call back', async () => {
    const moved = new VirtualClock();
    moved.setTimer(() => undefined, 1_000_000);
    const said: string[] = [];
    const stops = [
      watchStandstill(
        new VirtualClock(),
        () => false,
        () => said.push('idle'),
      ),
      watchStandstill(
        moved,
        () => false,
        () => said.push('moved'),
      ),
    ];
    const still = new VirtualClock();
    still.setTimer(() => undefined, 1);
    await moved.advance(1);
    await new Promise<void>((resolve) => {
      let looks = 0;
      const busy = () => {
        if (looks++ === 5) void moved.advance(1);
        return false;
      };
      stops.push(watchStandstill(still, busy, resolve));
    });
    for (const stop of stops) stop();
    expect(said).toEqual([]);
  });
});
