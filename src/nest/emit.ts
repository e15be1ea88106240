import type { CronEvent } from '../events/cron-event.js';
import type { EventStream } from '../events/event-stream.js';
import type { EventLog } from './event-log.js';

/** Tells everybody who wants to know of an event. */
export type Emit = (event: CronEvent) => void;

export function emitter(log: EventLog, events: EventStream): Emit {
  return (event) => {
    log.write(event);
    events.emit(event);
  };
}
