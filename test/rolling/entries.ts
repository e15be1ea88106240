import type { DistributedCronEntryOptions } from 'nestjs-distributed-cron';
import { fireKeyOf } from '../processes/fire-key.js';
import type { ExpectedFire } from '../processes/verdict.js';

/** Of the application: a deploy replaces the old one by the new one. */
export const VERSIONS = ['old', 'new'] as const;
export type Version = (typeof VERSIONS)[number];

/** An entry, written once as options for the library and once as arithmetic for the judge, who must not ask the library what is due. */
export interface RollingEntry {
  readonly key: string;
  /** Its instants are the multiples since the epoch, whole minutes included. */
  readonly everyS: Readonly<Record<Version, number>>;
  /** How long its method takes. */
  readonly runMs: number;
  readonly options: Omit<DistributedCronEntryOptions, 'key'>;
}

/** No method takes longer: a drain has to outlast it. */
export const LONGEST_RUN_MS = 3_000;
const QUICK = 16;
const EACH_SECOND = { old: 1, new: 1 };

/**
 * No entry here need lose an instant in a deploy. That holds for `overlap: 'skip'` too: a method of two and a half seconds keeps three replicas busy, and the others take the next
 * instants. Where there are no idle ones, an instant that all reject does not run by the entry's own rule: also where claims take longer than the interval, since a fire that asks its claim counts.
 */
export function rollingEntries(): RollingEntry[] {
  const quick = Array.from({ length: QUICK }, (_, i) => ({
    key: `quick-${i}`,
    everyS: EACH_SECOND,
    runMs: i * 5,
    // The others meet on all replicas in one turn, and go to the store in one batch.
    options: i % 4 === 3 ? { jitter: 200 } : {},
  }));
  const spread = Array.from({ length: 4 }, (_, i) => ({
    key: `spread-${i}`,
    everyS: EACH_SECOND,
    runMs: 100,
    options: { placement: 'spread', takeoverAfter: 400 } as const,
  }));
  return [
    ...quick,
    ...spread,
    { key: 'long', everyS: EACH_SECOND, runMs: LONGEST_RUN_MS, options: { overlap: 'allow' } },
    { key: 'alone', everyS: EACH_SECOND, runMs: 2_500, options: { overlap: 'skip' } },
    {
      key: 'alone-spread',
      everyS: EACH_SECOND,
      runMs: 1_200,
      // Shorter than the interval: whoever waits for the home holds a slot, and would reject the next instant.
      options: { overlap: 'skip', placement: 'spread', takeoverAfter: 400 },
    },
    { key: 'queued', everyS: EACH_SECOND, runMs: 1_200, options: { overlap: 'queue' } },
    { key: 'recoverable', everyS: EACH_SECOND, runMs: 1_200, options: { recovery: 'rerun' } },
    { key: 'changed', everyS: { old: 2, new: 3 }, runMs: 300, options: {} },
  ];
}

export const expressionOf = ({ everyS }: RollingEntry, version: Version) => `*/${everyS[version]} * * * * *`;

/** A time in which replicas of a version are there. */
export interface Presence {
  readonly fromMs: number;
  readonly untilMs: number;
}

/** Every instant that some version has while it is there, each once. */
export function expectedFires(
  entries: readonly RollingEntry[],
  presence: Readonly<Record<Version, Presence>>,
): ExpectedFire[] {
  return entries.flatMap(({ key, everyS }) => {
    const instants = new Set(VERSIONS.flatMap((version) => multiples(everyS[version] * 1_000, presence[version])));
    return [...instants]
      .sort((a, b) => a - b)
      .map((instantMs) => ({ fireKey: fireKeyOf(key, instantMs), entryKey: key, instantMs }));
  });
}

/** After `fromMs`, and not after `untilMs`. */
function multiples(periodMs: number, { fromMs, untilMs }: Presence): number[] {
  const instants: number[] = [];
  for (let atMs = (Math.floor(fromMs / periodMs) + 1) * periodMs; atMs <= untilMs; atMs += periodMs)
    instants.push(atMs);
  return instants;
}
