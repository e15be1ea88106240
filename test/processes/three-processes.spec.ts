import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { ApplicationProcess } from './application-process.js';
import { DatabaseLedger } from './database-ledger.js';
import { fireKeyOf } from './fire-key.js';
import type { Begin } from './ledger-replica.js';
import { Life } from './life.js';
import { LineReader } from './line-file.js';
import type { ReplicaRecord } from './records.js';
import { type ClaimRow, judge, type Verdict } from './verdict.js';

jest.setTimeout(120_000);

const REPLICAS = ['1', '2', '3'];
const ENTRIES = 500;
const INSTANTS = 4;
const EVERY_MS = 2_000;
/** So many entries share each of their instants. */
const TOGETHER = 5;
/** All replicas must have armed their entries before the first instant. */
const AHEAD_MS = 2_500;
const LOOK_AGAIN_MS = 100;
const LONGEST_MS = 60_000;

interface Started {
  readonly type: 'started';
  readonly instanceId: string;
}
interface Armed {
  readonly type: 'armed';
  readonly atMs: number;
}
type FromReplica = Started | Armed;

describe('three processes on one SQLite file, 2,000 fires', () => {
  const folder = mkdtempSync(join(tmpdir(), 'nestjs-distributed-cron-'));
  const database = join(folder, 'claims.db');
  const logOf = (replica: string) => join(folder, `replica-${replica}.log`);
  const processes: ApplicationProcess<Begin, FromReplica>[] = [];
  let ledger: DatabaseLedger;
  let verdict: Verdict;

  beforeAll(async () => {
    const compiled = join(folder, 'compiled');
    const env = JSON.parse(
      execFileSync(process.execPath, ['test/processes/compile.mjs', compiled], { encoding: 'utf8' }),
    );
    ledger = new DatabaseLedger(database);
    for (const name of REPLICAS) {
      const script = join(compiled, 'test/processes/ledger-replica.js');
      const settings = { replica: name, database, log: logOf(name) };
      processes.push(
        new ApplicationProcess({ name, script, settings, env: { ...process.env, ...env, NODE_OPTIONS: '' } }),
      );
    }
    const started = await Promise.all(
      processes.map((replica) => replica.heard((message): message is Started => message.type === 'started')),
    );

    const beginMs = Date.now() + AHEAD_MS;
    const keys = Array.from({ length: ENTRIES }, (_, i) => `entry-${i}`);
    const turns = ENTRIES / TOGETHER;
    const firstMs = keys.map((_, i) => beginMs + Math.round((EVERY_MS / turns) * Math.floor(i / TOGETHER)));
    const armed = processes.map((replica) => replica.heard((message): message is Armed => message.type === 'armed'));
    for (const replica of processes) replica.tell({ keys, firstMs, everyMs: EVERY_MS, instants: INSTANTS });
    for (const { atMs } of await Promise.all(armed)) expect(atMs).toBeLessThan(beginMs);

    const fires = keys.flatMap((entryKey, i) =>
      Array.from({ length: INSTANTS }, (_, n) => {
        const instantMs = (firstMs[i] as number) + n * EVERY_MS;
        return { fireKey: fireKeyOf(entryKey, instantMs), entryKey, instantMs };
      }),
    );
    const dueFrom = Object.fromEntries(keys.map((key, i) => [key, firstMs[i] as number]));
    const readers = REPLICAS.map((name) => new LineReader<ReplicaRecord>(logOf(name)));
    const lives = REPLICAS.map((name, i) => {
      const life = new Life(name);
      life.hear({ kind: 'started', instanceId: (started[i] as Started).instanceId, atMs: beginMs, dueFrom });
      return life;
    });
    const look = (claims: readonly ClaimRow[]) => {
      for (const [i, reader] of readers.entries()) for (const record of reader.readNew()) lives[i]?.hear(record);
      const evidence = { fires, runs: ledger.runs(), claims, lives, retentionMs: 3_600_000, accountWithinMs: 0 };
      return judge(evidence);
    };
    // Every fire has come to its end when each is run or explained.
    const endsAtMs = Date.now() + LONGEST_MS;
    do {
      await new Promise((resolve) => setTimeout(resolve, LOOK_AGAIN_MS));
      verdict = look([]);
    } while (verdict.runs + sum(verdict.explained) < fires.length && Date.now() < endsAtMs);
    // A second run of a fire would come about now: let the processes end before the last count.
    expect(await Promise.all(processes.map((replica) => replica.end(20_000)))).toEqual([true, true, true]);
    verdict = look(ledger.claims(fireKeyOf));
    for (const reader of readers) reader.close();
  });

  afterAll(async () => {
    await Promise.all(processes.map((replica) => replica.kill()));
    ledger?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('no fire is run twice', () => {
    expect(verdict.fires).toBe(2_000);
    expect(verdict.duplicates).toEqual([]);
    expect(verdict.grantedTwice).toEqual([]);
  });

  it('every fire is run, unless every process says why not', () => {
    expect(verdict.unexplained).toEqual([]);
    expect(verdict.runs + sum(verdict.explained)).toBe(2_000);
    // On a machine that stands still for longer than a fire may wait for the store, some are refused; never many.
    expect(verdict.runs).toBeGreaterThan(1_500);
  });

  it('all three processes take part', () => {
    const took = new Set(ledger.runs().map(({ replica }) => replica));
    expect([...took].sort()).toEqual(REPLICAS);
  });
});

const sum = (counts: ReadonlyMap<string, number>) => [...counts.values()].reduce((total, count) => total + count, 0);
