import { SeededRandom } from '../processes/random.js';
import type { Profile } from './profile.js';

export const STORES = ['sqlite', 'redis', 'postgres'] as const;
export type StoreName = (typeof STORES)[number];

/** In the order of the closing line. `pause` is a replica's. */
export const FAULT_KINDS = ['kill', 'pause', 'store-restart', 'store-pause', 'cut', 'delay', 'loss', 'skew'] as const;
export type FaultKind = (typeof FAULT_KINDS)[number];

/** A file has no server that could restart, and no path that could be cut or slow. */
const KINDS_OF: Readonly<Record<StoreName, readonly FaultKind[]>> = {
  sqlite: ['kill', 'pause', 'store-pause', 'skew'],
  redis: FAULT_KINDS,
  postgres: FAULT_KINDS,
};

export interface Fault {
  readonly kind: FaultKind;
  /** Milliseconds from the beginning. */
  readonly atMs: number;
  /** Until it is healed: the replica is started again, the store goes on, the clock is right. */
  readonly lastsMs: number;
  /** From 1; absent for a fault of the store. */
  readonly replica?: number;
  /** Of a skew. */
  readonly offsetMs?: number;
}

export interface PlanSettings {
  readonly store: StoreName;
  readonly seed: number;
  readonly seconds: number;
  readonly replicas: number;
  readonly profile: Profile;
  /** Only these. Default: all that the store can have. */
  readonly kinds?: readonly FaultKind[];
}

export function kindsFor({ store, kinds }: Pick<PlanSettings, 'store' | 'kinds'>): FaultKind[] {
  return KINDS_OF[store].filter((kind) => kinds?.includes(kind) ?? true);
}

const SKEW_MS = 300_000;
/** Everything is healed so long before the end: what comes after the last fault is looked at too. */
export const CALM_END_MS = 2_500;

type Draft = Omit<Fault, 'atMs'>;

/**
 * The same seed makes the same plan. Each replica has one fault at a time, the store too; what happens to different ones overlaps freely. Each kind comes early, then
 * they come as chance wants it.
 */
export function planFaults(settings: PlanSettings): Fault[] {
  const random = new SeededRandom(settings.seed);
  const kinds = kindsFor(settings);
  const endMs = settings.seconds * 1_000 - CALM_END_MS;
  return [...storeFaults(kinds, endMs, settings, random), ...replicaFaults(kinds, endMs, settings, random)].sort(
    (a, b) => a.atMs - b.atMs,
  );
}

function storeFaults(kinds: readonly FaultKind[], endMs: number, { profile }: PlanSettings, random: SeededRandom) {
  const mine = kinds.filter((kind) => kind === 'store-pause' || kind === 'store-restart');
  const faults: Fault[] = [];
  let atMs = random.between(1_500, 3_000);
  for (let round = 0; mine.length > 0; round += 1) {
    for (const kind of random.shuffled(mine)) {
      const lastsMs = kind === 'store-pause' ? profile.storePauseMs : random.between(500, 3_000);
      if (atMs + lastsMs > endMs) return faults;
      faults.push({ kind, atMs, lastsMs });
      atMs += lastsMs + (round === 0 ? random.between(2_000, 5_000) : random.between(10_000, 25_000));
    }
    atMs += random.between(5_000, 15_000);
  }
  return faults;
}

function replicaFaults(kinds: readonly FaultKind[], endMs: number, settings: PlanSettings, random: SeededRandom) {
  const mine = kinds.filter((kind) => kind !== 'store-pause' && kind !== 'store-restart');
  const faults: Fault[] = [];
  if (mine.length === 0) return faults;
  const lanes = Array.from({ length: settings.replicas }, (_, i) => ({
    replica: i + 1,
    freeAtMs: random.between(1_000, 2_000),
  }));
  // What lasts longest must begin first to have an end: so each form fits into twenty seconds.
  const due = mine.flatMap((kind) => eachForm(kind, settings.profile, random)).sort((a, b) => b.lastsMs - a.lastsMs);
  for (;;) {
    const lane = lanes.sort((a, b) => a.freeAtMs - b.freeAtMs)[0];
    if (lane === undefined || lane.freeAtMs >= endMs) return faults;
    const wanted = due.shift();
    const draft = wanted ?? random.oneOf(eachForm(random.oneOf(mine), settings.profile, random));
    const { replica, freeAtMs: atMs } = lane;
    if (atMs + draft.lastsMs <= endMs) {
      faults.push({ ...draft, atMs, replica });
      lane.freeAtMs += draft.lastsMs + (wanted ? random.between(1_500, 2_500) : random.between(1_500, 6_000));
    } else {
      // Another kind may still fit.
      lane.freeAtMs += 500;
    }
  }
}

/** A kind in each form that must be seen. */
function eachForm(kind: FaultKind, profile: Profile, random: SeededRandom): Draft[] {
  switch (kind) {
    case 'kill':
      return [{ kind, lastsMs: random.between(300, 4_000) }];
    case 'pause':
      return [
        { kind, lastsMs: random.between(...profile.longStopMs) },
        { kind, lastsMs: random.between(1_000, 5_000) },
      ];
    case 'cut':
      return [{ kind, lastsMs: random.between(200, 3_000) }];
    case 'delay':
    case 'loss':
      return [{ kind, lastsMs: random.between(3_000, 7_000) }];
    case 'skew':
      return [-SKEW_MS, SKEW_MS].map((offsetMs) => ({ kind, lastsMs: random.between(4_000, 9_000), offsetMs }));
    default:
      return [];
  }
}

export function countByKind(faults: readonly Pick<Fault, 'kind'>[]): Map<FaultKind, number> {
  const counts = new Map<FaultKind, number>();
  for (const { kind } of faults) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return counts;
}

export function describeFault({ kind, atMs, lastsMs, replica, offsetMs }: Fault): string {
  const whom = replica === undefined ? 'store' : `replica ${replica}`;
  const what = offsetMs === undefined ? kind : `${kind} ${offsetMs > 0 ? '+' : '-'}${Math.abs(offsetMs) / 60_000} min`;
  return `${(atMs / 1_000).toFixed(1).padStart(6)} s  ${whom.padEnd(9)}  ${what.padEnd(13)}  for ${(lastsMs / 1_000).toFixed(1)} s`;
}
