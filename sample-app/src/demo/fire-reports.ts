import type { CronEvent } from 'nestjs-distributed-cron';
import type { FireReport, FromReplica } from './messages';

/** From an event of the scheduler to what the launcher shows of it; `undefined`: nothing. */
export function reportOf(event: CronEvent): FromReplica | undefined {
  if (event.type === 'fire.missed') {
    const { entryKey, first, last } = event;
    return { type: 'missed', entryKey, firstMs: first.getTime(), lastMs: last.getTime() };
  }
  const report = fireReportOf(event);
  if (report === undefined || !('fire' in event)) return undefined;
  const { fireKey, entryKey, scheduledAt } = event.fire;
  return { type: 'fire', fireKey, entryKey, instantMs: scheduledAt.getTime(), report };
}

function fireReportOf(event: CronEvent): FireReport | undefined {
  switch (event.type) {
    case 'fire.started':
      return { kind: 'running', latenessMs: event.latenessMs };
    case 'fire.completed':
      return { kind: 'ran', durationMs: event.durationMs };
    case 'fire.failed':
      return { kind: 'failed', error: String(event.error) };
    case 'fire.rejected':
    case 'fire.canceled':
      return { kind: 'not-run', reason: event.reason };
    case 'fire.skipped':
      return 'error' in event
        ? { kind: 'not-run', reason: event.reason, error: String(event.error) }
        : { kind: 'not-run', reason: event.reason };
    default:
      return undefined;
  }
}
