import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type DrainedReplica, Fleet, type ReplicaFiles } from '../processes/fleet.js';
import type { Life } from '../processes/life.js';
import { commandOf, UsageError } from '../processes/read-arguments.js';
import { startStore } from '../processes/start-store.js';
import type { ExpectedFire } from '../processes/verdict.js';
import { type RollingArguments, readArguments } from './arguments.js';
import { expectedFires, LONGEST_RUN_MS, type RollingEntry, rollingEntries, type Version } from './entries.js';
import { EDGE_MS, judgeRollout } from './judge-rollout.js';
import { closingLine, isFine, type RolloutReport, reportLines } from './report.js';
import { describeReplacement, planRollout, type Replacement, waitForPhaseMs } from './rollout-plan.js';
import type { PhasedRun } from './run-record.js';
import type { FromReplica, ReplicaSettings } from './settings.js';

const DRAIN_DEADLINE_MS = 2 * LONGEST_RUN_MS;
/** From SIGTERM to SIGKILL, what Kubernetes calls the grace period. */
const GRACE_MS = DRAIN_DEADLINE_MS + 4_000;
/** Of every other replica: at its SIGTERM just after a full second, claims of that second are on the way. */
const ANSWERS_LATE_BY_MS = 40;
/** Of all, where what comes then is to be dropped: so long that each drain has some of it. */
const DROPPED_LATE_BY_MS = 400;
/** Starts and drains on a busy machine. */
const SPARE_S = 180;

type RollingFleet = Fleet<Omit<ReplicaSettings, keyof ReplicaFiles>, never, FromReplica, PhasedRun>;

async function roll(given: RollingArguments): Promise<boolean> {
  const plan = planRollout(given);
  console.log(`seed ${given.seed}: ${commandOf('test:rolling', given)}`);
  for (const replacement of plan) console.log(`  ${describeReplacement(replacement)}`);

  const folder = mkdtempSync(join(tmpdir(), 'nestjs-distributed-cron-rolling-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  const store = await startStore(given.store, folder);
  const namespace = `rolling-${randomUUID()}`;
  const versionOf = (replica: number): Version => (replica <= given.replicas ? 'old' : 'new');
  const fleet: RollingFleet = new Fleet(folder, join(__dirname, 'replica.js'), (replica) => ({
    place: store.place,
    namespace,
    version: versionOf(replica),
    answersLateByMs: given.break === 'drop-claimed' ? DROPPED_LATE_BY_MS : (replica % 2) * ANSWERS_LATE_BY_MS,
    drainDeadlineMs: DRAIN_DEADLINE_MS,
    ...(given.break === undefined ? {} : { break: given.break }),
  }));
  try {
    await Promise.all(plan.map(({ old }) => fleet.start(old)));
    const beginMs = Date.now();
    console.log(`\n${given.replicas} replicas are up`);
    const drained = await Promise.all(await replaceAll(fleet, plan, beginMs));
    const oldUntilMs = Math.max(...fleet.lives.map(({ end }) => end?.atMs ?? 0)) - EDGE_MS;
    await wait(Math.max(0, beginMs + given.seconds * 1_000 - Date.now()));
    const untilMs = Date.now() - EDGE_MS;
    await fleet.drain(GRACE_MS);
    fleet.read();

    const oldLives = new Set(fleet.lives.slice(0, given.replicas));
    const newFromMs = Math.min(...fleet.lives.slice(given.replicas).map(({ startedAtMs }) => startedAtMs as number));
    const entries = rollingEntries();
    const presence = {
      old: { fromMs: beginMs, untilMs: oldUntilMs },
      new: { fromMs: newFromMs, untilMs },
    };
    const report: RolloutReport = {
      store: given.store,
      replaced: drained.filter(({ how }) => how === 'exit 0').length,
      verdict: judgeRollout({
        fires: expectedFires(entries, presence),
        runs: fleet.runs,
        lives: fleet.lives,
        concerns: concernsBy(entries, (life) => (oldLives.has(life) ? 'old' : 'new')),
      }),
      drainsMs: drained.map(({ tookMs }) => tookMs),
      skips: fleet.skips(),
      failures: fleet.lives.flatMap(({ failures }) => failures),
      deaths: fleet.deaths,
      beginMs,
    };
    console.log(`\n${reportLines(report).join('\n')}\n`);
    console.log(closingLine(report));
    return isFine(report, plan.length);
  } finally {
    await fleet.killAll();
    await store.stop();
  }
}

/** One replacement after the other; an old replica drains while the next is replaced. Answers the drains that are under way. */
async function replaceAll(
  fleet: RollingFleet,
  plan: readonly Replacement[],
  beginMs: number,
): Promise<Promise<DrainedReplica>[]> {
  const drains: Promise<DrainedReplica>[] = [];
  for (const { kind, old, new: next, atMs, phaseMs } of plan) {
    await wait(Math.max(0, beginMs + atMs - Date.now()));
    if (kind === 'surge') await fleet.start(next);
    await wait(waitForPhaseMs(phaseMs, Date.now()));
    drains.push(fleet.drainOne(old, GRACE_MS));
    if (kind === 'swap') await fleet.start(next);
  }
  return drains;
}

function concernsBy(entries: readonly RollingEntry[], versionOf: (life: Life) => Version) {
  const everyS = new Map(entries.map((entry) => [entry.key, entry.everyS]));
  return (life: Life, { entryKey, instantMs }: ExpectedFire) =>
    instantMs % ((everyS.get(entryKey)?.[versionOf(life)] as number) * 1_000) === 0;
}

async function main(): Promise<void> {
  process.on('disconnect', () => process.exit(1));
  let passed = false;
  try {
    const given = readArguments(process.argv.slice(2));
    setTimeout(
      () => {
        console.error(`Not done ${SPARE_S} s after the time that was asked for.`);
        process.exit(1);
      },
      (given.seconds + SPARE_S) * 1_000,
    );
    passed = await roll(given);
  } catch (error) {
    console.error(error instanceof UsageError ? error.message : error);
  }
  // Whatever is still under way after a failure ends with this process.
  process.exit(passed ? 0 : 1);
}

void main();
