import { beforeEach, describe, expect, test } from '@jest/globals';
import type { TaskReport } from '../../sample-app/src/demo/messages';
import { TaskBoard } from '../../sample-app/src/demo/task-board';
import { moveNote, taskLines, taskSummary } from '../../sample-app/src/demo/task-line';

describe('the tasks that the demo shows', () => {
  const alive = { name: '1', killedMs: undefined };
  const killed = { name: '2', killedMs: Date.now() - 4_000 };
  const replicas = [alive, killed];
  const noWork = () => '';
  let board: TaskBoard;

  const told = (replica: string, what: TaskReport['what'], kind: TaskReport['kind'] = 'singleton') =>
    board.take(replica, { type: 'task', key: kind === 'singleton' ? 'dispatch' : 'price-list', kind, what });

  beforeEach(() => {
    board = new TaskBoard();
  });

  test('a singleton moves when another replica runs it, and not before', () => {
    expect(told('2', 'started')).toEqual({ key: 'dispatch', from: undefined, to: '2' });
    expect(told('2', 'started')).toBeUndefined();
    expect(told('1', 'home')).toBeUndefined();
    const move = told('1', 'started')!;
    expect(moveNote(move, replicas)).toBe(
      'dispatch runs on replica 1, no longer on replica 2, which was killed 4.0 s ago',
    );
    expect(board.places()).toEqual([{ key: 'dispatch', from: undefined, to: '1' }]);
  });

  test('a parallel one never moves', () => {
    expect([told('1', 'started', 'parallel'), told('2', 'started', 'parallel')]).toEqual([undefined, undefined]);
  });

  test('the table marks where a task lives, and which replica is dead', () => {
    told('1', 'started', 'parallel');
    told('2', 'home');
    told('2', 'started');
    told('1', 'home');
    const cells = taskLines(board, replicas, noWork).map((line) => line.split(/ {2,}/));
    expect(cells).toEqual([
      ['task', 'runs', 'replica 1', 'replica 2'],
      ['dispatch', 'on one', '● 0 runs', '✗ 1 run'],
      ['price-list', 'on each', '● 1 run', '✗ 0 runs'],
    ]);
  });

  test('in the end a sentence says how often it ran where', () => {
    told('2', 'started');
    told('1', 'started');
    told('1', 'failed');
    expect(taskSummary(board, 'dispatch', replicas)).toBe(
      'runs of dispatch: 1 on replica 1, 1 failed; 1 on replica 2 until it was killed',
    );
  });
});
