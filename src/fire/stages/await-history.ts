import type { FireServices } from '../fire-services.js';
import type { HistoryGate } from '../history-gate.js';
import type { Outcome, Pass } from '../pass.js';

/**
 * After a boot an entry's scheduled fires wait until it is known what was missed, and those fires have been sent to claim first: up to `claimPatience`, and never past the entry's next instant. Then the
 * store is looked at once more, and the fire goes on to its claim whatever that brings. Nearly always nothing is waited for.
 */
export function awaitHistory(pass: Pass, services: FireServices): undefined | Promise<Outcome | undefined> {
  const { history } = pass.entry;
  if (history === undefined || pass.fire.origin !== 'schedule') return undefined;
  // A wait that begins after it would have been cut has nobody left to cut it: the claim stage refuses the pass at once.
  if (pass.staleness() !== undefined || services.draining()) return undefined;
  return new Promise((resolve) => new HistoryWait(pass, services, history, resolve));
}

class HistoryWait {
  private readonly forget: () => void;
  private alarm: object | undefined;
  private ended = false;

  constructor(
    private readonly pass: Pass,
    private readonly services: FireServices,
    private readonly history: HistoryGate,
    private readonly resolve: (outcome: Outcome | undefined) => void,
  ) {
    this.forget = history.onKnown(pass.entry, () => this.end(undefined));
    pass.cutWait = () => this.end({ kind: 'canceled', reason: pass.staleness() ?? 'draining' });
    // The entry's next instant is armed when the turn is over.
    void Promise.resolve().then(() => this.setLimit());
  }

  private setLimit(): void {
    if (this.ended) return;
    const { alarms, clock, claimPatienceMs } = this.services;
    const limitMs = Math.max(0, this.pass.waitsUntilMs(clock.now(), claimPatienceMs) - clock.now());
    this.alarm = alarms.set(limitMs, () => {
      this.alarm = undefined;
      void this.history.look().then(() => this.end(undefined));
    });
  }

  private end(outcome: Outcome | undefined): void {
    if (this.ended) return;
    this.ended = true;
    const { alarms } = this.services;
    if (this.alarm !== undefined) alarms.cancel(this.alarm);
    this.forget();
    this.pass.cutWait = undefined;
    this.resolve(outcome);
  }
}
