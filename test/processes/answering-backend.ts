import type { Claim, ClaimAnswer, Claimer, CoordinationBackend } from 'nestjs-distributed-cron';

type AnswerMany = (claims: readonly Claim[], signal: AbortSignal) => Promise<readonly ClaimAnswer[]>;

/** A backend whose claims are answered otherwise, and nothing else. Its claimer has a batch. */
export function answeringBackend(
  backend: CoordinationBackend,
  answer: (ask: AnswerMany, ...batch: Parameters<AnswerMany>) => ReturnType<AnswerMany>,
): CoordinationBackend {
  const { claimer } = backend;
  const claimMany: AnswerMany = (claims, signal) =>
    answer((asked, until) => claimer.claimMany!(asked, until), claims, signal);
  const wrapped: Claimer = {
    claimMany,
    claim: async (fireKey, context) => (await claimMany([{ fireKey, context }], context.signal))[0] === true,
  };
  return delegating(backend, { claimer: delegating(claimer, wrapped) });
}

/** What `own` has not, `of` does with itself as `this`; a capability that it has not is absent. */
function delegating<T extends object>(of: T, own: Partial<T>): T {
  return new Proxy(of, {
    get(target, name) {
      if (Reflect.has(own, name)) return Reflect.get(own, name);
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
