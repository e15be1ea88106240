import type { Observable } from 'rxjs';
import type { CronEvent } from '../events/cron-event.js';
import type { EventStream } from '../events/event-stream.js';
import type { SkippedFireEvent } from '../events/skipped-fire-event.js';

/** What the scheduler of this replica does, as it happens. Inject it where you count, alert or log. */
export class DistributedCronEvents {
  /** Every event of this replica, in order. Hot, and completed when the application closes. A subscriber that throws is logged and stays subscribed. */
  readonly events$: Observable<CronEvent>;
  /** The fires that coordination suppressed on this replica, with the reason. */
  readonly skipped$: Observable<SkippedFireEvent>;

  constructor(stream: EventStream) {
    this.events$ = stream.events$;
    this.skipped$ = stream.skipped$;
  }
}
