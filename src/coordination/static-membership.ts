import { isSameList, memberList } from './member-list.js';
import { MemberListeners } from './member-listeners.js';
import type { MemberView } from './member-view.js';

/**
 * A member list that the application knows: from its configuration, or from whatever tells it of its replicas. Every replica must be given the same names, and its
 * own as `memberName`.
 *
 * ```ts
 * DistributedCronModule.forRoot({ memberName: process.env.HOSTNAME, membership: new StaticMembership(['web-0', 'web-1']) })
 * ```
 */
export class StaticMembership implements MemberView {
  #members: readonly string[];
  readonly #listeners = new MemberListeners();

  /** @throws MemberListError if it is no array of names */
  constructor(members: readonly string[]) {
    this.#members = memberList(members);
  }

  get current(): readonly string[] {
    return this.#members;
  }

  /** Replaces the list. Order does not matter. @throws MemberListError if it is no array of names */
  update(members: readonly string[]): void {
    const list = memberList(members);
    if (isSameList(this.#members, list)) return;
    this.#members = list;
    this.#listeners.tell(list);
  }

  onChange(listener: (members: readonly string[]) => void): () => void {
    return this.#listeners.add(listener);
  }
}
