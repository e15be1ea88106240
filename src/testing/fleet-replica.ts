import type { INestApplicationContext } from '@nestjs/common';
import { Subject } from 'rxjs';
import type { MemoryStore } from '../coordination/memory/memory-store.js';
import type { CronEvent } from '../events/cron-event.js';
import { type BuildReplica, type FleetLogger, startApplication } from './fleet-application.js';
import { Recorder } from './recorder.js';
import { replicaBackend } from './replica-backend.js';
import { ReplicaClock } from './replica-clock.js';
import { ReplicaLife } from './replica-life.js';
import type { VirtualClock } from './virtual-clock.js';

/** The turns of the event loop in which a replica may close before time is moved for it. */
const TURNS_TO_CLOSE = 50;

/** One replica of a fleet: a whole application. */
export interface FleetReplica {
  readonly index: number;
  /** Its name among the members: `replica-0`, `replica-1`, … */
  readonly name: string;
  readonly app: INestApplicationContext;
  /** What this replica tells. */
  readonly recorder: Recorder;
  /**
   * As a process that crashed: no timer of the replica calls back any more, no call of it reaches the store or is answered, and nobody is told anything. No hook runs and
   * nothing is given back. What a method that runs does elsewhere goes on: there is no process that could end.
   */
  kill(): void;
  /** As a process that was stopped (SIGSTOP) or blocked: until `wake`, no timer calls back, and no call is sent or answered. Time goes on. */
  stall(): void;
  /** Ends a stall: what was due in it calls back now, late and in order; then what was asked is sent and answered. */
  wake(): Promise<void>;
  /** Closes the application, which drains. If a method still runs, moves the clock on until it has ended, at most to the drain deadline. */
  close(): Promise<void>;
}

export class ReplicaInProcess implements FleetReplica {
  readonly name: string;
  readonly recorder: Recorder;
  /** Ends with the replica, also where it is killed and its application does not. */
  readonly told = new Subject<CronEvent>();
  private readonly life = new ReplicaLife();
  private readonly clock: ReplicaClock;
  private application: INestApplicationContext | undefined;
  private closing: Promise<void> | undefined;

  constructor(
    readonly index: number,
    private readonly fleetClock: VirtualClock,
    private readonly store: MemoryStore,
  ) {
    this.name = `replica-${index}`;
    this.clock = new ReplicaClock(fleetClock, this.life);
    this.recorder = new Recorder({ events$: this.told }, { clock: fleetClock });
  }

  get app(): INestApplicationContext {
    if (this.application === undefined) throw new Error(`fleet: ${this.name} has not started.`);
    return this.application;
  }

  async start(build: BuildReplica, logger: FleetLogger): Promise<void> {
    const backend = replicaBackend(this.store, this.life);
    const member = { index: this.index, memberName: this.name, backend, clock: this.clock };
    this.application = await startApplication(
      build,
      member,
      logger,
      ({ events$ }) => void events$.subscribe(this.told),
    );
  }

  kill(): void {
    this.life.kill();
    this.clock.end();
    this.told.complete();
  }

  stall(): void {
    this.life.stall();
  }

  async wake(): Promise<void> {
    this.life.wake();
    await this.clock.catchUp();
    this.life.answer();
    await this.fleetClock.settle();
  }

  close(): Promise<void> {
    this.closing ??=
      this.application === undefined || this.life.killed ? Promise.resolve() : this.end(this.application);
    return this.closing;
  }

  private async end(application: INestApplicationContext): Promise<void> {
    await this.wake();
    let open = true;
    const closed = application.close().finally(() => {
      open = false;
    });
    // Its rejection is for whoever awaits `close`, however many turns later that is.
    closed.catch(() => undefined);
    for (let turn = 0; open && (turn < TURNS_TO_CLOSE || this.recorder.running > 0); turn++) {
      if (turn >= TURNS_TO_CLOSE && this.fleetClock.pendingTimers > 0) await this.fleetClock.wakeEarly(0);
      else await this.fleetClock.settle();
    }
    await closed;
  }
}
