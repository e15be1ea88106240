import type { CoordinationBackend } from '../coordination/coordination-backend.js';
import { MemoryBackend } from '../coordination/memory/memory-backend.js';
import type { MemoryStore } from '../coordination/memory/memory-store.js';
import type { ReplicaLife } from './replica-life.js';

/** A fleet's store as one replica reaches it: a replica that was killed is answered nothing, a stalled one when it wakes. */
export function replicaBackend(store: MemoryStore, life: ReplicaLife): CoordinationBackend {
  const backend = new MemoryBackend({ store });
  return {
    store: backend.store,
    claimer: reachedBy(life, backend.claimer),
    leases: reachedBy(life, backend.leases),
    membership: reachedBy(life, backend.membership),
    recovery: reachedBy(life, backend.recovery),
    open: (settings) => life.call(() => backend.open(settings)),
    now: () => life.call(() => backend.now()),
  };
}

/** A proxy, so that each capability of the port is there and no new one is forgotten here. Every method of a port answers a promise. */
function reachedBy<T extends object>(life: ReplicaLife, port: T): T {
  return new Proxy(port, {
    get: (target, name) => {
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]) => life.call(() => Reflect.apply(member, target, args));
    },
  });
}
