import { CoordinationError } from '../../coordination/coordination-error.js';
import { limitTime } from '../../coordination/time-limit.js';
import type { FireServices } from '../fire-services.js';
import type { Outcome, Pass } from '../pass.js';

const SUBJECT = { store: 'elector', operation: 'isLeader' } as const;

/** Asks whether this replica leads, where an elector is set. Only an explicit `true` goes on. */
export function askElector(pass: Pass, services: FireServices): undefined | Promise<Outcome | undefined> {
  const { elector } = services;
  if (elector === undefined) return undefined;
  const { fire } = pass;
  return limitTime(services.clock, { limitMs: services.coordinationTimeoutMs, ...SUBJECT }, (signal) =>
    elector.isLeader({
      namespace: services.namespace,
      instanceId: services.instanceId,
      entryKey: fire.entryKey,
      fireKey: fire.fireKey,
      scheduledAt: fire.scheduledAt,
      signal,
    }),
  ).then(readAnswer, electionError);
}

function readAnswer(answer: unknown): Outcome | undefined {
  if (answer === true) return undefined;
  if (answer === false) return { kind: 'skipped', reason: 'not-leader' };
  return electionError(
    new CoordinationError(
      'COORDINATION_ANSWER',
      SUBJECT,
      `expected true or false, got ${typeof answer}. The fire does not run.`,
    ),
  );
}

function electionError(error: unknown): Outcome {
  return { kind: 'skipped', reason: 'election-error', error };
}
