import type { ExpectedFire } from './jobs';
import type { FireReport, FromReplica } from './messages';

interface MissedRange {
  readonly replica: string;
  readonly entryKey: string;
  readonly firstMs: number;
  readonly lastMs: number;
}

const MISSED: FireReport = { kind: 'not-run', reason: 'missed' };

/** What each replica reported about each fire. */
export class FireBoard {
  private readonly fires = new Map<string, ExpectedFire>();
  private readonly reports = new Map<string, Map<string, FireReport>>();
  /** By fire key and replica. */
  private readonly lateness = new Map<string, number>();
  private readonly missed: MissedRange[] = [];
  private readonly waiting = new Set<() => void>();

  /** `live` answers the replicas that are up now: only those are waited for. */
  constructor(private readonly live: () => readonly string[]) {}

  take(replica: string, message: FromReplica): void {
    if (message.type === 'missed') this.missed.push({ replica, ...message });
    if (message.type === 'fire') {
      const { fireKey, entryKey, instantMs, report } = message;
      this.fires.set(fireKey, { fireKey, entryKey, instantMs });
      const reports = this.reports.get(fireKey) ?? new Map<string, FireReport>();
      this.reports.set(fireKey, reports.set(replica, report));
      if (report.kind === 'running') this.lateness.set(`${fireKey} ${replica}`, report.latenessMs);
    }
    this.changed();
  }

  /** The fires that any replica reported, in the order of their instants. */
  reported(): ExpectedFire[] {
    return [...this.fires.values()].sort((a, b) => a.instantMs - b.instantMs);
  }

  report({ fireKey, entryKey, instantMs }: ExpectedFire, replica: string): FireReport | undefined {
    const own = this.reports.get(fireKey)?.get(replica);
    if (own !== undefined) return own;
    const isMissed = this.missed.some(
      (range) =>
        range.replica === replica &&
        range.entryKey === entryKey &&
        range.firstMs <= instantMs &&
        range.lastMs >= instantMs,
    );
    return isMissed ? MISSED : undefined;
  }

  /** How long after the instant the replica began to run the fire. */
  latenessMs({ fireKey }: ExpectedFire, replica: string): number | undefined {
    return this.lateness.get(`${fireKey} ${replica}`);
  }

  /** Every replica that is up has said how the fire ended there. */
  isConcluded(fire: ExpectedFire): boolean {
    return this.live().every((replica) => {
      const report = this.report(fire, replica);
      return report !== undefined && report.kind !== 'running';
    });
  }

  /** Resolves as soon as the condition holds; it is asked again whenever something changed. */
  until(condition: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const check = () => {
        if (!condition()) return;
        this.waiting.delete(check);
        resolve();
      };
      this.waiting.add(check);
      check();
    });
  }

  /** Something that conditions may depend on has changed. */
  changed(): void {
    for (const check of [...this.waiting]) check();
  }
}
