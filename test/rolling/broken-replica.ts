import { setTimeout as wait } from 'node:timers/promises';
import type { CoordinationBackend } from 'nestjs-distributed-cron';
import { answeringBackend } from '../processes/answering-backend.js';

/**
 * Replicas that are wrong on purpose: a check that cannot fail shows nothing. `grant-twice` takes some refusals for grants; `drop-claimed` forgets what is granted while it drains; `leave-at-once` ends
 * on SIGTERM, whatever runs.
 */
export const BREAKS = ['grant-twice', 'drop-claimed', 'leave-at-once'] as const;
export type Break = (typeof BREAKS)[number];

const GRANTED_OF_REFUSALS = 20;

/** Answers as late as they are set to, and as wrong. */
export function answering(
  backend: CoordinationBackend,
  { lateByMs, how, draining }: { lateByMs: number; how: Break | undefined; draining: () => boolean },
): CoordinationBackend {
  let refusals = 0;
  return answeringBackend(backend, async (ask, claims, signal) => {
    const answers = await ask(claims, signal);
    if (lateByMs > 0) await wait(lateByMs);
    if (how === 'drop-claimed' && draining()) return answers.map(() => false);
    if (how !== 'grant-twice') return answers;
    return answers.map((answer) => {
      if (answer !== false) return answer;
      refusals += 1;
      return refusals % GRANTED_OF_REFUSALS === 0;
    });
  });
}
