import { describe, expect, test } from '@jest/globals';
import { fleet, held, noted, replica, SECOND, task } from './tasks.fixture.js';

describe('a parallel task', () => {
  test('runs on every replica', async () => {
    const { clock, replicas } = fleet(3);
    const method = noted(clock);
    for (const { tasks, id } of replicas) {
      tasks.add(task('parallel', method.by(id)));
      tasks.start();
    }
    await clock.advance(2 * SECOND);
    expect(method.runs.map(({ by }) => by)).toEqual(['a', 'b', 'c', 'a', 'b', 'c']);
  });

  test('runs first after a random part of its initial delay, then when its method said, counted from the end of the run', async () => {
    const { clock, tasks } = replica({ fraction: 0.25 });
    const started = clock.now();
    const times: number[] = [];
    const run = async () => {
      times.push(clock.now() - started);
      await new Promise<void>((resume) => clock.setTimer(resume, 500));
      return '2s';
    };
    tasks.add(task('parallel', run, { initialDelayMs: 4 * SECOND }));
    tasks.start();
    await clock.advance(6 * SECOND);
    expect(times).toEqual([1_000, 3_500, 6_000]);
  });

  test('that returns zero lets others run and waits at least a millisecond', async () => {
    const { clock, tasks } = replica();
    const method = noted(clock, 0);
    tasks.add(task('parallel', method.by('a')));
    tasks.start();
    await clock.advance(5);
    expect(method.times()).toEqual([1, 2, 3, 4, 5]);
  });

  test.each([
    ['a negative number', -1],
    ['NaN', Number.NaN],
    ['nothing', undefined],
    ['no duration', 'soon'],
  ])('that returns %s fails with its key, goes on with backoff, and a success resets that', async (_, bad) => {
    const { clock, tasks, ofType } = replica();
    const started = clock.now();
    const returns = [bad, bad, bad, SECOND, bad, SECOND];
    const seen: { atMs: number; attempt: number; outcome: string | undefined }[] = [];
    tasks.add(
      task('parallel', ({ attempt, previousRun }) => {
        seen.push({ atMs: clock.now() - started, attempt, outcome: previousRun?.outcome });
        return returns.shift();
      }),
    );
    tasks.start();
    await clock.advance(1_802);
    expect(seen).toEqual([
      { atMs: 1, attempt: 1, outcome: undefined },
      { atMs: 101, attempt: 2, outcome: 'failed' },
      { atMs: 301, attempt: 3, outcome: 'failed' },
      { atMs: 701, attempt: 4, outcome: 'failed' },
      { atMs: 1_701, attempt: 1, outcome: 'completed' },
      { atMs: 1_801, attempt: 2, outcome: 'failed' },
    ]);
    expect(ofType('task.failed').map(({ taskKey, nextInMs }) => [taskKey, nextInMs])).toEqual([
      ['task', 100],
      ['task', 200],
      ['task', 400],
      ['task', 100],
    ]);
    expect(ofType('task.failed')[0]?.error).toMatchObject({ code: 'TASK_DELAY_INVALID', taskKey: 'task' });
  });

  test.each([
    [
      'throws',
      () => {
        throw new Error('no');
      },
    ],
    ['rejects', () => Promise.reject(new Error('no'))],
    ['returns a promise of nothing', async () => undefined],
  ])('that %s fails and goes on', async (_, run) => {
    const { clock, tasks, story } = replica();
    tasks.add(task('parallel', run));
    tasks.start();
    await clock.advance(150);
    expect(story()).toEqual(['started', 'failed', 'started', 'failed']);
  });

  test('knows when its previous run started and ended, and what came of it', async () => {
    const { clock, tasks } = replica();
    const method = noted(clock);
    tasks.add(task('parallel', method.by('a')));
    tasks.start();
    await clock.advance(1_500);
    expect(method.runs.map(({ context }) => context.previousRun)).toEqual([
      null,
      {
        startedAt: new Date('2026-01-01T00:00:00.001Z'),
        endedAt: new Date('2026-01-01T00:00:00.001Z'),
        outcome: 'completed',
      },
    ]);
  });

  test('that is slow delays no other', async () => {
    const { clock, tasks } = replica();
    const method = noted(clock);
    tasks.add(task('parallel', held().run, { key: 'slow' }));
    tasks.add(task('parallel', method.by('a'), { key: 'quick' }));
    tasks.start();
    await clock.advance(3 * SECOND);
    expect(method.runs).toHaveLength(3);
  });

  test('a hundred tasks wait on one timer', async () => {
    const { clock, tasks } = replica();
    for (let index = 0; index < 100; index++) {
      tasks.add(task('parallel', () => SECOND + index, { key: `task ${index}`, initialDelayMs: index * SECOND }));
    }
    tasks.start();
    expect(clock.pendingTimers).toBe(1);
  });

  test('waits longer than a timer can', async () => {
    const { clock, tasks } = replica();
    const method = noted(clock, '30d');
    tasks.add(task('parallel', method.by('a')));
    tasks.start();
    await clock.advance(30 * 86_400_000 - 1);
    expect(method.runs).toHaveLength(1);
    await clock.advance(2);
    expect(method.runs).toHaveLength(2);
  });

  test('added while the scheduler runs starts by itself; a key that exists is refused', async () => {
    const { clock, tasks } = replica();
    tasks.start();
    const method = noted(clock);
    tasks.add(task('parallel', method.by('a')));
    expect(() => tasks.add(task('singleton', method.by('a')))).toThrow(
      expect.objectContaining({ code: 'TASK_EXISTS' }),
    );
    await clock.advance(SECOND);
    expect(method.runs).toHaveLength(1);
  });

  test('that is removed runs no more; its running method goes on, and its key can be used again', async () => {
    const { clock, tasks, story } = replica();
    const method = held();
    tasks.add(task('parallel', method.run));
    tasks.start();
    await clock.advance(1);
    tasks.remove('task');
    tasks.add(task('parallel', method.run));
    await clock.advance(SECOND);
    expect(method.calls).toHaveLength(1);
    expect(method.calls[0]?.context.signal.aborted).toBe(false);
    method.calls[0]?.end(SECOND);
    await clock.advance(1);
    expect(story()).toEqual(['started', 'completed', 'started']);
    expect(() => tasks.remove('other')).toThrow(expect.objectContaining({ code: 'TASK_NOT_FOUND' }));
  });
});

