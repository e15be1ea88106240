import { Logger } from '@nestjs/common';
import type { CronEvent } from '../events/cron-event.js';

/** Says in the application's log what somebody on call would look for. What merely went as planned is `debug`. */
export class EventLog {
  private readonly logger = new Logger('DistributedCron');

  write(event: CronEvent): void {
    switch (event.type) {
      case 'fire.failed':
        this.logger.error(
          `${event.fire.fireKey} failed after ${Math.round(event.durationMs)} ms: ${messageOf(event.error)}`,
          stackOf(event.error),
        );
        return;
      case 'fire.skipped':
        if (event.reason === 'claim-error' || event.reason === 'election-error') {
          this.logger.warn(`${event.fire.fireKey} was skipped here (${event.reason}): ${messageOf(event.error)}`);
        } else if (event.reason === 'already-claimed' && event.superseded) {
          this.logger.warn(
            `${event.fire.fireKey} was skipped here: it was asked for so late that later fires of its entry are history (superseded).`,
          );
        }
        return;
      case 'fire.missed':
        this.logger.warn(
          `${event.entryKey} missed ${event.atLeast ? 'at least ' : ''}${event.count} ${event.count === 1 ? 'fire' : 'fires'} (${event.first.toISOString()} to ${event.last.toISOString()}, policy ${event.policy})`,
        );
        return;
      case 'fire.rejected':
        if (event.reason !== 'paused') this.logger.warn(`${event.fire.fireKey} was rejected here: ${event.reason}`);
        return;
      case 'fire.returned-late':
        this.logger.warn(
          `${event.fire.fireKey} returned ${Math.round(event.durationMs)} ms after its start, although its signal had been aborted`,
        );
        return;
      case 'entry.failed':
        this.logger.error(
          `${event.entryKey} is not scheduled any more, its schedule failed: ${messageOf(event.error)}`,
          stackOf(event.error),
        );
        return;
      case 'scheduler.draining':
        this.logger.log(`draining, ${event.running} running`);
        return;
      case 'scheduler.stopped':
        if (event.aborted > 0)
          this.logger.warn(
            `stopped; ${event.aborted} running ${event.aborted === 1 ? 'method was' : 'methods were'} aborted at the deadline`,
          );
        else this.logger.log('stopped');
        return;
      case 'scheduler.started':
      case 'entry.scheduled':
      case 'entry.removed':
      case 'entry.paused':
      case 'entry.resumed':
      case 'fire.canceled':
      case 'fire.started':
      case 'fire.completed':
        // Deliberately not logged: one line per fire and replica would bury the lines above. They are on the event stream.
        return;
      default:
        event satisfies never;
    }
  }

  subscriberFailed(error: unknown): void {
    this.logger.error(`A subscriber of the scheduler's events threw: ${messageOf(error)}`, stackOf(error));
  }
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function stackOf(error: unknown): string | undefined {
  return error instanceof Error ? error.stack : undefined;
}
