import { nextLoopTurn } from '../ambient/event-loop.js';
import type { InstanceIdentity } from '../ambient/instance-identity.js';
import { EntryInUseError, ForgetUnavailableError, SchedulerStoppedError } from '../domain/errors.js';
import type { Fire } from '../domain/fire.js';
import type { CronEvent } from '../events/cron-event.js';
import { CatchUpTurns } from '../fire/catch-up-turns.js';
import type { FireServices } from '../fire/fire-services.js';
import { type FireCounters, FireTally } from '../fire/fire-tally.js';
import { Pipeline } from '../fire/pipeline.js';
import { Slots } from '../fire/slots.js';
import { Drain } from './drain.js';
import { Entry, type EntryDefinition } from './entry.js';
import { EntryTable } from './entry-table.js';
import { type EntryDetails, type EntryView, nextInstants } from './entry-view.js';
import { EntryViews } from './entry-views.js';
import { FleetPause } from './fleet-pause.js';
import { Lifecycle, type LifecycleState } from './lifecycle.js';
import { ManualFires } from './manual-fires.js';
import { MissedFires } from './missed-fires.js';
import { Recovery } from './recovery.js';
import type { SchedulerParts } from './scheduler-parts.js';
import { WakeLoop } from './wake-loop.js';

const DEFAULT_CATCH_UP_CONCURRENCY = 8;

/** Entries added in one stretch of the event loop; a registration of very many lets others run in between. */
const ADDED_PER_STRETCH = 1_000;

/** One replica's scheduler: entries in, fires out. Knows nothing of Nest. */
export class Scheduler {
  private readonly table = new EntryTable();
  private readonly lifecycle = new Lifecycle();
  private readonly tally = new FireTally();
  private readonly parts: SchedulerParts;
  private readonly pipeline: Pipeline;
  private readonly loop: WakeLoop;
  private readonly recovery: Recovery;
  private readonly fleetPause: FleetPause;
  private readonly missedFires: MissedFires;
  private readonly manualFires: ManualFires;
  private readonly views: EntryViews;
  private drainUnderWay: { readonly drain: Drain; readonly done: Promise<void> } | undefined;

  constructor(given: SchedulerParts) {
    // Missed and abandoned fires are told by more than one part; whoever tells them, they are counted here.
    const parts = { ...given, emit: (event: CronEvent) => this.tell(event, given.emit) };
    this.parts = parts;
    this.loop = new WakeLoop({
      clock: parts.clock,
      instanceId: parts.instance.id,
      emit: parts.emit,
      watched: parts.watched,
      send: (pass) => this.pipeline.send(pass),
      entries: () => this.table.all(),
    });
    const slots = new Slots(parts.maxConcurrentFires);
    const services: FireServices = {
      clock: parts.clock,
      random: parts.random,
      alarms: this.loop.alarms,
      slots,
      catchUpTurns: new CatchUpTurns(slots, parts.catchUpConcurrency ?? DEFAULT_CATCH_UP_CONCURRENCY),
      tally: this.tally,
      emit: parts.emit,
      watched: parts.watched,
      instanceId: parts.instance.id,
      namespace: parts.namespace,
      coordinationTimeoutMs: parts.coordinationTimeoutMs,
      claimPatienceMs: parts.claimPatienceMs,
      leaseTtlMs: parts.leaseTtlMs,
      elector: parts.elector,
      homes: parts.coordination.homes,
      draining: () => this.lifecycle.ending,
      outOfTime: () => this.drainUnderWay?.drain.overdue === true,
      drainDeadlineMs: parts.drainDeadlineMs,
    };
    this.pipeline = new Pipeline(services);
    this.manualFires = new ManualFires(parts, (pass) => this.pipeline.send(pass));
    this.views = new EntryViews(this.table, this.pipeline, parts.clock);
    this.recovery = new Recovery(services, (pass) => this.pipeline.send(pass));
    this.fleetPause = new FleetPause(parts.emit, () => this.eventBase());
    const { leadership } = parts.coordination;
    this.missedFires = new MissedFires({
      ...parts,
      alarms: this.loop.alarms,
      instanceId: parts.instance.id,
      leadership: leadership === parts.elector ? leadership : undefined,
      entries: () => this.table.all(),
      firing: () => this.lifecycle.state === 'started',
      plan: this.loop.catchUp,
    });
  }

  get instance(): InstanceIdentity {
    return this.parts.instance;
  }

  get state(): LifecycleState {
    return this.lifecycle.state;
  }

