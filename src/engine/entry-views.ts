import type { Clock } from '../ambient/clock.js';
import type { FireEntry } from '../fire/pass.js';
import type { Pipeline } from '../fire/pipeline.js';
import type { Entry } from './entry.js';
import type { EntryTable } from './entry-table.js';
import { type EntryDetails, type EntryView, InstantsAround, viewOf } from './entry-view.js';

/** What an operator sees of the entries of one replica. */
export class EntryViews {
  constructor(
    private readonly table: EntryTable,
    private readonly pipeline: Pick<Pipeline, 'passes'>,
    private readonly clock: Clock,
  ) {}

  list(): EntryView[] {
    const running = this.runningByEntry();
    return [...this.table.all()].map((entry) => viewOf(entry, running.get(entry) ?? 0));
  }

  details(): EntryDetails[] {
    const running = this.runningByEntry();
    const instants = new InstantsAround(this.clock.now());
    return [...this.table.all()].map((entry) => ({
      ...viewOf(entry, running.get(entry) ?? 0),
      ...instants.of(entry.schedule),
    }));
  }

  detailsOf(entry: Entry): EntryDetails {
    const running = this.runningByEntry().get(entry) ?? 0;
    return { ...viewOf(entry, running), ...new InstantsAround(this.clock.now()).of(entry.schedule) };
  }

  /** Methods that run now, of all entries. */
  get running(): number {
    let running = 0;
    for (const { methodRuns } of this.pipeline.passes) if (methodRuns) running += 1;
    return running;
  }

  private runningByEntry(): ReadonlyMap<FireEntry, number> {
    const running = new Map<FireEntry, number>();
    for (const { methodRuns, entry } of this.pipeline.passes)
      if (methodRuns) running.set(entry, (running.get(entry) ?? 0) + 1);
    return running;
  }
}