describe('runNow', () => {
  test('runs the task at once; the next run comes when the method said', async () => {
    const { clock, tasks } = replica();
    const method = noted(clock, 10 * SECOND);
    tasks.add(task('parallel', method.by('a'), { initialDelayMs: 60 * SECOND }));
    tasks.start();
    await clock.advance(SECOND);
    expect(await tasks.runNow('task')).toBe(10 * SECOND);
    await clock.advance(10 * SECOND);
    expect(method.times()).toEqual([1_000, 11_000]);
  });

  test('rejects with what the method threw, and with an error of its own for a key that is unknown or runs', async () => {
    const { clock, tasks } = replica();
    const method = held();
    tasks.add(task('parallel', () => Promise.reject(new Error('broken')), { key: 'broken' }));
    tasks.add(task('parallel', method.run));
    tasks.start();
    await clock.advance(1);
    await expect(tasks.runNow('broken')).rejects.toThrow('broken');
    await expect(tasks.runNow('task')).rejects.toMatchObject({ code: 'TASK_RUNNING', where: 'here' });
    await expect(tasks.runNow('Task')).rejects.toMatchObject({ code: 'TASK_NOT_FOUND' });
  });

  test('and list see a method as running from its first stretch on', async () => {
    const { clock, tasks } = replica();
    const seen: unknown[] = [];
    tasks.add(
      task('parallel', () => {
        seen.push(
          tasks.list().map(({ running, nextAt }) => [running, nextAt]),
          tasks.running,
        );
        return SECOND;
      }),
    );
    tasks.start();
    await clock.advance(1);
    expect(seen).toEqual([[[true, null]], 1]);
    expect(tasks.list()[0]).toMatchObject({ running: false, nextAt: new Date(clock.now() + SECOND) });
  });

  test('of a task by its own method is refused: it runs', async () => {
    const { clock, tasks } = replica();
    const answers: Promise<unknown>[] = [];
    tasks.add(
      task('parallel', () => {
        answers.push(tasks.runNow('task').catch((error: { code: string }) => error.code));
        return SECOND;
      }),
    );
    tasks.start();
    await clock.advance(1);
    expect(await Promise.all(answers)).toEqual(['TASK_RUNNING']);
  });

  test.each(['parallel', 'singleton'] as const)(
    'works before the scheduler has started, and schedules nothing: %s',
    async (kind) => {
      const { clock, tasks } = replica();
      const method = noted(clock);
      tasks.add(task(kind, method.by('a')));
      await tasks.runNow('task');
      await clock.advance(10 * SECOND);
      expect(method.runs).toHaveLength(1);
      expect(clock.pendingTimers).toBe(0);
    },
  );
});
