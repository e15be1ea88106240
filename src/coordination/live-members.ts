import type { Clock } from '../ambient/clock.js';
import type { Random } from '../ambient/random.js';
import type { GuardedMembership } from './guarded-membership.js';
import { LiveMembership, type LiveMembershipSettings } from './live-membership.js';
import { MemberListeners } from './member-listeners.js';
import type { MemberSource } from './member-view.js';

export interface LiveMembersListener {
  /** A heartbeat brought no answer; the last list stays. Called once per outage. */
  unreachable(error: unknown): void;
}

/** A replica's view of the members that are alive by the store's clock. */
export class LiveMembers implements MemberSource {
  readonly kind = 'live';
  readonly #listeners = new MemberListeners();
  readonly #membership: LiveMembership;
  #started = false;

  constructor(
    members: GuardedMembership,
    settings: LiveMembershipSettings,
    ambient: { readonly clock: Clock; readonly random: Random },
    listener: LiveMembersListener,
  ) {
    this.#membership = new LiveMembership(members, settings, ambient, {
      changed: (names) => this.#listeners.tell(names),
      unreachable: (error) => listener.unreachable(error),
    });
  }

  get current(): readonly string[] | undefined {
    return this.#membership.current;
  }

  onChange(listener: (members: readonly string[]) => void): () => void {
    return this.#listeners.add(listener);
  }

  start(): void {
    this.#started = true;
    void this.#membership.start();
  }

  async leave(): Promise<void> {
    // One that never joined has nobody to tell.
    if (this.#started) await this.#membership.leave();
  }
}
