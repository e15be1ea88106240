import type { Elector } from '../coordination/elector.js';
import type { GuardedBackend } from '../coordination/guarded-backend.js';
import type { EntryView } from '../engine/entry-view.js';
import type { Scheduler } from '../engine/scheduler.js';
import type { TaskView } from '../tasks/task.js';
import { type ApplicationLog, messageOf } from './application-log.js';
import type { CollectedEntry } from './collect-entries.js';
import type { CollectedTask } from './collect-tasks.js';
import type { ResolvedOptions } from './resolve-options.js';

/** What on-call looks for first: which entries there are, when they fire next, and what coordinates them. */
export class StartLog {
  constructor(
    private readonly log: ApplicationLog,
    private readonly options: ResolvedOptions,
    private readonly scheduler: Scheduler,
    private readonly coordinationBackend: GuardedBackend | null,
    private readonly elector: Elector | null,
  ) {}

  /** One line per entry: key, expression, zone, next instant. Those that code added before the start are among them. */
  entries(collected: readonly CollectedEntry[]): void {
    for (const { entry } of collected) {
      if (!entry.enabled) this.entry(entry.key, entry.schedule.label, entry.schedule.timeZone, 'disabled');
    }
    for (const view of this.scheduler.list()) this.entry(view.key, view.expression, view.timeZone, this.nextOf(view));
  }

  tasks(views: readonly TaskView[]): void {
    const state = this.options.enabled ? '' : ', not scheduled (enabled: false)';
    for (const { key, kind } of views) this.log.log(`task ${key}: ${kind}${state}`);
  }

  private entry(key: string, expression: string, timeZone: string | undefined, next: string): void {
    this.log.log(`entry ${key}: "${expression}"${timeZone === undefined ? '' : ` ${timeZone}`}, ${next}`);
  }

  private nextOf({ failed, nextAt }: EntryView): string {
    if (!this.options.enabled) return 'not scheduled (enabled: false)';
    if (failed) return 'not scheduled (its schedule failed)';
    return nextAt === null ? 'no further instant' : `next ${nextAt.toISOString()}`;
  }

  warnings(collected: readonly CollectedEntry[], tasks: readonly CollectedTask[]): void {
    for (const { entry, method, keyFromShortName } of collected)
      if (keyFromShortName) this.shortKey(`entry ${entry.key}`, method.className);
    for (const { task, method, keyFromShortName } of tasks)
      if (keyFromShortName) this.shortKey(`task ${task.key}`, method.className);
    if (!this.options.enabled) return;
    if (this.coordinationBackend !== null) return;
    this.log.warn(
      this.elector === null
        ? 'No claimer and no backend: each replica runs every fire. Give forRoot a backend, such as SqliteBackend for the processes of one host.'
        : 'An elector without a claimer: around a hand-over of leadership a fire can run on two replicas. Give forRoot a backend, or a claimer.',
    );
  }

  private shortKey(whose: string, className: string): void {
    const from =
      className === '' ? 'a class without a name' : `the class name "${className}", which looks like a minifier's`;
    this.log.warn(`${whose}: its key comes from ${from}. Give it a key, or the next build may change its identity.`);
  }

  /** One line: store, namespace, leadership, clock offset to the store. Never rejects. */
  async coordination(): Promise<void> {
    const { id, hostname, pid } = this.scheduler.instance;
    const leadership = this.elector === null ? 'off' : 'on';
    const head = `store ${this.coordinationBackend?.store ?? 'none'}, namespace "${this.options.namespace}", leadership ${leadership}`;
    const tail = `instance ${id} (${hostname}, pid ${pid}), zone data ${process.versions.tz ?? 'unknown'}`;
    this.log.log(`coordination: ${head}, clock offset to the store ${await this.clockOffset()}, ${tail}`);
  }

  /** What the store's set-up puts at risk. Never rejects: that the store does not answer is said by `coordination`. */
  async storeWarnings(): Promise<void> {
    if (this.coordinationBackend === null || !this.options.enabled) return;
    const warnings = await this.coordinationBackend.warnings().catch(() => []);
    for (const warning of warnings) this.log.warn(warning);
  }

  private async clockOffset(): Promise<string> {
    if (this.coordinationBackend === null || !this.options.enabled) return 'not asked';
    try {
      const offsetMs = await this.coordinationBackend.clockOffsetMs();
      return offsetMs === undefined
        ? 'unknown (the store tells no time)'
        : `${offsetMs >= 0 ? '+' : ''}${offsetMs.toFixed(1)} ms`;
    } catch (error) {
      this.log.warn(`The store did not answer at start: ${messageOf(error)}. Fires wait for it, within claimPatience.`);
      return 'unknown (the store did not answer)';
    }
  }
}
