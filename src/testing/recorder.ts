import type { Observable } from 'rxjs';
import type { CronEvent, CronEventOf, CronEventType } from '../events/cron-event.js';
import { EventWait } from './event-wait.js';
import { watchStandstill } from './standstill.js';
import type { VirtualClock } from './virtual-clock.js';

/** What tells events: an application's `DistributedCronEvents`, or any object with such a stream. */
export interface EventSource {
  readonly events$: Observable<CronEvent>;
}

export interface RecorderOptions {
  /** The clock that the application waits by: then a wait for an event fails as soon as it is plain that nobody moves the clock. */
  readonly clock?: VirtualClock;
}

/** An event about fires of one entry. */
export type FireEvent = Extract<CronEvent, { readonly type: `fire.${string}` }>;
/** A method was called: an entry's or a task's. */
export type RunEvent = CronEventOf<'fire.started' | 'task.started'>;

const RUN_ENDS: ReadonlySet<CronEventType> = new Set<CronEventType>([
  'fire.completed',
  'fire.failed',
  'task.completed',
  'task.failed',
]);

/** Keeps what an application tells, or a fleet, from the moment the recorder is made. Holds no timer that would keep the process alive. */
export class Recorder {
  private readonly recorded: CronEvent[] = [];
  private readonly waits = new Set<EventWait>();
  private readonly clock: VirtualClock | undefined;
  private runningMethods = 0;
  private ended = false;

  constructor({ events$ }: EventSource, { clock }: RecorderOptions = {}) {
    this.clock = clock;
    events$.subscribe({ next: (event) => this.record(event), complete: () => this.end() });
  }

  /** All that was told, in order. */
  get events(): readonly CronEvent[] {
    return this.recorded;
  }

  /** Methods that began and have not ended, since the recorder was made. */
  get running(): number {
    return this.runningMethods;
  }

  ofType<T extends CronEventType>(type: T): CronEventOf<T>[] {
    return this.recorded.filter((event): event is CronEventOf<T> => event.type === type);
  }

  count(type: CronEventType): number {
    return this.ofType(type).length;
  }

  /** What was told of fires, of one entry or of all. */
  fires(entryKey?: string): FireEvent[] {
    return this.recorded.filter(isOfFire).filter((event) => isOf(event, entryKey));
  }

  /** The calls of methods, of one entry or task or of all: what most tests count. */
  runs(key?: string): RunEvent[] {
    return this.recorded.filter(isRun).filter((event) => isOf(event, key));
  }

  /** The fires that did not run on the replica that tells of them because of coordination, of one entry or of all. */
  skips(entryKey?: string): CronEventOf<'fire.skipped'>[] {
    return this.ofType('fire.skipped').filter((event) => isOf(event, entryKey));
  }

  /** Forgets what was told until now. */
  clear(): void {
    this.recorded.length = 0;
  }

  /**
   * The first event of this type that the predicate takes, among those recorded and those to come. Rejects if none can come: the application was closed, or the virtual
   * clock is moved by nobody.
   */
  waitFor<T extends CronEventType>(
    type: T,
    predicate: (event: CronEventOf<T>) => boolean = () => true,
  ): Promise<CronEventOf<T>> {
    const takes = (event: CronEvent) => event.type === type && predicate(event as CronEventOf<T>);
    const wait = new EventWait(type, takes);
    for (const event of this.recorded) if (!wait.over) wait.see(event);
    if (this.ended && !wait.over) wait.closed();
    if (!wait.over) this.keep(wait);
    return wait.came as Promise<CronEventOf<T>>;
  }

  private keep(wait: EventWait): void {
    this.waits.add(wait);
    const stop =
      this.clock &&
      watchStandstill(
        this.clock,
        // What a method does may take real time: a query, a request.
        () => this.runningMethods > 0,
        () => wait.standsStill(),
      );
    const drop = () => {
      stop?.();
      this.waits.delete(wait);
    };
    wait.came.then(drop, drop);
  }

  private record(event: CronEvent): void {
    this.recorded.push(event);
    if (isRun(event)) this.runningMethods += 1;
    else if (RUN_ENDS.has(event.type)) this.runningMethods = Math.max(0, this.runningMethods - 1);
    for (const wait of this.waits) if (!wait.over) wait.see(event);
  }

  private end(): void {
    this.ended = true;
    for (const wait of this.waits) if (!wait.over) wait.closed();
  }
}

/** Records what the source tells from now on; make it before the application is initialised to see its start as well. */
export function recorder(source: EventSource, options: RecorderOptions = {}): Recorder {
  return new Recorder(source, options);
}

function isOfFire(event: CronEvent): event is FireEvent {
  return event.type.startsWith('fire.');
}

function isRun(event: CronEvent): event is RunEvent {
  return event.type === 'fire.started' || event.type === 'task.started';
}

function isOf(event: FireEvent | RunEvent, key: string | undefined): boolean {
  if (key === undefined) return true;
  if ('fire' in event) return event.fire.entryKey === key;
  return ('taskKey' in event ? event.taskKey : event.entryKey) === key;
}
