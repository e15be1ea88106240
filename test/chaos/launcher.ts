import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { SeededRandom } from '../processes/random.js';
import { commandOf, UsageError } from '../processes/read-arguments.js';
import { list } from '../processes/report-list.js';
import { type Evidence, judge, silences } from '../processes/verdict.js';
import { type ChaosArguments, readArguments } from './arguments.js';
import { ClaimWatch } from './claim-watch.js';
import { ClockedFleet } from './clocked-fleet.js';
import { chaosEntries, expectedFires } from './entries.js';
import { CALM_END_MS, describeFault, kindsFor, planFaults } from './fault-plan.js';
import { Faults } from './faults.js';
import { accountWithinMs, profileFor } from './profile.js';
import { closingLine, neverInjected, type Report, reportLines } from './report.js';
import { startPostgresStore } from './stores/postgres-store.js';
import { startRedis } from './stores/redis-store.js';
import { startSqlite } from './stores/sqlite-store.js';
import type { ChaosStore } from './stores/store.js';

const LOOK_AGAIN_MS = 250;
const DRAIN_LIMIT_MS = 20_000;
/** Starts, settling and drain; on a busy machine the faults take longer too. */
const SPARE_S = 300;

/** What is under way, for whoever wonders what a run waits for. */
let stage = 'starts its store and replicas';
let faults: Faults | undefined;

function giveUp(): void {
  const open = [...(faults?.underWay ?? [])].map((fault) => `\n  ${describeFault(fault)}`).join('');
  console.error(`Not done ${SPARE_S} s after the time that was asked for: ${stage}.${open}`);
  process.exit(1);
}

async function chaos(given: ChaosArguments): Promise<boolean> {
  const profile = profileFor(given.seconds);
  const { faults: kinds, ...rest } = given;
  const planSettings = { ...rest, profile, ...(kinds === undefined ? {} : { kinds }) };
  const plan = planFaults(planSettings);
  console.log(`seed ${given.seed}: ${commandOf('test:chaos', given)}`);
  console.log(
    `retention ${profile.retentionMs} ms, claimPatience ${profile.claimPatienceMs} ms; ${plan.length} faults:`,
  );
  for (const fault of plan) console.log(`  ${describeFault(fault)}`);

  const folder = mkdtempSync(join(tmpdir(), 'nestjs-distributed-cron-chaos-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  const entries = chaosEntries(given.entries);
  let store: ChaosStore | undefined;
  let fleet: ClockedFleet | undefined;
  let watch: ClaimWatch | undefined;
  try {
    store = await startStore(given, folder);
    const { connectionOf } = store;
    fleet = new ClockedFleet(folder, (replica) => ({
      connection: connectionOf(replica),
      entries: given.entries,
      profile,
      ...(given.break === undefined ? {} : { break: given.break }),
    }));
    const replicas = Array.from({ length: given.replicas }, (_, i) => i + 1);
    await Promise.all(replicas.map((replica) => fleet!.start(replica)));
    watch = new ClaimWatch(store);
    watch.start();

    const beginMs = Date.now();
    console.log(`\n${given.replicas} replicas with ${given.entries} entries are up`);
    stage = 'waits for a fault to be healed';
    faults = new Faults(fleet, store, watch);
    await faults.run(plan, beginMs);
    // On a busy machine the faults take longer than planned. What comes after the last one is looked at all the same.
    const untilMs = Math.max(beginMs + given.seconds * 1_000, Date.now() + CALM_END_MS);
    stage = 'waits for the last fires';
    await wait(untilMs - Date.now());

    const fires = expectedFires(entries, beginMs, untilMs);
    const look = (): Evidence => {
      fleet!.read();
      return {
        fires,
        runs: fleet!.runs,
        claims: watch!.rows(),
        lives: fleet!.lives,
        retentionMs: profile.retentionMs,
        accountWithinMs: accountWithinMs(profile),
      };
    };
    // The last fires are still on their way. What is not explained by the time that a replica may take is not explained.
    const settledByMs = untilMs + accountWithinMs(profile);
    while (Date.now() < settledByMs && judge(look()).unexplained.length > 0) await wait(LOOK_AGAIN_MS);
    stage = 'drains';
    await watch.look();
    await fleet.drain(DRAIN_LIMIT_MS);

    const evidence = look();
    const report: Report = {
      store: given.store,
      verdict: judge(evidence),
      runs: evidence.runs,
      skips: fleet.skips(),
      faults: faults.injected,
      beginMs,
    };
    const lines = reportLines(report);
    const silent = silences(evidence);
    const absent = neverInjected(kindsFor(planSettings), faults.injected);
    list(lines, 'a replica that was up said nothing of a fire', silent, (line) => line);
    list(
      lines,
      'methods or schedules failed',
      fleet.lives.flatMap(({ failures }) => failures),
      (line) => line,
    );
    list(lines, 'processes ended by themselves, or did not when told to', fleet.deaths, (line) => line);
    list(lines, 'faults that were to be injected and never were', absent, (kind) => kind);
    console.log(`\n${lines.join('\n')}\n`);
    console.log(closingLine(report));
    const { duplicates, unexplained, grantedTwice } = report.verdict;
    return [duplicates, unexplained, grantedTwice, silent, absent, fleet.deaths].every(({ length }) => length === 0);
  } finally {
    await watch?.stop();
    await fleet?.killAll();
    await store?.stop();
  }
}

function startStore({ store, replicas, entries, seed }: ChaosArguments, folder: string): Promise<ChaosStore> {
  const random = new SeededRandom(seed + 1);
  const fraction = () => random.fraction();
  switch (store) {
    case 'sqlite':
      return Promise.resolve(startSqlite(folder));
    case 'redis':
      return startRedis(replicas, entries, fraction);
    case 'postgres':
      return startPostgresStore(replicas, fraction);
    default:
      return store satisfies never;
  }
}

async function main(): Promise<void> {
  process.on('disconnect', () => process.exit(1));
  let passed = false;
  try {
    const given = readArguments(process.argv.slice(2));
    setTimeout(giveUp, (given.seconds + SPARE_S) * 1_000);
    passed = await chaos(given);
  } catch (error) {
    console.error(error instanceof UsageError ? error.message : error);
  }
  // Whatever is still under way after a failure ends with this process.
  process.exit(passed ? 0 : 1);
}

void main();
