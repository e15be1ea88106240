import { randomInt } from 'node:crypto';

/**
 * How long random proofs run, and from which seed. `PROOF_RUNS` multiplies their usual number, which takes seconds; `PROOF_SEED` replays one.
 * The seed is printed in any case, since a failure on another machine is of no use without it.
 */
const times = Number(process.env.PROOF_RUNS ?? 1);
const seed = Number(process.env.PROOF_SEED ?? randomInt(2 ** 31));

process.stderr.write(`proof seed ${seed} (PROOF_SEED=${seed} replays it, PROOF_RUNS=10 runs ten times as many)\n`);

export function proof(usualRuns: number): { numRuns: number; seed: number } {
  return { numRuns: Math.max(1, Math.round(usualRuns * times)), seed };
}

/** Whether to leave no zone out. */
export const THOROUGH = times >= 10;

/** For a test whose length depends on PROOF_RUNS. */
export const PROOF_TIMEOUT_MS = 60_000 * Math.max(1, times);

/**
 * The zones of a proof: those with the oddest clocks always, and of all others a handful by the seed, since each zone costs its transitions.
 * From PROOF_RUNS=10 on, all.
 */
export function proofZones(): string[] {
  const all = Intl.supportedValuesOf('timeZone');
  if (THOROUGH) return all;
  const some = Array.from({ length: 8 }, (_, index) => all[(seed + index * 7919) % all.length]!);
  return [...ODD_ZONES, ...some];
}

const ODD_ZONES = [
  'UTC',
  'America/New_York',
  'Europe/Berlin',
  // Changes by half an hour; by two hours; by three; around Ramadan; a day skipped; a negative summer time; spans of a week.
  'Australia/Lord_Howe',
  'Antarctica/Troll',
  'Antarctica/Casey',
  'Africa/Casablanca',
  'Pacific/Apia',
  'Europe/Dublin',
  'America/Recife',
  'Asia/Gaza',
];