  /** From now on entries fire. A second call does nothing. */
  start(): void {
    if (!this.lifecycle.enter('started')) return;
    const nowMs = this.parts.clock.now();
    for (const entry of this.table.all()) this.loop.arm(entry, nowMs);
    // A subscriber that is told of the first entries may have drained meanwhile.
    if (this.lifecycle.ending) return;
    this.parts.coordination.start();
    for (const entry of this.table.all()) this.joinIfSpread(entry);
    this.missedFires.started();
    this.loop.start();
    this.recovery.start();
    this.parts.companion?.start();
    this.parts.emit({ type: 'scheduler.started', ...this.eventBase(), entries: this.table.size });
  }

  /** @throws EntryExistsError, SchedulerStoppedError */
  add(definition: EntryDefinition): void {
    this.refuseWhenEnding('add');
    const nowMs = this.parts.clock.now();
    const entry = new Entry(definition, this.parts.coordination.claimsOf(definition.claimer), nowMs);
    this.table.add(entry);
    this.recovery.watch(entry);
    if (this.lifecycle.state !== 'started') return;
    this.joinIfSpread(entry);
    this.loop.arm(entry, nowMs);
    this.missedFires.added(entry);
  }

  /** Adds many entries and lets the event loop turn in between; the rest is left out when a drain begins meanwhile. */
  async addAll(definitions: Iterable<EntryDefinition>): Promise<void> {
    let added = 0;
    for (const definition of definitions) {
      this.add(definition);
      added += 1;
      if (added % ADDED_PER_STRETCH > 0) continue;
      await nextLoopTurn();
      if (this.lifecycle.ending) return;
    }
  }

  /** The new definition counts from now on; fires that have not asked their claim are canceled, running methods go on. @throws EntryNotFoundError, SchedulerStoppedError */
  update(key: string, change: Partial<Omit<EntryDefinition, 'key'>>): void {
    this.refuseWhenEnding('update');
    const entry = this.table.get(key);
    entry.generation += 1;
    entry.failed = false;
    if (change.schedule !== undefined) entry.schedule = change.schedule;
    if (change.policies !== undefined) entry.policies = change.policies;
    if (change.run !== undefined) entry.run = change.run;
    if (change.claimer !== undefined) {
      this.missedFires.drop(entry);
      entry.claims = this.parts.coordination.claimsOf(change.claimer);
    }
    this.recovery.watch(entry);
    this.cutWaits(entry);
    this.loop.retire(entry);
    if (this.lifecycle.state !== 'started') return;
    this.joinIfSpread(entry);
    this.loop.arm(entry, this.parts.clock.now());
  }

  /** Fires that have not asked their claim are canceled, running methods go on. @throws EntryNotFoundError */
  remove(key: string): void {
    const entry = this.table.get(key);
    this.table.delete(key);
    this.recovery.unwatch(entry);
    entry.generation += 1;
    entry.removed = true;
    this.missedFires.drop(entry);
    this.cutWaits(entry);
    this.loop.retire(entry);
    this.parts.emit({ type: 'entry.removed', ...this.eventBase(), entryKey: key });
  }

  /** On this replica: due fires are rejected as `paused` until `resume`. Manual triggers work. @throws EntryNotFoundError */
  pause(key: string): void {
    const entry = this.table.get(key);
    if (entry.paused) return;
    entry.paused = true;
    entry.pausedAfterMs = entry.askedAfterMs;
    this.parts.emit({ type: 'entry.paused', ...this.eventBase(), entryKey: key, scope: 'replica' });
  }

  /**
   * The entry goes on with its next instant. Nothing is made up for, unless `catchUp`: then the entry's missed policy is applied to the instants of the pause.
   * @throws EntryNotFoundError
   */
  resume(key: string, options: { readonly catchUp?: boolean } = {}): void {
    const entry = this.table.get(key);
    if (!entry.paused) return;
    entry.paused = false;
    this.parts.emit({ type: 'entry.resumed', ...this.eventBase(), entryKey: key, scope: 'replica' });
    if (options.catchUp === true) this.missedFires.resumed(entry, entry.pausedAfterMs);
  }

  /**
   * From the next claim on, fires of the entry are rejected as `paused` on every replica, restarts included, until somebody resumes it. Manual triggers work.
   * @throws EntryNotFoundError, FleetPauseUnavailableError, CoordinationError
   */
  async pauseFleet(key: string): Promise<void> {
    await this.fleetPause.pause(this.table.get(key));
  }

  /**
   * Ends the pause of the fleet. Nothing of the pause is made up for, unless `catchUp`: then this replica applies the entry's missed policy to it.
   * @throws EntryNotFoundError, FleetPauseUnavailableError, CoordinationError
   */
  async resumeFleet(key: string, options: { readonly catchUp?: boolean } = {}): Promise<void> {
    const entry = this.table.get(key);
    const catchUp = options.catchUp === true;
    const since = await this.fleetPause.resume(entry, { catchUp });
    if (catchUp && since !== null) this.missedFires.resumed(entry, since.getTime());
  }

