import type { Clock } from '../../ambient/clock.js';
import type { Member, MembershipStore } from '../membership-store.js';
import { type OpenSession, read, write } from './sqlite-session.js';
import type { SqliteStatements } from './sqlite-statements.js';

/** Membership in a SQLite database. */
export class SqliteMembership implements MembershipStore {
  constructor(
    private readonly session: OpenSession,
    private readonly clock: Clock,
  ) {}

  async heartbeat(namespace: string, { instanceId, memberName }: Member, expiryMs: number): Promise<readonly Member[]> {
    return write(this.session('heartbeat'), 'heartbeat', (statements) => {
      const nowMs = this.clock.now();
      statements.keepMember.run(namespace, instanceId, memberName, nowMs + expiryMs);
      // The dead are taken out here: nobody else would.
      statements.removeDead.run(namespace, nowMs);
      return live(statements, namespace, nowMs);
    });
  }

  async leave(namespace: string, instanceId: string): Promise<void> {
    write(this.session('leave'), 'leave', ({ removeMember }) => removeMember.run(namespace, instanceId));
  }

  async members(namespace: string): Promise<readonly Member[]> {
    return read(this.session('members'), 'members', (statements) => live(statements, namespace, this.clock.now()));
  }
}

function live({ liveMembers }: SqliteStatements, namespace: string, nowMs: number): Member[] {
  const rows = liveMembers.all(namespace, nowMs) as { instance_id: string; member_name: string }[];
  return rows.map((row) => ({ instanceId: row.instance_id, memberName: row.member_name }));
}
