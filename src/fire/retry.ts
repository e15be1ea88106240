import { backoffMs } from '../domain/backoff.js';
import type { RetryPolicy } from '../domain/policies.js';
import { RunContext } from './fire-context.js';
import type { FireServices } from './fire-services.js';
import type { Outcome, Pass } from './pass.js';

/** Calls the method once. */
export type Call = (context: RunContext) => Outcome | Promise<Outcome>;

/**
 * Calls a method that throws again, within its fire: slot and leases stay held over the pauses. The fire ends with the last call. Each call has a context of its own, so that what one attempt left
 * listening to its signal hears nothing of the next.
 */
export function callWithRetries(
  pass: Pass,
  services: FireServices,
  policy: RetryPolicy,
  call: Call,
): Outcome | Promise<Outcome> {
  const context = contextOf(pass, 0);
  const outcome = call(context);
  // Nearly every method ends well at its first call, and one that does so at once costs no turn.
  if (!(outcome instanceof Promise) && outcome.kind !== 'failed') return outcome;
  return callAgain(pass, services, policy, call, context, outcome);
}

async function callAgain(
  pass: Pass,
  services: FireServices,
  policy: RetryPolicy,
  call: Call,
  context: RunContext,
  first: Outcome | Promise<Outcome>,
): Promise<Outcome> {
  let outcome = await first;
  let called = context;
  for (let calls = 1; calls < policy.attempts; calls++) {
    // A method that was aborted may still run, or has lost what it ran under: its fire has ended.
    if (outcome.kind !== 'failed' || called.aborted) return outcome;
    if (isUnwanted(pass, services)) return cutShort(pass, services, outcome);
    const next = contextOf(pass, calls);
    const pauseMs = backoffMs(policy, calls, services.random.fraction());
    tellRetrying(pass, services, called.attempt, outcome.error, pauseMs);
    if (!(await pause(pass, services, next, pauseMs)) || isUnwanted(pass, services))
      return cutShort(pass, services, outcome);
    // After the process was stopped, the pause and the lease end in one turn.
    if (pass.holds?.loss() !== undefined) return outcome;
    called = next;
    outcome = await call(next);
  }
  return outcome;
}

function contextOf(pass: Pass, retries: number): RunContext {
  return new RunContext(pass.fire, pass.attempt + retries, pass.fencingToken);
}

/** No attempt begins after a drain began, or for an entry that is not what it was. */
function isUnwanted(pass: Pass, services: FireServices): boolean {
  return services.draining() || pass.staleness() !== undefined;
}

/** It had attempts left: where it is recoverable, another replica makes them. */
function cutShort(pass: Pass, services: FireServices, outcome: Outcome): Outcome {
  if (services.draining()) pass.interrupted = true;
  return outcome;
}

function tellRetrying(pass: Pass, services: FireServices, attempt: number, error: unknown, nextInMs: number): void {
  const { clock, instanceId } = services;
  services.tally.retried(pass.entry);
  services.emit({ type: 'fire.retrying', atMs: clock.now(), instanceId, fire: pass.fire, attempt, error, nextInMs });
}

/** Waits. Answers `false`, and at once, when the wait is cut: by a drain, by a change of the entry, or by an abort of the attempt that would follow, as when a lease was lost. */
function pause(pass: Pass, services: FireServices, next: RunContext, pauseMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    // Who hears of the retry may have drained the scheduler: nobody is left then who cuts a wait that begins now.
    if (isUnwanted(pass, services)) {
      resolve(false);
      return;
    }
    const end = (over: boolean) => {
      services.alarms.cancel(alarm);
      pass.cutWait = undefined;
      pass.running = undefined;
      next.signal.removeEventListener('abort', cut);
      resolve(over);
    };
    const cut = () => end(false);
    const alarm = services.alarms.set(pauseMs, () => end(true));
    pass.cutWait = cut;
    pass.running = { context: next, giveUp: cut };
    next.signal.addEventListener('abort', cut);
  });
}
