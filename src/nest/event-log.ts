import type { CronEvent } from '../events/cron-event.js';
import { type ApplicationLog, messageOf } from './application-log.js';

/** Says in the application's log what somebody on call would look for. What went as planned is on the event stream alone. */
export class EventLog {
  constructor(private readonly log: ApplicationLog) {}

  write(event: CronEvent): void {
    switch (event.type) {
      case 'fire.failed':
        this.log.error(`${event.fire.fireKey} failed after ${Math.round(event.durationMs)} ms`, event.error);
        return;
      case 'fire.skipped':
        if (event.reason === 'claim-error' || event.reason === 'election-error') {
          this.log.warn(`${event.fire.fireKey} was skipped here (${event.reason}): ${messageOf(event.error)}`);
        } else if (event.reason === 'already-claimed' && event.superseded) {
          this.log.warn(
            `${event.fire.fireKey} was skipped here: it was asked for so late that later fires of its entry are history (superseded).`,
          );
        }
        return;
      case 'fire.missed':
        this.log.warn(
          `${event.entryKey} missed ${event.atLeast ? 'at least ' : ''}${event.count} ${event.count === 1 ? 'fire' : 'fires'} (${event.first.toISOString()} to ${event.last.toISOString()}, policy ${event.policy})`,
        );
        return;
      case 'fire.rejected':
        if (event.reason !== 'paused') this.log.warn(`${event.fire.fireKey} was rejected here: ${event.reason}`);
        return;
      case 'fire.returned-late':
        this.log.warn(
          `${event.fire.fireKey} returned ${Math.round(event.durationMs)} ms after its start, although its signal had been aborted`,
        );
        return;
      case 'fire.retrying':
        this.log.warn(
          `${event.fire.fireKey} failed (attempt ${event.attempt}), next in ${Math.round(event.nextInMs)} ms: ${messageOf(event.error)}`,
        );
        return;
      case 'fire.lease-lost':
        this.log.warn(
          `${event.fire.fireKey} lost its ${event.lease} lease while it runs here (${event.reason}); its signal was aborted`,
        );
        return;
      case 'fire.abandoned':
        this.log.warn(
          `${event.fire.fireKey} is abandoned: nobody runs it again after ${event.attempts} attempts that did not come to their end`,
        );
        return;
      case 'history.unreachable':
        this.log.warn(
          event.entryKey === undefined
            ? `The last fires of the fleet could not be read, nothing is caught up yet: ${messageOf(event.error)}`
            : `Nothing of ${event.entryKey} is caught up: ${messageOf(event.error)}`,
        );
        return;
      case 'recovery.unreachable':
        this.log.warn(`Fires of dead replicas could not be looked for: ${messageOf(event.error)}`);
        return;
      case 'entry.paused':
      case 'entry.resumed':
        // Over the fleet it outlasts this process: somebody will ask who did it, and when.
        if (event.scope === 'fleet')
          this.log.log(
            event.type === 'entry.paused'
              ? `${event.entryKey} is paused over the fleet, until it is resumed there`
              : `${event.entryKey} is resumed over the fleet`,
          );
        return;
      case 'entry.failed':
        this.log.error(`${event.entryKey} is not scheduled any more, its schedule failed`, event.error);
        return;
      case 'scheduler.draining':
        this.log.log(`draining, ${event.running} running`);
        return;
      case 'scheduler.stopped':
        if (event.aborted > 0)
          this.log.warn(
            `stopped; ${event.aborted} running ${event.aborted === 1 ? 'method was' : 'methods were'} aborted at the deadline`,
          );
        else this.log.log('stopped');
        return;
      case 'leadership.gained':
        this.log.log(`leads now (term ${event.fencingToken})`);
        return;
      case 'leadership.lost':
        if (event.reason === 'resigned') this.log.log(`leads no more (term ${event.fencingToken}, resigned)`);
        else this.log.warn(`leads no more (term ${event.fencingToken}, ${event.reason})`);
        return;
      case 'clock.skewed':
        this.log.warn(
          `the wall clock of this replica is ${Math.round(event.offsetMs)} ms off the store's: fires ahead of the store's clock are refused`,
        );
        return;
      case 'membership.changed':
        this.log.log(
          `sees ${event.members.length} ${event.members.length === 1 ? 'member' : 'members'}: ${someOf(event.members)}`,
        );
        return;
      case 'membership.unreachable':
        this.log.warn(
          `The members could not be asked for (${messageOf(event.error)}); ${event.neverSeen ? 'without a list this replica is home to nothing' : 'the last list stays'}.`,
        );
        return;
      case 'membership.unlisted':
        this.log.warn(
          `The member list does not name this replica ("${event.memberName}"), so it is home to nothing: ${someOf(event.members)}. Give forRoot the memberName that stands in the list.`,
        );
        return;
      case 'task.failed':
        this.log.error(
          `task ${event.taskKey} failed after ${Math.round(event.durationMs)} ms (attempt ${event.attempt}${event.nextInMs === null ? '' : `, next in ${Math.round(event.nextInMs)} ms`})`,
          event.error,
        );
        return;
      case 'task.lease-lost':
        this.log.warn(
          `task ${event.taskKey} lost its lease while it runs here (${event.reason}, token ${event.fencingToken}); its signal was aborted`,
        );
        return;
      case 'task.blocked':
        this.log.warn(`task ${event.taskKey} waits for the store: ${messageOf(event.error)}`);
        return;
      case 'scheduler.started':
      case 'entry.scheduled':
      case 'entry.removed':
      case 'fire.canceled':
      case 'fire.started':
      case 'fire.completed':
      case 'task.started':
      case 'task.completed':
      case 'task.home-changed':
        // Deliberately not logged: one line per fire and replica would bury the lines above.
        return;
      default:
        event satisfies never;
    }
  }

  subscriberFailed(error: unknown): void {
    this.log.error("A subscriber of the scheduler's events threw", error);
  }
}

/** A line of the log is for reading: a list of a hundred names is not. */
const NAMES_SHOWN = 20;

function someOf(names: readonly string[]): string {
  if (names.length <= NAMES_SHOWN) return names.join(', ');
  return `${names.slice(0, NAMES_SHOWN).join(', ')}, … (${names.length} in all)`;
}
