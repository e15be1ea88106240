import type { Claim, ClaimAnswer, Claimer, CoordinationBackend } from 'nestjs-distributed-cron';

/** Backends that are wrong on purpose: a check that cannot fail shows nothing. */
export const BREAKS = ['grant-on-error', 'grant-by-instance'] as const;
export type Break = (typeof BREAKS)[number];

export function broken(backend: CoordinationBackend, how: Break): CoordinationBackend {
  const claimer = how === 'grant-on-error' ? grantingOnError(backend.claimer) : grantingByInstance(backend.claimer);
  return {
    store: backend.store,
    claimer,
    open: (settings, signal) => backend.open?.(settings, signal),
    close: () => backend.close?.(),
  } as CoordinationBackend;
}

/** Rather twice than not at all: what fail-open code does while the store is away. */
function grantingOnError(claimer: Claimer): Claimer {
  return each(claimer, async (claims, signal) => {
    try {
      return await claimer.claimMany!(claims, signal);
    } catch {
      return claims.map(() => true);
    }
  });
}

/** Takes a claim of the same replica for one of the same pass: a fire that a replica reaches twice runs twice. */
function grantingByInstance(claimer: Claimer): Claimer {
  return each(claimer, (claims, signal) =>
    claimer.claimMany!(
      claims.map(({ fireKey, context }) => ({ fireKey, context: { ...context, claimId: context.instanceId } })),
      signal,
    ),
  );
}

function each(
  { repeatable }: Claimer,
  claimMany: (claims: readonly Claim[], signal: AbortSignal) => Promise<readonly ClaimAnswer[]>,
): Claimer {
  return {
    ...(repeatable === undefined ? {} : { repeatable }),
    claimMany,
    claim: async (fireKey, context) => (await claimMany([{ fireKey, context }], context.signal))[0] === true,
  };
}
