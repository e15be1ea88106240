import type { Clock, TimerHandle } from '../ambient/clock.js';
import { isSameList, memberList } from './member-list.js';
import { MemberListeners } from './member-listeners.js';
import type { MemberSource } from './member-view.js';
import { limitTime } from './time-limit.js';

/** Asks the application for the names of all members. The signal is aborted when the answer is no longer waited for. */
export type ListMembers = (signal: AbortSignal) => readonly string[] | PromiseLike<readonly string[]>;

/** What `fetchedMembership` makes. */
export interface FetchedMembership {
  readonly list: ListMembers;
  readonly everyMs: number;
}

const DEFAULT_EVERY_MS = 10_000;

/**
 * A member list that the application fetches: from its orchestrator, a service registry, or a table of its own. A call that fails keeps the last list, with a
 * warning; before the first list this replica is home to nothing.
 *
 * @param options `everyMs`: pause between two calls in milliseconds, at least 1; default 10 s
 * @throws TypeError if `list` is no function, RangeError if `everyMs` is no number of at least 1
 */
export function fetchedMembership(list: ListMembers, options: { readonly everyMs?: number } = {}): FetchedMembership {
  const { everyMs = DEFAULT_EVERY_MS } = options;
  if (typeof list !== 'function') throw new TypeError(`fetchedMembership needs a function, got ${typeof list}.`);
  if (!(everyMs >= 1 && everyMs <= 2_147_483_647))
    throw new RangeError(`fetchedMembership needs everyMs of 1 to 2147483647, got ${String(everyMs)}.`);
  return Object.freeze({ list, everyMs });
}

export interface FetchedMembersListener {
  /** A call failed, or answered no list; the last list stays. Called once per outage. */
  unreachable(error: unknown): void;
}

/** A replica's view that it fetches again and again. */
export class FetchedMembers implements MemberSource {
  readonly kind = 'fetched';
  readonly #listeners = new MemberListeners();
  #members: readonly string[] | undefined;
  #timer: TimerHandle | undefined;
  #reachable = true;
  #left = false;

  constructor(
    private readonly fetched: FetchedMembership,
    /** Limit of one call, in milliseconds. */
    private readonly limitMs: number,
    private readonly clock: Clock,
    private readonly listener: FetchedMembersListener,
  ) {}

  get current(): readonly string[] | undefined {
    return this.#members;
  }

  onChange(listener: (members: readonly string[]) => void): () => void {
    return this.#listeners.add(listener);
  }

  start(): void {
    void this.#fetch();
  }

  async leave(): Promise<void> {
    this.#left = true;
    if (this.#timer !== undefined) this.clock.clearTimer(this.#timer);
    this.#timer = undefined;
  }

  async #fetch(): Promise<void> {
    try {
      const limit = { limitMs: this.limitMs, store: 'custom', operation: 'membership' };
      this.#take(memberList(await limitTime(this.clock, limit, this.fetched.list)));
    } catch (error) {
      if (this.#reachable && !this.#left) this.listener.unreachable(error);
      this.#reachable = false;
    }
    if (this.#left) return;
    this.#timer = this.clock.setTimer(() => {
      this.#timer = undefined;
      void this.#fetch();
    }, this.fetched.everyMs);
  }

  #take(members: readonly string[]): void {
    this.#reachable = true;
    if (this.#left || isSameList(this.#members, members)) return;
    this.#members = members;
    this.#listeners.tell(members);
  }
}
