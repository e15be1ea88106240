import type { FireBoard } from './fire-board';
import type { Fleet } from './fleet';
import { type ExpectedFire, nextInvoiceRun } from './jobs';
import type { ReplicaProcess } from './replica-process';

/** The word must reach every replica before the instant does. */
const AHEAD_MS = 500;

export interface Standstill {
  readonly replica: ReplicaProcess;
  readonly fireKey: string;
}

/**
 * Names an invoice run to all replicas: whichever wins it stops inside its transaction and says so. One fire has one winner, so nobody has to be called off. A
 * run that passed by, since it had nothing to invoice or the word came late, is followed by the next.
 *
 * @throws what ended the demo: without replicas every run passes by at once, and this would go round for ever.
 */
export async function awaitStandstill(
  fleet: Fleet,
  board: FireBoard,
  reported: () => Standstill | undefined,
  over: AbortSignal,
): Promise<{ readonly standstill: Standstill; readonly fire: ExpectedFire }> {
  for (;;) {
    over.throwIfAborted();
    const fire = nextInvoiceRun(Date.now() + AHEAD_MS);
    fleet.tellAll({ type: 'stop-inside', fireKey: fire.fireKey });
    await board.until(() => reported() !== undefined || board.isConcluded(fire));
    const standstill = reported();
    if (standstill !== undefined) return { standstill, fire };
  }
}
