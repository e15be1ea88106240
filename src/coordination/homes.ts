import { AsyncResource } from 'node:async_hooks';
import { HashRing } from './hash-ring.js';
import { isSameList } from './member-list.js';
import type { MemberSource, MemberSourceKind } from './member-view.js';

export interface HomesListener {
  changed(members: readonly string[]): void;
  /** The list does not name this replica, which therefore is home to nothing. Called once, until a list names it again. */
  unlisted(members: readonly string[]): void;
}

/**
 * Which member is home to a key, as this replica sees it: its view of the members, and the ring over them. One ring serves all who ask; it is made anew when the
 * list changes, and not before somebody asks.
 */
export class Homes {
  private ring: HashRing | undefined;
  private ringOf: readonly string[] | undefined;
  private listed = true;
  private joined = false;
  private left: Promise<void> | undefined;
  private readonly listeners = new Set<{ readonly call: () => void }>();
  /** Whoever needs the view first may be a request: neither heartbeats nor calls of the application belong in its trace. */
  private readonly begin = AsyncResource.bind(() => this.source.start());

  constructor(
    private readonly source: MemberSource,
    /** This replica's name on the ring. */
    readonly memberName: string,
    private readonly listener: HomesListener,
  ) {
    source.onChange((members) => this.changed(members));
  }

  get kind(): MemberSourceKind {
    return this.source.kind;
  }

  /** The members as last seen; `undefined` before the first list. */
  get members(): readonly string[] | undefined {
    return this.source.current;
  }

  /** Begins to take part. What needs homes calls it; a second call, and one after `leave`, does nothing. */
  join(): void {
    if (this.joined || this.left !== undefined) return;
    this.joined = true;
    this.begin();
    if (this.members !== undefined) this.check(this.members);
  }

  /** Takes part no more: others become home to what was here. Never rejects. */
  leave(): Promise<void> {
    this.left ??= this.source.leave();
    return this.left;
  }

  /** `undefined` before the first list is known, and for a list of none. */
  homeOf(key: string): string | undefined {
    const { members } = this;
    if (members === undefined) return undefined;
    // A view of the application's own may answer a new array each time.
    const known = this.ringOf === members || isSameList(this.ringOf, members);
    if (this.ring === undefined || !known) this.ring = new HashRing(members);
    this.ringOf = members;
    return this.ring.home(key);
  }

  /** Whether this replica is home to the key. A list that does not name it, or none yet, homes nothing here. */
  isHere(key: string): boolean {
    return this.homeOf(key) === this.memberName;
  }

  /** Calls back after every change of the list. Answers how to end that. */
  onChange(call: () => void): () => void {
    const listener = { call };
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  private changed(members: readonly string[]): void {
    if (!this.joined || this.left !== undefined) return;
    this.check(members);
    for (const { call } of [...this.listeners]) call();
  }

  private check(members: readonly string[]): void {
    this.listener.changed(members);
    const listed = members.includes(this.memberName);
    if (this.listed && !listed) this.listener.unlisted(members);
    this.listed = listed;
  }
}
