import { CoordinationError } from '../coordination-error.js';
import type { Member, MembershipStore } from '../membership-store.js';
import { REDIS_STORE } from './redis-client.js';
import { membersName, textFault } from './redis-keys.js';
import { HEARTBEAT_SCRIPT, LEAVE_SCRIPT, MEMBERS_SCRIPT } from './redis-scripts.js';
import type { RedisAsk, RedisSession } from './redis-session.js';

/** The members of a namespace, one hash. A heartbeat writes one field and reads all, in one round trip. */
export class RedisMembership implements MembershipStore {
  constructor(private readonly session: RedisSession) {}

  async heartbeat(
    namespace: string,
    { instanceId, memberName }: Member,
    expiryMs: number,
    signal: AbortSignal,
  ): Promise<readonly Member[]> {
    const args = [instanceId, memberName, String(Math.round(expiryMs))];
    return this.#live(ask('heartbeat', namespace, args, signal));
  }

  async leave(namespace: string, instanceId: string, signal: AbortSignal): Promise<void> {
    await this.session.run({ ...ask('leave', namespace, [instanceId], signal), evenIfLate: true });
  }

  async members(namespace: string, signal: AbortSignal): Promise<readonly Member[]> {
    return this.#live({ ...ask('members', namespace, [], signal), evenIfLate: true });
  }

  async #live(asked: RedisAsk): Promise<readonly Member[]> {
    const { said } = await this.session.run(asked);
    const found = JSON.parse(said) as [instanceId: string, memberName: string][];
    return found.map(([instanceId, memberName]) => ({ instanceId, memberName }));
  }
}

const SCRIPTS = { heartbeat: HEARTBEAT_SCRIPT, leave: LEAVE_SCRIPT, members: MEMBERS_SCRIPT };

function ask(operation: keyof typeof SCRIPTS, namespace: string, args: string[], signal: AbortSignal): RedisAsk {
  const fault = [namespace, ...args].map(textFault).find((found) => found !== undefined);
  if (fault !== undefined) {
    throw new CoordinationError(
      'COORDINATION_FAILED',
      { store: REDIS_STORE, operation },
      `namespace, instance id and member name must be ${fault}.`,
    );
  }
  return { script: SCRIPTS[operation], keys: [membersName(namespace)], args, bucket: 0, operation, signal };
}
