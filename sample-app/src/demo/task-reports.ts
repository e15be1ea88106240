import type { CronEvent } from 'nestjs-distributed-cron';
import type { TaskReport } from './messages';

/** From an event of the scheduler to what the launcher shows of a task; `undefined`: nothing. */
export function taskReportOf(event: CronEvent): TaskReport | undefined {
  switch (event.type) {
    case 'task.started':
      return { type: 'task', key: event.taskKey, kind: event.kind, what: 'started' };
    case 'task.failed':
      return { type: 'task', key: event.taskKey, kind: event.kind, what: 'failed' };
    case 'task.home-changed':
      return { type: 'task', key: event.taskKey, kind: event.kind, what: event.here ? 'home' : 'not-home' };
    default:
      return undefined;
  }
}