  /**
   * Drops what the store keeps of a key that will never come back: its fires could be claimed again.
   * @throws EntryInUseError while the entry exists here, ForgetUnavailableError, CoordinationError
   */
  async forget(key: string): Promise<void> {
    if (this.table.has(key)) throw new EntryInUseError(key);
    const backend = this.parts.coordination.claimsOf(undefined);
    if ((await backend?.forget(key)) !== true) throw new ForgetUnavailableError(key, backend?.store);
  }

  /** Runs the entry here and now, without jitter, elector or claimer. A refusal is told by its event. @throws EntryNotFoundError, SchedulerStoppedError */
  trigger(key: string): Fire {
    this.refuseWhenEnding('trigger');
    return this.manualFires.trigger(this.table.get(key));
  }

  /**
   * As `trigger`, and waits: resolves with what the method returned, rejects with what it threw.
   * @throws EntryNotFoundError, SchedulerStoppedError, FireRejectedError, TimeoutError
   */
  async triggerAndWait(key: string): Promise<unknown> {
    this.refuseWhenEnding('triggerAndWait');
    return this.manualFires.triggerAndWait(this.table.get(key));
  }

  /** @throws EntryNotFoundError */
  require(key: string): void {
    this.table.get(key);
  }

  list(): EntryView[] {
    return this.views.list();
  }

  /** As `list`, with the instants around now, which for very many entries take a while to compute. */
  snapshot(): EntryDetails[] {
    return this.views.details();
  }

  /** One entry, with the instants around now. @throws EntryNotFoundError */
  view(key: string): EntryDetails {
    return this.views.detailsOf(this.table.get(key));
  }

  /** What became of fires on this replica since it started, all entries together, also those that were removed. */
  counters(): FireCounters {
    return this.tally.totals;
  }

  /** The entry's next instants, at most `count`, counted from now. @throws EntryNotFoundError */
  next(key: string, count = 1): Date[] {
    return nextInstants(this.table.get(key).schedule, this.parts.clock.now(), count);
  }

  /**
   * No claim is asked from here on. Resolves when every fire under way has ended: running methods finish, or are aborted at the
   * deadline. Every call answers the same promise, and none rejects.
   */
  drain(): Promise<void> {
    if (this.drainUnderWay === undefined) {
      const drain = new Drain(this.pipeline, this.loop.alarms, this.parts.drainDeadlineMs);
      this.lifecycle.enter('draining');
      this.loop.stop();
      this.missedFires.stop();
      this.parts.coordination.drain();
      // Known before it is told: a subscriber that drains in answer gets this same promise.
      this.drainUnderWay = { drain, done: this.end(drain) };
      this.parts.emit({
        type: 'scheduler.draining',
        ...this.eventBase(),
        running: this.views.running + (this.parts.companion?.running ?? 0),
      });
    }
    return this.drainUnderWay.done;
  }

  /** As `drain`, with the deadline now: running methods are aborted at once. */
  stop(): Promise<void> {
    const done = this.drain();
    this.drainUnderWay?.drain.hurry();
    this.parts.companion?.hurry();
    return done;
  }

  private async end(drain: Drain): Promise<void> {
    // What a last look brings is given up at once, which the store must be told within the deadline too.
    const looked = this.recovery.stop();
    const ended = await Promise.all([drain.run(looked), this.parts.companion?.drain() ?? 0]);
    const aborted = ended[0] + ended[1];
    this.lifecycle.enter('stopped');
    this.parts.emit({ type: 'scheduler.stopped', ...this.eventBase(), aborted });
  }

  /** A replica is a member as soon as one of its entries asks who else is. */
  private joinIfSpread(entry: Entry): void {
    if (entry.policies.placement === 'spread') this.parts.coordination.homes?.join();
  }

  private cutWaits(entry: Entry): void {
    for (const pass of [...this.pipeline.passes]) if (pass.entry === entry) pass.cutWait?.();
  }

  private tell(event: CronEvent, emit: (event: CronEvent) => void): void {
    if (event.type === 'fire.missed') this.tally.missed(this.table.find(event.entryKey), event.count);
    else if (event.type === 'fire.abandoned')
      this.tally.abandoned(this.table.find(event.fire.entryKey), event.fire, event.atMs);
    emit(event);
  }

  private refuseWhenEnding(operation: string): void {
    if (this.lifecycle.ending) throw new SchedulerStoppedError(operation);
  }

  private eventBase() {
    return { atMs: this.parts.clock.now(), instanceId: this.parts.instance.id };
  }
}
