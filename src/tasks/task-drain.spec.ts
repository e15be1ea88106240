import { describe, expect, test } from '@jest/globals';
import { held, noted, replica, SECOND, task, watchedLeases } from './tasks.fixture.js';

const ownerOf = ({ store }: Pick<ReturnType<typeof replica>, 'store'>) =>
  store.leasesOf('shop').get('task:task')?.owner;

describe('a drain of tasks', () => {
  test('lets running methods finish, starts no further run, gives the leases back then, and leaves no timer', async () => {
    const given = replica();
    const { clock, tasks, story } = given;
    const singleton = held();
    const waiting = noted(clock);
    tasks.add(task('singleton', singleton.run));
    tasks.add(task('parallel', waiting.by('a'), { key: 'waiting', initialDelayMs: 4 * SECOND }));
    tasks.start();
    await clock.advance(SECOND);
    const drained = given.close();
    await clock.advance(5 * SECOND);
    expect(ownerOf(given)).toBe('a');
    singleton.calls[0]?.end(SECOND);
    await clock.settle();
    expect((await drained)[0]).toBe(0);
    expect(ownerOf(given)).toBeNull();
    await clock.advance(60 * SECOND);
    expect(story()).toEqual(['started', 'completed']);
    expect(clock.pendingTimers).toBe(0);
  });

  test('aborts what runs at the deadline, with the reason; the record says when it is tried again', async () => {
    const given = replica({ drainDeadlineMs: 3 * SECOND });
    const { clock, tasks, ofType } = given;
    const run = ({ signal }: { signal: AbortSignal }) =>
      new Promise((_, fail) => signal.addEventListener('abort', () => fail(signal.reason)));
    tasks.add(task('singleton', run));
    tasks.add(task('parallel', run, { key: 'parallel' }));
    tasks.start();
    await clock.advance(SECOND);
    const drained = tasks.drain();
    await clock.advance(3 * SECOND);
    expect(await drained).toBe(2);
    expect(ofType('task.failed').map(({ error }) => (error as { code: string }).code)).toEqual([
      'DRAIN_DEADLINE',
      'DRAIN_DEADLINE',
    ]);
    expect(JSON.parse(given.store.leasesOf('shop').get('task:task')!.valueText)).toMatchObject({
      dueAtMs: clock.now() + 100,
      backoffStep: 1,
    });
    expect([ownerOf(given), clock.pendingTimers]).toEqual([null, 0]);
  });

  test('gives up a method that ignores its signal after a second of grace, and leaves its lease to lapse', async () => {
    const given = replica({ drainDeadlineMs: 3 * SECOND });
    const { clock, tasks, story } = given;
    tasks.add(task('singleton', held().run));
    tasks.start();
    await clock.advance(SECOND);
    const drained = tasks.drain();
    await clock.advance(4 * SECOND);
    expect(await drained).toBe(1);
    expect(story()).toEqual(['started', 'failed']);
    expect([ownerOf(given), clock.pendingTimers]).toEqual(['a', 0]);
  });

  test('hurried, aborts what runs at once', async () => {
    const { clock, tasks } = replica();
    const method = held();
    tasks.add(task('parallel', method.run));
    tasks.start();
    await clock.advance(SECOND);
    const drained = tasks.drain();
    tasks.hurry();
    await clock.settle();
    expect(method.calls[0]?.context.signal.reason).toMatchObject({ code: 'DRAIN_DEADLINE' });
    method.calls[0]?.end(1);
    expect(await drained).toBe(1);
  });

  test('that starts while a lease is being asked for gives it back and runs nothing', async () => {
    let answer: () => void = () => undefined;
    const given = replica({
      backend: watchedLeases((operation) =>
        operation === 'acquire' ? new Promise((resolve) => (answer = resolve)) : undefined,
      ),
    });
    const { clock, tasks, story } = given;
    tasks.add(task('singleton', () => SECOND));
    tasks.start();
    await clock.advance(SECOND);
    const drained = tasks.drain();
    answer();
    await clock.settle();
    expect(await drained).toBe(0);
    expect(story()).toEqual([]);
    expect([ownerOf(given), clock.pendingTimers]).toEqual([null, 0]);
  });

  test('refuses what comes after it, and every call answers the same promise', async () => {
    const { tasks } = replica();
    tasks.add(task('parallel', () => SECOND));
    const drained = tasks.drain();
    expect(tasks.drain()).toBe(drained);
    await drained;
    expect(() => tasks.add(task('parallel', () => SECOND, { key: 'late' }))).toThrow(
      expect.objectContaining({ code: 'SCHEDULER_STOPPED' }),
    );
    await expect(tasks.runNow('task')).rejects.toMatchObject({ code: 'SCHEDULER_STOPPED' });
  });
});
