import type { CronEvent, CronEventType } from '../events/cron-event.js';

/** Somebody waits for an event that has not come yet. */
export class EventWait {
  readonly came: Promise<CronEvent>;
  private resolve!: (event: CronEvent) => void;
  private reject!: (error: unknown) => void;
  private settled = false;

  constructor(
    private readonly type: CronEventType,
    private readonly takes: (event: CronEvent) => boolean,
  ) {
    this.came = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    // A test that fails before it comes to its `await` must not also be told of a rejection that nobody handles.
    this.came.catch(() => undefined);
  }

  get over(): boolean {
    return this.settled;
  }

  /** A predicate of the test that throws fails the wait, and nothing else. */
  see(event: CronEvent): void {
    try {
      if (!this.takes(event)) return;
      this.settled = true;
      this.resolve(event);
    } catch (error) {
      this.settled = true;
      this.reject(error);
    }
  }

  closed(): void {
    this.fail(`its stream has ended: the application was closed, or its replica killed.`);
  }

  standsStill(): void {
    this.fail(
      `the virtual clock stands still, and what comes next waits for it. Move it with advance(), or start the wait, move the clock, and await the wait then.`,
    );
  }

  private fail(because: string): void {
    this.settled = true;
    this.reject(new Error(`waitFor: no such "${this.type}" was told, and ${because}`));
  }
}
