import type { Claimer } from '../coordination/claimer.js';
import type { GuardedBackend } from '../coordination/guarded-backend.js';
import type { Homes } from '../coordination/homes.js';
import type { LeaseElector } from '../coordination/lease-elector.js';

export interface CoordinationParts {
  /** The store that entries without a claimer of their own ask; absent: every replica runs every fire of theirs. */
  readonly backend?: GuardedBackend | undefined;
  /** Competes from the start to the drain; absent: nobody leads. */
  readonly leadership?: LeaseElector | undefined;
  /** Joined by what needs it, left when the drain starts; absent: nothing has a home. */
  readonly homes?: Homes | undefined;
  /** Wraps the claimer of an entry. */
  readonly guard: (claimer: Claimer) => GuardedBackend;
}

/** All that one scheduler has to do with the others of its fleet, tied to its life: started, drained and closed as one. */
export class Coordination {
  private readonly ofEntries = new Map<Claimer, GuardedBackend>();
  private resigned: Promise<unknown> | undefined;

  constructor(private readonly parts: CoordinationParts) {}

  /** Whom an entry's fires ask: its own claimer, nobody if that is `null`, else the store. One claimer on many entries is asked for them together. */
  claimsOf(claimer: Claimer | null | undefined): GuardedBackend | undefined {
    if (claimer === undefined) return this.parts.backend;
    if (claimer === null) return undefined;
    let guarded = this.ofEntries.get(claimer);
    if (guarded === undefined) {
      guarded = this.parts.guard(claimer);
      this.ofEntries.set(claimer, guarded);
    }
    return guarded;
  }

  /** Who is home to a fire, as this replica sees it. */
  get homes(): Homes | undefined {
    return this.parts.homes;
  }

  /** The lease that candidates compete for; absent: nobody leads. */
  get leadership(): LeaseElector | undefined {
    return this.parts.leadership;
  }

  start(): void {
    this.parts.leadership?.start();
  }

  /** No claim is asked from here on; leadership is given back, and this replica is no member any more. */
  drain(): void {
    for (const guarded of this.guarded()) guarded.stopAsking();
    const { leadership, homes } = this.parts;
    this.resigned ??= Promise.all([leadership?.resign(), homes?.leave()]);
  }

  /** Closes every store once, after the last call. Rejects if one cannot close; the others are closed all the same. */
  async close(): Promise<void> {
    this.drain();
    await this.resigned;
    const closed = await Promise.allSettled([...this.guarded()].map((guarded) => guarded.close()));
    for (const result of closed) if (result.status === 'rejected') throw result.reason;
  }

  private *guarded(): Iterable<GuardedBackend> {
    if (this.parts.backend !== undefined) yield this.parts.backend;
    yield* this.ofEntries.values();
  }
}
