import type { Provider } from '@nestjs/common';
import type { Clock } from '../ambient/clock.js';
import type { InstanceIdentity } from '../ambient/instance-identity.js';
import { systemRandom } from '../ambient/random.js';
import type { Claimer } from '../coordination/claimer.js';
import type { CoordinationBackend } from '../coordination/coordination-backend.js';
import { FetchedMembers } from '../coordination/fetched-membership.js';
import { GivenMembers } from '../coordination/given-members.js';
import { GuardedBackend } from '../coordination/guarded-backend.js';
import { Homes } from '../coordination/homes.js';
import { LeaseElector } from '../coordination/lease-elector.js';
import { LiveMembers } from '../coordination/live-members.js';
import type { MemberSource } from '../coordination/member-view.js';
import type { Member } from '../coordination/membership-store.js';
import { StaticMembership } from '../coordination/static-membership.js';
import { Coordination } from '../engine/coordination.js';
import type { Emit } from './emit.js';
import {
  COORDINATION,
  EMIT,
  GUARDED_BACKEND,
  HOMES,
  INSTANCE,
  LEADERSHIP,
  RESOLVED_OPTIONS,
} from './internal-tokens.js';
import type { ResolvedOptions } from './resolve-options.js';
import { CLAIMER, CLOCK, ELECTOR } from './tokens.js';

/** Who makes what of the part that deals with other replicas: claims, leadership, members. */
export const COORDINATION_PROVIDERS: Provider[] = [
  {
    provide: CLAIMER,
    useFactory: (options: ResolvedOptions) => options.backend?.claimer ?? options.claimer ?? null,
    inject: [RESOLVED_OPTIONS],
  },
  {
    provide: ELECTOR,
    useFactory: (options: ResolvedOptions, leadership: LeaseElector | null) => options.elector ?? leadership,
    inject: [RESOLVED_OPTIONS, LEADERSHIP],
  },
  { provide: GUARDED_BACKEND, useFactory: guardedBackend, inject: [RESOLVED_OPTIONS, CLAIMER, CLOCK, INSTANCE, EMIT] },
  { provide: LEADERSHIP, useFactory: leadership, inject: [RESOLVED_OPTIONS, GUARDED_BACKEND, CLOCK, INSTANCE, EMIT] },
  { provide: HOMES, useFactory: homes, inject: [RESOLVED_OPTIONS, GUARDED_BACKEND, CLOCK, INSTANCE, EMIT] },
  {
    provide: COORDINATION,
    useFactory: coordination,
    inject: [RESOLVED_OPTIONS, GUARDED_BACKEND, LEADERSHIP, HOMES, CLOCK, INSTANCE, EMIT],
  },
];

function guard(
  options: ResolvedOptions,
  backend: CoordinationBackend,
  clock: Clock,
  instance: InstanceIdentity,
  emit: Emit,
): GuardedBackend {
  return new GuardedBackend(
    backend,
    { ...options, instanceId: instance.id },
    { clock, random: systemRandom },
    {
      clockSkewed: (offsetMs) => emit({ type: 'clock.skewed', atMs: clock.now(), instanceId: instance.id, offsetMs }),
    },
  );
}

function guardedBackend(
  options: ResolvedOptions,
  claimer: Claimer | null,
  clock: Clock,
  instance: InstanceIdentity,
  emit: Emit,
): GuardedBackend | null {
  if (claimer === null) return null;
  // A test may have overridden the claimer: then the backend behind the options is not the one that is asked.
  const given = options.backend?.claimer === claimer ? options.backend : undefined;
  return guard(options, given ?? { store: 'custom', claimer }, clock, instance, emit);
}

function leadership(
  options: ResolvedOptions,
  backend: GuardedBackend | null,
  clock: Clock,
  instance: InstanceIdentity,
  emit: Emit,
): LeaseElector | null {
  if (!options.leadership || backend?.leases === undefined) return null;
  const base = () => ({ atMs: clock.now(), instanceId: instance.id });
  return new LeaseElector(
    backend.leases,
    { ...options, instanceId: instance.id },
    { clock, random: systemRandom },
    {
      gained: (fencingToken) => emit({ type: 'leadership.gained', ...base(), fencingToken }),
      lost: (fencingToken, reason) => emit({ type: 'leadership.lost', ...base(), fencingToken, reason }),
    },
  );
}

function homes(
  options: ResolvedOptions,
  backend: GuardedBackend | null,
  clock: Clock,
  instance: InstanceIdentity,
  emit: Emit,
): Homes {
  const memberName = options.memberName ?? instance.id;
  const base = () => ({ atMs: clock.now(), instanceId: instance.id });
  const source = memberSource(options, backend, { instanceId: instance.id, memberName }, clock, (error) =>
    emit({ type: 'membership.unreachable', ...base(), error, neverSeen: source.current === undefined }),
  );
  return new Homes(source, memberName, {
    changed: (members) => emit({ type: 'membership.changed', ...base(), members }),
    unlisted: (members) => emit({ type: 'membership.unlisted', ...base(), memberName, members }),
  });
}

/** The application's own members count over the backend's. */
function memberSource(
  { membership, namespace, memberExpiryMs, coordinationTimeoutMs }: ResolvedOptions,
  backend: GuardedBackend | null,
  member: Member,
  clock: Clock,
  unreachable: (error: unknown) => void,
): MemberSource {
  if (membership !== undefined && 'list' in membership)
    return new FetchedMembers(membership, coordinationTimeoutMs, clock, { unreachable });
  if (membership !== undefined) return new GivenMembers(membership, 'given');
  if (backend?.membership === undefined) return new GivenMembers(new StaticMembership([member.memberName]), 'alone');
  const settings = { namespace, member, memberExpiryMs };
  return new LiveMembers(backend.membership, settings, { clock, random: systemRandom }, { unreachable });
}

function coordination(
  options: ResolvedOptions,
  backend: GuardedBackend | null,
  leader: LeaseElector | null,
  members: Homes,
  clock: Clock,
  instance: InstanceIdentity,
  emit: Emit,
): Coordination {
  return new Coordination({
    backend: backend ?? undefined,
    leadership: leader ?? undefined,
    homes: members,
    guard: (claimer) => guard(options, { store: 'custom', claimer }, clock, instance, emit),
  });
}
