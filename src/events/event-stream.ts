import {
  filter,
  map,
  Observable,
  type Observer,
  type Operator,
  type OperatorFunction,
  Subject,
  type Subscription,
} from 'rxjs';
import type { CronEvent, CronEventOf, CronEventType } from './cron-event.js';
import { type SkippedFireEvent, skippedFireEvent } from './skipped-fire-event.js';

/** What happens to an error that a subscriber threw or rejected with. */
export type SubscriberErrorHandler = (error: unknown) => void;

/**
 * An observable whose subscribers cannot hurt the one who emits. RxJS itself reports what a subscriber throws from a timer, where it ends the
 * process; here it goes to `onError`, and the subscription goes on. `lift` keeps that for streams derived with `pipe`.
 */
class HarmlessObservable<T> extends Observable<T> {
  constructor(private readonly onError: SubscriberErrorHandler) {
    super();
  }

  override lift<R>(operator: Operator<T, R>): Observable<R> {
    const lifted = new HarmlessObservable<R>(this.onError);
    lifted.source = this;
    lifted.operator = operator as unknown as Operator<unknown, R>;
    return lifted;
  }

  override subscribe(
    observerOrNext?: Partial<Observer<T>> | ((value: T) => void) | null,
    error?: ((error: unknown) => void) | null,
    complete?: (() => void) | null,
  ): Subscription {
    // An operator's own subscriber passes through: only the last one in the chain is the user's.
    if (observerOrNext instanceof Object && 'isStopped' in observerOrNext)
      return super.subscribe(observerOrNext as Observer<T>);
    const user: Partial<Observer<T>> =
      typeof observerOrNext === 'function' || observerOrNext == null
        ? {
            ...(observerOrNext ? { next: observerOrNext } : {}),
            ...(error ? { error } : {}),
            ...(complete ? { complete } : {}),
          }
        : observerOrNext;
    return super.subscribe({
      next: (value) => this.guard(() => user.next?.(value)),
      error: (cause) => this.guard(() => (user.error === undefined ? this.onError(cause) : user.error(cause))),
      complete: () => this.guard(() => user.complete?.()),
    });
  }

  private guard(call: () => unknown): void {
    try {
      const result = call();
      // Promises of other makes and of other realms too: whatever has a `then` can reject.
      if (typeof result === 'object' && result !== null && 'then' in result)
        Promise.resolve(result).catch(this.onError);
    } catch (cause) {
      this.onError(cause);
    }
  }
}

/** Whoever is told of errors may fail as well; there is nobody left to tell that to. */
function neverThrows(onError: SubscriberErrorHandler): SubscriberErrorHandler {
  return (error) => {
    try {
      onError(error);
    } catch {}
  };
}

/** Narrows a stream to one type of event. */
export function ofEvent<T extends CronEventType>(type: T): OperatorFunction<CronEvent, CronEventOf<T>> {
  return filter((event): event is CronEventOf<T> => event.type === type);
}

/** The one place where events leave the engine. */
export class EventStream {
  private readonly subject = new Subject<CronEvent>();
  /** Events that came while one was being delivered, because a subscriber acted on it. */
  private readonly upcoming: CronEvent[] = [];
  private readonly onSubscriberError: SubscriberErrorHandler;
  private delivering = false;
  private ending = false;
  /** Every event of this replica, in order. Hot: a subscriber sees what happens after it subscribed. */
  readonly events$: Observable<CronEvent>;
  /** The fires that coordination suppressed on this replica. */
  readonly skipped$: Observable<SkippedFireEvent>;

  constructor(onSubscriberError: SubscriberErrorHandler) {
    this.onSubscriberError = neverThrows(onSubscriberError);
    const harmless = new HarmlessObservable<CronEvent>(this.onSubscriberError);
    harmless.source = this.subject;
    this.events$ = harmless;
    this.skipped$ = harmless.pipe(ofEvent('fire.skipped'), map(skippedFireEvent));
  }

  /** Whether anybody listens; lets a hot path leave out what nobody would see. */
  get observed(): boolean {
    return this.subject.observed;
  }

  /** Every subscriber sees an event before any sees the next, also if one of them acts on the scheduler in its handler. */
  emit(event: CronEvent): void {
    // Most events of most applications are seen by nobody: that must cost nothing.
    if (!this.subject.observed) return;
    if (this.delivering) {
      this.upcoming.push(event);
      return;
    }
    this.delivering = true;
    for (let next: CronEvent | undefined = event; next !== undefined; next = this.upcoming.shift()) this.deliver(next);
    this.delivering = false;
    if (this.ending) this.subject.complete();
  }

  /** Completes both streams, after what was emitted before. Nothing is emitted afterwards. */
  complete(): void {
    this.ending = true;
    if (!this.delivering) this.subject.complete();
  }

  /** A subscriber of the user's own making can throw through RxJS: the rest of them miss this event, the engine does not notice. */
  private deliver(event: CronEvent): void {
    try {
      this.subject.next(event);
    } catch (cause) {
      this.onSubscriberError(cause);
    }
  }
}
