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
      if (result instanceof Promise) result.catch(this.onError);
    } catch (cause) {
      this.onError(cause);
    }
  }
}

/** Narrows a stream to one type of event. */
export function ofEvent<T extends CronEventType>(type: T): OperatorFunction<CronEvent, CronEventOf<T>> {
  return filter((event): event is CronEventOf<T> => event.type === type);
}

/** The one place where events leave the engine. */
export class EventStream {
  private readonly subject = new Subject<CronEvent>();
  /** Every event of this replica, in order. Hot: a subscriber sees what happens after it subscribed. */
  readonly events$: Observable<CronEvent>;
  /** The fires that coordination suppressed on this replica. */
  readonly skipped$: Observable<SkippedFireEvent>;

  constructor(onSubscriberError: SubscriberErrorHandler) {
    const harmless = new HarmlessObservable<CronEvent>(onSubscriberError);
    harmless.source = this.subject;
    this.events$ = harmless;
    this.skipped$ = harmless.pipe(ofEvent('fire.skipped'), map(skippedFireEvent));
  }

  /** Whether anybody listens; lets a hot path leave out what nobody would see. */
  get observed(): boolean {
    return this.subject.observed;
  }

  emit(event: CronEvent): void {
    this.subject.next(event);
  }

  /** Completes both streams. Nothing is emitted afterwards. */
  complete(): void {
    this.subject.complete();
  }
}
