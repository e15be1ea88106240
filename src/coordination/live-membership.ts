import type { Clock, TimerHandle } from '../ambient/clock.js';
import type { Random } from '../ambient/random.js';
import type { GuardedMembership } from './guarded-membership.js';
import type { Member } from './membership-store.js';

export interface LiveMembershipSettings {
  readonly namespace: string;
  readonly member: Member;
  /** A member that has not been heard of for this long by the store's clock is dead. */
  readonly memberExpiryMs: number;
}

export interface MembershipListener {
  /** The names of the live members changed: sorted, each once. */
  changed(names: readonly string[]): void;
  /** A heartbeat brought no answer; the last list stays. Called once per outage. */
  unreachable(error: unknown): void;
}

/** After a failed heartbeat the next one comes this soon: a short outage must not cost the membership. */
const RETRY_MS = 1_000;

/**
 * This replica's part in the membership: heartbeats three times within `memberExpiry`, and the list that each of them answers. The list is a view:
 * two replicas can differ for as long as a heartbeat takes, so nothing that must happen once may rest on it alone.
 */
export class LiveMembership {
  private names: readonly string[] | undefined;
  private beat: Promise<void> | undefined;
  private timer: TimerHandle | undefined;
  private reachable = true;
  private left = false;

  constructor(
    private readonly members: Pick<GuardedMembership, 'heartbeat' | 'leave'>,
    private readonly settings: LiveMembershipSettings,
    private readonly ambient: { readonly clock: Clock; readonly random: Random },
    private readonly listener: MembershipListener,
  ) {}

  /** The live members as last seen, this one included; `undefined` before the first answer. */
  get current(): readonly string[] | undefined {
    return this.names;
  }

  /** Joins. A store that is down delays the join; it never rejects. */
  start(): Promise<void> {
    return this.heartbeat();
  }

  /** Gone from the members at once, where the store can be reached. Never rejects. */
  async leave(): Promise<void> {
    if (this.left) return;
    this.left = true;
    if (this.timer !== undefined) this.ambient.clock.clearTimer(this.timer);
    this.timer = undefined;
    // A heartbeat under way would join again after the leave.
    await this.beat;
    try {
      const { namespace, member } = this.settings;
      await this.members.leave(namespace, member.instanceId);
    } catch {
      // It expires by itself; a store that is down must not keep the application from closing.
    }
  }

  private heartbeat(): Promise<void> {
    this.beat ??= this.heartbeatOnce().finally(() => {
      this.beat = undefined;
      this.armNext();
    });
    return this.beat;
  }

  private async heartbeatOnce(): Promise<void> {
    const { namespace, member, memberExpiryMs } = this.settings;
    try {
      const live = await this.members.heartbeat(namespace, member, memberExpiryMs);
      this.reachable = true;
      this.take(live);
    } catch (error) {
      if (this.reachable) this.listener.unreachable(error);
      this.reachable = false;
    }
  }

  private take(live: readonly Member[]): void {
    if (this.left) return;
    const names = [...new Set(live.map(({ memberName }) => memberName))].sort();
    if (this.names !== undefined && names.join('\n') === this.names.join('\n')) return;
    this.names = names;
    this.listener.changed(names);
  }

  private armNext(): void {
    if (this.left) return;
    const { clock, random } = this.ambient;
    const third = this.settings.memberExpiryMs / 3;
    // A little early and spread, so that replicas that booted together do not beat together for ever.
    const waitMs = this.reachable ? third * (0.8 + random.fraction() * 0.2) : Math.min(RETRY_MS, third);
    this.timer = clock.setTimer(() => {
      this.timer = undefined;
      void this.heartbeat();
    }, Math.ceil(waitMs));
  }
}
