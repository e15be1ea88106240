import { AsyncLocalStorage } from 'node:async_hooks';
import type { Fire, FireOrigin } from '../domain/fire.js';

/** What a method is told of the fire it runs for: its argument, and `currentFire()` anywhere below it. */
export interface FireContext {
  readonly entryKey: string;
  readonly fireKey: string;
  /** The instant the fire stands for, not the moment it started. */
  readonly scheduledAt: Date;
  readonly origin: FireOrigin;
  /** 1, and one more each time the fire is run again: by a retry after the method threw, or by another replica after this one's died (`recovery: 'rerun'`). */
  readonly attempt: number;
  /** Grows with every grant of a lease the fire runs under; `null` where it runs under none. */
  readonly fencingToken: number | null;
  /** Aborted when the method should end: its `timeout` or the drain deadline passed. The reason is the error that says which. */
  readonly signal: AbortSignal;
}

/** The controller behind `signal` is made when somebody first asks for it: most methods never do, and one costs as much as the rest of a fire. */
export class RunContext implements FireContext {
  private controller: AbortController | undefined;
  private abortReason: Error | undefined;

  constructor(
    private readonly fire: Fire,
    readonly attempt = 1,
    readonly fencingToken: number | null = null,
  ) {}

  get entryKey(): string {
    return this.fire.entryKey;
  }

  get fireKey(): string {
    return this.fire.fireKey;
  }

  get scheduledAt(): Date {
    return this.fire.scheduledAt;
  }

  get origin(): FireOrigin {
    return this.fire.origin;
  }

  get signal(): AbortSignal {
    if (this.controller === undefined) {
      this.controller = new AbortController();
      if (this.abortReason !== undefined) this.controller.abort(this.abortReason);
    }
    return this.controller.signal;
  }

  /** Asked without making a signal. */
  get aborted(): boolean {
    return this.abortReason !== undefined;
  }

  /** The first reason stays. */
  abort(reason: Error): void {
    if (this.abortReason !== undefined) return;
    this.abortReason = reason;
    this.controller?.abort(reason);
  }
}

const fires = new AsyncLocalStorage<FireContext>();

/** The fire that the calling code runs for, or `undefined` outside of one. */
export function currentFire(): FireContext | undefined {
  return fires.getStore();
}

export function runInFire(context: FireContext, run: (context: FireContext) => unknown): unknown {
  return fires.run(context, run, context);
}
