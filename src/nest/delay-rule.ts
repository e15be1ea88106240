import { formatDuration } from '../domain/duration.js';
import type { ConfigurationFault } from '../domain/errors.js';
import { nextInstant } from '../engine/next-instant.js';
import type { Schedule } from '../schedule/schedule.js';
import type { RuledEntry } from './entry-rules.js';
import type { ResolvedOptions } from './resolve-options.js';

/** Instants looked at to find how close an entry's instants lie. */
const SAMPLED_INSTANTS = 16;
/** Claims of one entry may come out of order by fewer intervals than a store keeps of it. */
const LARGEST_DELAY_IN_INTERVALS = 200;
/** Where the sample starts. Any instant would do; a fixed one gives every replica the same answer. */
const SAMPLE_FROM_MS = Date.UTC(2026, 0, 1);

/** The store forgets claims by age and by number: a replica must not be made to ask for one that may be gone (DESIGN 6). */
export function delayFaults(
  { schedule, policies, claimer }: RuledEntry,
  module: ResolvedOptions,
  subject: string,
): ConfigurationFault[] {
  const spread = policies.placement === 'spread';
  const delayMs = policies.jitterMs + (spread ? policies.takeoverAfterMs : 0);
  // A claimer of the application's own keeps claims by its own rules.
  if (module.backend === undefined || claimer !== undefined || delayMs === 0) return [];
  const name = spread ? 'jitter + takeoverAfter' : 'jitter';
  const code = spread ? 'DELAY_TOO_LONG' : 'JITTER_TOO_LONG';
  const { claimPatienceMs, retentionMs } = module;
  const faults: ConfigurationFault[] = [];
  if (delayMs + claimPatienceMs >= retentionMs) {
    faults.push({
      code,
      subject,
      expected: `${name} + claimPatience below retention (${formatDuration(retentionMs)})`,
      got: `${formatDuration(delayMs)} + ${formatDuration(claimPatienceMs)}`,
      hint: `Shorten the ${name}, or raise retention.`,
    });
  }
  const intervalMs = shortestInterval(schedule);
  if (intervalMs !== undefined && delayMs >= LARGEST_DELAY_IN_INTERVALS * intervalMs) {
    faults.push({
      code,
      subject,
      expected: `${name} below ${LARGEST_DELAY_IN_INTERVALS} intervals of the entry (${formatDuration(LARGEST_DELAY_IN_INTERVALS * intervalMs)})`,
      got: formatDuration(delayMs),
      hint: `A ${name} that long mixes the fires of an entry; shorten it.`,
    });
  }
  return faults;
}

function shortestInterval(schedule: Schedule): number | undefined {
  let shortestMs: number | undefined;
  try {
    let atMs = nextInstant(schedule, SAMPLE_FROM_MS);
    for (let sampled = 0; atMs !== null && sampled < SAMPLED_INSTANTS; sampled++) {
      const nextMs = nextInstant(schedule, atMs);
      if (nextMs === null) break;
      if (shortestMs === undefined || nextMs - atMs < shortestMs) shortestMs = nextMs - atMs;
      atMs = nextMs;
    }
  } catch {
    // A schedule that fails is stopped by the engine when it is armed, with an event.
  }
  return shortestMs;
}
