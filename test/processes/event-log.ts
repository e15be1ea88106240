import type { CronEvent } from 'nestjs-distributed-cron';
import type { LineWriter } from './line-file.js';
import type { ReplicaRecord } from './records.js';

/** Keeps what an application's events say of fires that did not run. Subscribed before the application starts, so that it sees the first instants. */
export class EventLog {
  private dueFrom: Record<string, number> | undefined = {};

  constructor(private readonly lines: LineWriter<ReplicaRecord>) {}

  keep(event: CronEvent): void {
    const atMs = Date.now();
    switch (event.type) {
      case 'entry.scheduled':
        if (this.dueFrom !== undefined && event.nextAt !== null)
          this.dueFrom[event.entryKey] ??= event.nextAt.getTime();
        return;
      case 'scheduler.started':
        this.lines.write({ kind: 'started', instanceId: event.instanceId, atMs, dueFrom: this.dueFrom ?? {} });
        this.dueFrom = undefined;
        return;
      case 'fire.skipped':
        this.lines.write({
          kind: 'skipped',
          fireKey: event.fire.fireKey,
          reason: event.reason,
          superseded: 'superseded' in event && event.superseded,
          atMs,
          ...('error' in event ? { error: String(event.error).slice(0, 200) } : {}),
        });
        return;
      case 'fire.canceled':
      case 'fire.rejected': {
        const kind = event.type === 'fire.canceled' ? 'canceled' : 'rejected';
        const { fire, reason } = event;
        this.lines.write({ kind, fireKey: fire.fireKey, reason, superseded: false, atMs });
        return;
      }
      case 'fire.missed': {
        const { entryKey, first, last } = event;
        this.lines.write({ kind: 'missed', entryKey, firstMs: first.getTime(), lastMs: last.getTime(), atMs });
        return;
      }
      case 'fire.failed':
        this.lines.write({ kind: 'failed', what: event.fire.fireKey, atMs, error: String(event.error) });
        return;
      case 'entry.failed':
        this.lines.write({ kind: 'failed', what: event.entryKey, atMs, error: String(event.error) });
        return;
      default:
    }
  }
}
