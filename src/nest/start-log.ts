import type { Logger } from '@nestjs/common';
import type { Elector } from '../coordination/elector.js';
import type { GuardedBackend } from '../coordination/guarded-backend.js';
import type { Scheduler } from '../engine/scheduler.js';
import type { CollectedEntry } from './collect-entries.js';
import { messageOf } from './event-log.js';
import type { ResolvedOptions } from './resolve-options.js';

/** What on-call looks for first: which entries there are, when they fire next, and what coordinates them. */
export class StartLog {
  constructor(
    private readonly logger: Logger,
    private readonly options: ResolvedOptions,
    private readonly scheduler: Scheduler,
    private readonly coordinationBackend: GuardedBackend | null,
    private readonly elector: Elector | null,
  ) {}

  /** One line per entry: key, expression, zone, next instant. */
  entries(collected: readonly CollectedEntry[]): void {
    const views = new Map(this.scheduler.list().map((view) => [view.key, view]));
    for (const { entry } of collected) {
      const zone = entry.schedule.timeZone === undefined ? '' : ` ${entry.schedule.timeZone}`;
      const nextAt = views.get(entry.key)?.nextAt?.toISOString();
      const next = !entry.enabled
        ? 'disabled'
        : !this.options.enabled
          ? 'not scheduled (enabled: false)'
          : nextAt === undefined
            ? 'no further instant'
            : `next ${nextAt}`;
      this.logger.log(`entry ${entry.key}: "${entry.schedule.label}"${zone}, ${next}`);
    }
  }

  warnings(collected: readonly CollectedEntry[]): void {
    for (const { entry, method, keyFromShortName } of collected) {
      if (!keyFromShortName) continue;
      this.logger.warn(
        `entry ${entry.key}: its key comes from the class name "${method.className}", which looks like a minifier's. Give it a key, or the next build may change its identity.`,
      );
    }
    if (!this.options.enabled) return;
    if (this.coordinationBackend !== null) return;
    this.logger.warn(
      this.elector === null
        ? 'No claimer and no backend: each replica runs every fire. Give forRoot a backend, such as SqliteBackend for the processes of one host.'
        : 'An elector without a claimer: around a hand-over of leadership a fire can run on two replicas. Give forRoot a backend, or a claimer.',
    );
  }

  /** One line: store, namespace, leadership, clock offset to the store. Never rejects. */
  async coordination(): Promise<void> {
    const { id, hostname, pid } = this.scheduler.instance;
    const leadership = this.elector === null ? 'off' : 'on';
    const head = `store ${this.coordinationBackend?.store ?? 'none'}, namespace "${this.options.namespace}", leadership ${leadership}`;
    const tail = `instance ${id} (${hostname}, pid ${pid}), zone data ${process.versions.tz ?? 'unknown'}`;
    this.logger.log(`coordination: ${head}, clock offset to the store ${await this.clockOffset()}, ${tail}`);
  }

  private async clockOffset(): Promise<string> {
    if (this.coordinationBackend === null || !this.options.enabled) return 'not asked';
    try {
      const offsetMs = await this.coordinationBackend.clockOffsetMs();
      return offsetMs === undefined
        ? 'unknown (the store tells no time)'
        : `${offsetMs >= 0 ? '+' : ''}${offsetMs.toFixed(1)} ms`;
    } catch (error) {
      this.logger.warn(
        `The store did not answer at start: ${messageOf(error)}. Fires wait for it, within claimPatience.`,
      );
      return 'unknown (the store did not answer)';
    }
  }
}
