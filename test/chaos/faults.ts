import { setTimeout as wait } from 'node:timers/promises';
import type { ClaimWatch } from './claim-watch.js';
import type { ClockedFleet } from './clocked-fleet.js';
import type { Fault } from './fault-plan.js';
import type { ChaosStore } from './stores/store.js';

/** A fault as it came to be. Times are the host's. */
export interface InjectedFault {
  readonly fault: Fault;
  readonly fromMs: number;
  readonly toMs: number;
}

interface Injector {
  inject(): Promise<void> | void;
  heal(): Promise<void> | void;
}

/** Does what the plan says, each fault at its time, whatever the others do. */
export class Faults {
  readonly injected: InjectedFault[] = [];
  /** Injected and not healed yet. */
  readonly underWay = new Set<Fault>();

  constructor(
    private readonly fleet: ClockedFleet,
    private readonly store: ChaosStore,
    private readonly watch: ClaimWatch,
  ) {}

  /** Resolves when the last is healed; rejects if one could not be injected or healed. */
  async run(plan: readonly Fault[], beginMs: number): Promise<void> {
    const targets = [...new Set(plan.map(({ replica }) => replica))];
    await Promise.all(
      targets.map(async (target) => {
        // One after the other: on a busy machine a replica may still be starting when its next fault is due.
        for (const fault of plan) if (fault.replica === target) await this.runOne(fault, beginMs);
      }),
    );
  }

  private async runOne(fault: Fault, beginMs: number): Promise<void> {
    const injector = this.injectorOf(fault);
    await wait(Math.max(0, beginMs + fault.atMs - Date.now()));
    const fromMs = Date.now();
    this.underWay.add(fault);
    await injector.inject();
    await wait(Math.max(0, fromMs + fault.lastsMs - Date.now()));
    await injector.heal();
    const toMs = Date.now();
    this.underWay.delete(fault);
    this.injected.push({ fault, fromMs, toMs });
  }

  private injectorOf({ kind, replica = 0, offsetMs = 0 }: Fault): Injector {
    const { fleet, store, watch } = this;
    switch (kind) {
      case 'kill':
        return { inject: () => fleet.kill(replica), heal: () => fleet.start(replica) };
      case 'pause':
        return { inject: () => fleet.stop(replica), heal: () => fleet.continue(replica) };
      case 'skew':
        return { inject: () => fleet.setClock(replica, offsetMs), heal: () => fleet.setClock(replica, 0) };
      case 'cut':
        return { inject: () => store.pathOf(replica).cut(), heal: () => store.pathOf(replica).heal() };
      case 'delay':
        return {
          inject: () => store.pathOf(replica).become({ delayMs: 400, lossShare: 0 }),
          heal: () => store.pathOf(replica).heal(),
        };
      case 'loss':
        return {
          inject: () => store.pathOf(replica).become({ delayMs: 0, lossShare: 0.3 }),
          heal: () => store.pathOf(replica).heal(),
        };
      // Claims that the store removes after it was away for as long as the retention must have been seen before.
      case 'store-pause':
        return { inject: () => watch.look().then(() => store.pause()), heal: () => store.resume() };
      case 'store-restart':
        return { inject: () => watch.look().then(() => store.kill()), heal: () => store.start() };
      default:
        return kind satisfies never;
    }
  }
}
