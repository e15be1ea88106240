import type { ConfigurationFault } from '../domain/errors.js';
import type { TaskDefinition } from '../tasks/task.js';
import type { DiscoveredMethod } from './discovery.js';
import type { ResolvedOptions } from './resolve-options.js';
import { resolveTask } from './resolve-task.js';
import { hasShortName } from './short-name.js';
import { singletonFaults } from './singleton-rule.js';

/** A task that a decorator wrote, ready to be scheduled. */
export interface CollectedTask {
  readonly task: Omit<TaskDefinition, 'run'>;
  readonly method: DiscoveredMethod;
  /** The key comes from names that a minifier has made up, or from none: the next build may change it. */
  readonly keyFromShortName: boolean;
}

/**
 * From decorated methods to tasks. Every fault of every task goes to `faults`; only sound tasks are answered. `added` are the keys of tasks that code has added
 * before.
 */
export function collectTasks(
  methods: readonly DiscoveredMethod[],
  module: ResolvedOptions,
  faults: ConfigurationFault[],
  added: readonly string[],
): readonly CollectedTask[] {
  const collected: CollectedTask[] = [];
  const places = new Map<unknown, string>(added.map((key) => [key, 'a task added through DistributedTasks']));
  for (const method of methods) {
    const subject = `${method.className || 'anonymous class'}.${String(method.methodName)}`;
    for (const { kind, options } of method.tasks) {
      const key: unknown = options?.key ?? subject;
      const place = `${subject} (${method.moduleName})`;
      const other = places.get(key);
      if (other === undefined) places.set(key, place);
      else faults.push(duplicate(place, key, other));
      const task = resolveTask({ subject, key, kind, options }, faults);
      if (task === undefined || other !== undefined) continue;
      const keyFromShortName = (options?.key ?? undefined) === undefined && hasShortName(method);
      collected.push({ task, method, keyFromShortName });
    }
  }
  if (collected.some(({ task }) => task.kind === 'singleton')) faults.push(...singletonFaults(module));
  return collected;
}

function duplicate(place: string, key: unknown, other: string): ConfigurationFault {
  return {
    code: 'KEY_DUPLICATE',
    subject: `${place}, task key "${String(key)}"`,
    expected: 'a key of its own',
    got: `the key of ${other}`,
    hint: 'A task is known by its key over the fleet. Give one of them another key, or provide the class once.',
  };
}
