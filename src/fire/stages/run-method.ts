import { DrainDeadlineError, FireRejectedError, TimeoutError } from '../../domain/errors.js';
import { RunContext, runInFire } from '../fire-context.js';
import type { FireServices } from '../fire-services.js';
import type { Outcome, Pass } from '../pass.js';
import { callWithRetries } from '../retry.js';

/** Runs the method, and runs it again where the entry says so. */
export function runMethod(pass: Pass, services: FireServices): Outcome | Promise<Outcome> {
  const { fire, entry } = pass;
  if (services.outOfTime())
    return { kind: 'failed', error: new DrainDeadlineError(services.drainDeadlineMs), durationMs: 0 };
  const atMs = services.clock.now();
  services.tally.started(entry, atMs);
  if (services.watched()) {
    const latenessMs = atMs - fire.scheduledAt.getTime();
    services.emit({ type: 'fire.started', atMs, instanceId: services.instanceId, fire, latenessMs });
  }
  const startedAtMs = services.clock.monotonic();
  const { retry } = entry.policies;
  return retry === null
    ? callMethod(pass, services, new RunContext(fire, pass.attempt, pass.fencingToken), startedAtMs)
    : callWithRetries(pass, services, retry, (context) => callMethod(pass, services, context, startedAtMs));
}

/** Calls the method in its fire context. The time limit covers this call alone: jitter, coordination and earlier attempts are behind it. Durations count from the first call. */
function callMethod(
  pass: Pass,
  services: FireServices,
  context: RunContext,
  startedAtMs: number,
): Outcome | Promise<Outcome> {
  let returned: unknown;
  try {
    returned = runInFire(context, pass.entry.run);
  } catch (error) {
    return thrown(pass, error, services.clock.monotonic() - startedAtMs);
  }
  if (isThenable(returned)) return settle(pass, services, context, returned, startedAtMs);
  return { kind: 'completed', value: returned, durationMs: services.clock.monotonic() - startedAtMs };
}

/**
 * The first of three ends the fire: the method's own end, its time limit, or a scheduler that gives it up. A method that returns after it was
 * ended is told to the pipeline, which then frees its slot.
 */
function settle(
  pass: Pass,
  services: FireServices,
  context: RunContext,
  returned: PromiseLike<unknown>,
  startedAtMs: number,
): Promise<Outcome> {
  const { fire, entry } = pass;
  const elapsedMs = () => services.clock.monotonic() - startedAtMs;
  return new Promise((resolve) => {
    const { timeoutMs } = entry.policies;
    const alarm =
      timeoutMs === null
        ? undefined
        : services.alarms.set(timeoutMs, () => giveUp(new TimeoutError(fire.entryKey, fire.fireKey, timeoutMs)));
    const cancelAlarm = () => {
      if (alarm !== undefined) services.alarms.cancel(alarm);
    };
    const giveUp = (error: Error) => {
      // Given up by a drain, its time limit has nothing left to end, and would keep the process alive until it rang.
      cancelAlarm();
      pass.overdue = true;
      resolve({ kind: 'failed', error, durationMs: elapsedMs() });
      context.abort(error);
    };
    pass.running = { context, giveUp };
    const end = (outcome: Outcome) => {
      cancelAlarm();
      pass.running = undefined;
      resolve(outcome);
      if (!pass.overdue) return;
      pass.overdue = false;
      pass.onReturnedLate?.(elapsedMs());
    };
    Promise.resolve(returned).then(
      (value) => end({ kind: 'completed', value, durationMs: elapsedMs() }),
      (error: unknown) => end(thrown(pass, error, elapsedMs())),
    );
  });
}

/** A guard of the application stands before the method; what it turns away did not run. */
function thrown(pass: Pass, error: unknown, durationMs: number): Outcome {
  const turnedAway =
    error instanceof FireRejectedError && error.reason === 'guard' && error.fireKey === pass.fire.fireKey;
  return turnedAway ? { kind: 'rejected', reason: 'guard' } : { kind: 'failed', error, durationMs };
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    value !== null &&
    (typeof value === 'object' || typeof value === 'function') &&
    typeof (value as { then?: unknown }).then === 'function'
  );
}
