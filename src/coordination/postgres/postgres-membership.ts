import type { Member, MembershipStore } from '../membership-store.js';
import { requireText } from './postgres-client.js';
import { ask, type OpenSession } from './postgres-session.js';

interface MemberRow {
  readonly instance_id: string;
  readonly member_name: string;
}

/** Live members in PostgreSQL, a row each. A heartbeat also removes the rows of those whose time is over. */
export class PostgresMembership implements MembershipStore {
  /** `session` throws while the backend is not open. */
  constructor(private readonly session: OpenSession) {}

  async heartbeat(namespace: string, member: Member, expiryMs: number): Promise<readonly Member[]> {
    requireText(namespace, 'namespace', 'heartbeat');
    requireText(member.instanceId, 'instance id', 'heartbeat');
    requireText(member.memberName, 'member name', 'heartbeat');
    const values = [namespace, member.instanceId, member.memberName, String(Math.round(expiryMs))];
    return membersOf(await ask<MemberRow>(this.session('heartbeat'), 'heartbeat', values, 'heartbeat'));
  }

  async leave(namespace: string, instanceId: string): Promise<void> {
    requireText(instanceId, 'instance id', 'leave');
    await ask(this.session('leave'), 'leave', [namespace, instanceId], 'leave');
  }

  async members(namespace: string): Promise<readonly Member[]> {
    return membersOf(await ask<MemberRow>(this.session('members'), 'members', [namespace], 'members'));
  }
}

function membersOf(rows: readonly MemberRow[]): Member[] {
  return rows.map(({ instance_id, member_name }) => ({ instanceId: instance_id, memberName: member_name }));
}
