import type { TaskBoard, TaskMove } from './task-board';

interface Replica {
  readonly name: string;
  readonly killedMs: number | undefined;
}

const TASK_WIDTH = 10;
const KIND_WIDTH = 12;
const REPLICA_WIDTH = 12;
const KINDS = { singleton: 'on one', parallel: 'on each' } as const;

/** The tasks as the table shows them: a column for each replica, with a dot where the task lives, and its runs there. */
export function taskLines(board: TaskBoard, replicas: readonly Replica[], workOf: (key: string) => string): string[] {
  const heading = [
    'task'.padEnd(TASK_WIDTH),
    'runs'.padEnd(KIND_WIDTH),
    ...replicas.map(({ name }) => `replica ${name}`.padEnd(REPLICA_WIDTH)),
  ];
  const lines = board
    .keys()
    .map((key) => [
      key.padEnd(TASK_WIDTH),
      KINDS[board.kindOf(key) ?? 'parallel'].padEnd(KIND_WIDTH),
      ...replicas.map((replica) => cell(board, key, replica).padEnd(REPLICA_WIDTH)),
      workOf(key),
    ]);
  return lines.length === 0 ? [] : [heading, ...lines].map((line) => line.join('  ').trimEnd());
}

/** The same in a sentence, for those who read it afterwards. */
export function taskSummary(board: TaskBoard, key: string, replicas: readonly Replica[]): string {
  const counts = replicas.map(({ name, killedMs }) => {
    const { runs, failures } = board.on(key, name);
    const failed = failures === 0 ? '' : `, ${failures} failed`;
    return `${runs} on replica ${name}${killedMs === undefined ? '' : ' until it was killed'}${failed}`;
  });
  return `runs of ${key}: ${counts.join('; ')}`;
}

/** Where a singleton runs from now on. */
export function moveNote({ key, from, to }: TaskMove, replicas: readonly Replica[]): string {
  if (from === undefined) return `${key} runs on replica ${to}`;
  const killedMs = replicas.find(({ name }) => name === from)?.killedMs;
  const since =
    killedMs === undefined ? '' : `, which was killed ${((Date.now() - killedMs) / 1_000).toFixed(1)} s ago`;
  return `${key} runs on replica ${to}, no longer on replica ${from}${since}`;
}

function cell(board: TaskBoard, key: string, { name, killedMs }: Replica): string {
  const { runs, home } = board.on(key, name);
  const text = `${runs} ${runs === 1 ? 'run' : 'runs'}`;
  if (killedMs !== undefined) return `✗ ${text}`;
  if (home) return `● ${text}`;
  return runs === 0 ? '' : `  ${text}`;
}
