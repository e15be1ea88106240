import type { CoordinationBackend } from '../coordination/coordination-backend.js';

/** A backend whose replica can die, or be cut off: from then on it gets no answer any more, and its calls do not reach the store. */
export function mortal(backend: CoordinationBackend) {
  const life = { reaches: true };
  const reached = <T extends object>(port: T): T =>
    new Proxy(port, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name, target);
        if (typeof member !== 'function') return member;
        return (...args: unknown[]) =>
          life.reaches ? Reflect.apply(member, target, args) : new Promise(() => undefined);
      },
    });
  const { claimer, leases, recovery } = backend;
  return {
    life,
    backend: {
      store: backend.store,
      claimer: reached(claimer),
      ...(leases === undefined ? {} : { leases: reached(leases) }),
      ...(recovery === undefined ? {} : { recovery: reached(recovery) }),
    } satisfies CoordinationBackend,
  };
}
