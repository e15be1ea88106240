import type { ReplicaRecord } from './records.js';

export interface Span {
  readonly fromMs: number;
  /** Absent while it lasts. */
  readonly toMs?: number;
}

/** What a replica said of one fire that it did not run. */
export interface Account {
  readonly kind: 'skipped' | 'rejected' | 'canceled' | 'missed';
  readonly reason: string;
  readonly superseded: boolean;
  readonly atMs: number;
}

/** One process from its start to its end: what was done to it, and what it said. A replica that is killed and started again has two lives. */
export class Life {
  instanceId: string | undefined;
  startedAtMs: number | undefined;
  /** Its death or the word to drain. */
  end: { readonly atMs: number; readonly how: 'killed' | 'drained' } | undefined;
  readonly failures: string[] = [];
  readonly skips = new Map<string, number>();
  private dueFrom: Readonly<Record<string, number>> = {};
  private readonly stops: Span[] = [];
  private readonly clock: { readonly fromMs: number; readonly offsetMs: number }[] = [];
  private readonly accounts = new Map<string, Account[]>();
  private readonly missed = new Map<string, { firstMs: number; lastMs: number; atMs: number }[]>();

  constructor(readonly name: string) {}

  hear(record: ReplicaRecord): void {
    switch (record.kind) {
      case 'started':
        this.instanceId = record.instanceId;
        this.startedAtMs = record.atMs;
        this.dueFrom = record.dueFrom;
        return;
      case 'missed':
        listIn(this.missed, record.entryKey).push(record);
        return;
      case 'failed':
        this.failures.push(`${record.what}: ${record.error}`);
        return;
      default: {
        const { kind, fireKey, reason, superseded, atMs } = record;
        listIn(this.accounts, fireKey).push({ kind, reason, superseded, atMs });
        const label = superseded ? `${reason} (superseded)` : reason;
        this.skips.set(label, (this.skips.get(label) ?? 0) + 1);
      }
    }
  }

  stopped(fromMs: number): void {
    this.stops.push({ fromMs });
  }

  continued(toMs: number): void {
    const stop = this.stops.pop();
    if (stop !== undefined) this.stops.push({ ...stop, toMs });
  }

  clockSet(fromMs: number, offsetMs: number): void {
    this.clock.push({ fromMs, offsetMs });
  }

  /** All that it said of a fire, in no order. */
  accountsOf(fireKey: string, entryKey: string, instantMs: number): Account[] {
    const missed = (this.missed.get(entryKey) ?? [])
      .filter(({ firstMs, lastMs }) => firstMs <= instantMs && instantMs <= lastMs)
      .map(({ atMs }): Account => ({ kind: 'missed', reason: 'missed', superseded: false, atMs }));
    return [...(this.accounts.get(fireKey) ?? []), ...missed];
  }

  /** Whether it was up when the fire was due: the instant is none before its start. */
  mustAccountFor(entryKey: string, instantMs: number): boolean {
    const firstMs = this.dueFrom[entryKey];
    return firstMs !== undefined && instantMs >= firstMs && this.reachedAtMs(instantMs) < (this.end?.atMs ?? Infinity);
  }

  /** When its own clock first showed the instant, by the host's clock. `Infinity`: not in its life. */
  reachedAtMs(instantMs: number): number {
    const steps = [{ fromMs: Number.NEGATIVE_INFINITY, offsetMs: 0 }, ...this.clock];
    for (const [i, { fromMs, offsetMs }] of steps.entries()) {
      const atMs = Math.max(fromMs, instantMs - offsetMs);
      if (atMs < (steps[i + 1]?.fromMs ?? Number.POSITIVE_INFINITY)) return atMs;
    }
    return Number.POSITIVE_INFINITY;
  }

  /** Whether it was killed so soon after a moment that it need not have come to its next act. Time in which it was stopped does not count. */
  diedWithin(limitMs: number, afterMs: number): boolean {
    return this.end?.how === 'killed' && this.end.atMs > afterMs && this.awakeMs(afterMs, this.end.atMs) <= limitMs;
  }

  /** Whether it was killed so shortly before a moment that what it had sent may have arrived then. */
  diedBefore(limitMs: number, untilMs: number): boolean {
    return this.end?.how === 'killed' && this.end.atMs <= untilMs && untilMs - this.end.atMs <= limitMs;
  }

  wasStoppedIn(fromMs: number, toMs: number): boolean {
    return this.stops.some((stop) => stop.fromMs <= toMs && (stop.toMs ?? Number.POSITIVE_INFINITY) >= fromMs);
  }

  private awakeMs(fromMs: number, toMs: number): number {
    const stoppedMs = this.stops.map((stop) =>
      Math.max(0, Math.min(toMs, stop.toMs ?? Number.POSITIVE_INFINITY) - Math.max(fromMs, stop.fromMs)),
    );
    return toMs - fromMs - stoppedMs.reduce((sum, ms) => sum + ms, 0);
  }
}

function listIn<T>(lists: Map<string, T[]>, key: string): T[] {
  const list = lists.get(key) ?? [];
  lists.set(key, list);
  return list;
}
