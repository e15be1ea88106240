/**
 * The root of every error this library throws on purpose. `code` is stable over releases, so a caller can switch on it;
 * the message says what was wrong, what was expected and what to do.
 */
export abstract class DistributedCronError extends Error {
  abstract readonly code: string;

  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** One fault found at start: where it is, what is wrong, what was got, what was expected, and what to do about it. */
export interface ConfigurationFault {
  /** Stable over releases, e.g. `OPTION_UNKNOWN`, `KEY_DUPLICATE`, `EXPRESSION_INVALID`. */
  readonly code: string;
  /** Where: an option's path (`forRoot.jitter`) or a place in code (`Reports.daily, key "daily-report"`). */
  readonly subject: string;
  readonly got?: string;
  readonly expected?: string;
  readonly hint?: string;
  /** The field of a cron expression that is at fault, where it is one. */
  readonly field?: string;
  readonly cause?: unknown;
}

function faultLine(fault: ConfigurationFault): string {
  const parts = [`${fault.subject}:`];
  if (fault.expected !== undefined) parts.push(`expected ${fault.expected},`);
  if (fault.got !== undefined) parts.push(`got ${fault.got}`);
  const line = parts.join(' ').replace(/[,:]$/, '');
  return `  - ${line} [${fault.code}]${fault.hint === undefined ? '' : `\n    ${fault.hint}`}`;
}

/** The application's configuration cannot be used. Every fault is in one report; nothing was scheduled. */
export class ConfigurationError extends DistributedCronError {
  readonly code = 'CONFIGURATION_INVALID';

  constructor(readonly faults: readonly ConfigurationFault[]) {
    super(
      `nestjs-distributed-cron cannot start: ${faults.length} ${faults.length === 1 ? 'fault' : 'faults'}.\n${faults.map(faultLine).join('\n')}`,
    );
  }
}

/** No entry of that key exists on this replica. Keys are case sensitive. */
export class EntryNotFoundError extends DistributedCronError {
  readonly code = 'ENTRY_NOT_FOUND';

  constructor(
    readonly entryKey: string,
    known: readonly string[],
  ) {
    super(
      `No entry "${entryKey}" on this replica. ${known.length === 0 ? 'There are no entries.' : `Known: ${known.slice(0, 10).join(', ')}${known.length > 10 ? `, … (${known.length} in all)` : ''}.`}`,
    );
  }
}

/** An entry of that key exists already; remove or update it instead. */
export class EntryExistsError extends DistributedCronError {
  readonly code = 'ENTRY_EXISTS';

  constructor(readonly entryKey: string) {
    super(`An entry "${entryKey}" exists already on this replica. Use update() to change it, or remove() it first.`);
  }
}

/** A manual fire was refused by the entry's own rules; `reason` says which. */
export class FireRejectedError extends DistributedCronError {
  readonly code = 'FIRE_REJECTED';

  constructor(
    readonly entryKey: string,
    readonly fireKey: string,
    readonly reason: string,
  ) {
    super(`The fire ${fireKey} of entry "${entryKey}" was rejected: ${reason}.`);
  }
}

/** The scheduler drains or has stopped; it takes no more fires. */
export class SchedulerStoppedError extends DistributedCronError {
  readonly code = 'SCHEDULER_STOPPED';

  constructor(operation: string) {
    super(`${operation} was refused: the scheduler is draining or has stopped.`);
  }
}

/** A method ran longer than its entry's `timeout`. Its `signal` was aborted with this error. */
export class TimeoutError extends DistributedCronError {
  readonly code = 'FIRE_TIMEOUT';

  constructor(
    readonly entryKey: string,
    readonly fireKey: string,
    readonly timeoutMs: number,
  ) {
    super(`The fire ${fireKey} of entry "${entryKey}" ran longer than its timeout of ${timeoutMs} ms.`);
  }
}

/** The drain deadline passed while a method was running. Its `signal` was aborted with this error. */
export class DrainDeadlineError extends DistributedCronError {
  readonly code = 'DRAIN_DEADLINE';

  constructor(readonly drainDeadlineMs: number) {
    super(
      `The scheduler stopped before this method had ended (deadline ${drainDeadlineMs} ms). Raise drainDeadline, or end the method sooner on its signal.`,
    );
  }
}

/** A lease of the fire was lost while its method ran. Its `signal` was aborted with this error. */
export class FireLeaseLostError extends DistributedCronError {
  readonly code = 'FIRE_LEASE_LOST';

  constructor(
    readonly entryKey: string,
    readonly fireKey: string,
    /** The guard against overlap over the fleet, or the claim of a fire that another replica may now run again. */
    readonly lease: 'overlap' | 'recovery',
    /** `lapsed`: no renewal was confirmed in time. `taken`: the store says it is no longer ours. */
    readonly reason: 'lapsed' | 'taken',
  ) {
    super(
      `The fire ${fireKey} of entry "${entryKey}" lost its ${lease} lease while its method ran (${reason}): ${lease === 'overlap' ? 'another run of the entry may start' : 'another replica may run it again'}. End the method on its signal; raise leaseTtl above the longest time the event loop is blocked.`,
    );
  }
}

/** The entry cannot be paused over the fleet: it has no claimer, or one that cannot pause. */
export class FleetPauseUnavailableError extends DistributedCronError {
  readonly code = 'FLEET_PAUSE_UNAVAILABLE';

  constructor(
    readonly entryKey: string,
    store: string | undefined,
  ) {
    super(
      `The entry "${entryKey}" cannot be paused or resumed over the fleet: ${store === undefined ? 'it has no claimer' : `its claimer (${store}) has no pause() and resume()`}. Give forRoot a backend that can, or pause it on each replica.`,
    );
  }
}

/** What the store keeps of an entry cannot be dropped while the entry exists: its fires could be claimed a second time. */
export class EntryInUseError extends DistributedCronError {
  readonly code = 'ENTRY_IN_USE';

  constructor(readonly entryKey: string) {
    super(
      `The entry "${entryKey}" exists on this replica. Remove it everywhere first, and forget it then: its fires could otherwise run twice.`,
    );
  }
}

/** There is no store that could forget an entry. */
export class ForgetUnavailableError extends DistributedCronError {
  readonly code = 'FORGET_UNAVAILABLE';

  constructor(
    readonly entryKey: string,
    store: string | undefined,
  ) {
    super(
      `The entry "${entryKey}" cannot be forgotten: ${store === undefined ? 'there is no claimer' : `the claimer (${store}) has no forget()`}.`,
    );
  }
}
