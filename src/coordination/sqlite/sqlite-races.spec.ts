import { readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { systemClock } from '../../ambient/clock.js';
import { systemRandom } from '../../ambient/random.js';
import { compileInto } from '../fixtures/compiled.js';
import { follow, request, SETTINGS, word } from '../fixtures/guarded.js';
import { ReplicaProcess } from '../fixtures/replica-process.js';
import { SQLITE_DRIVERS, temporaryFolder } from '../fixtures/stores.js';
import { GuardedBackend } from '../guarded-backend.js';
import { SqliteBackend } from './sqlite-backend.js';

const REPLICAS = 10;
const ROUNDS = 500;
/** Rounds that run at the same time, each with an entry of its own. */
const LANES = 5;

describe.each(SQLITE_DRIVERS)('ten processes on one SQLite file through $name', ({ name }) => {
  const folder = temporaryFolder();
  let replicas: ReplicaProcess[] = [];
  const all = (what: Parameters<ReplicaProcess['ask']>[0], how?: Record<string, unknown>) =>
    Promise.all(replicas.map((replica) => replica.ask(what, how)));

  beforeAll(async () => {
    compileInto(folder.path);
    replicas = Array.from({ length: REPLICAS }, () => new ReplicaProcess(folder.path, name));
    expect(await Promise.all(replicas.map(({ ready }) => ready))).toEqual(replicas.map(() => 'ready'));
  }, 60_000);

  afterAll(async () => {
    await Promise.all(replicas.map((replica) => replica.end()));
    folder.remove();
  });

  it('open a file that is not there yet at the same time', async () => {
    for (let round = 0; round < 5; round += 1) {
      expect(await all('open', { path: `${folder.path}/fresh-${round}.db` })).toEqual(replicas.map(() => undefined));
      expect(winners(await all('claim', { entryKey: 'first', atMs: 0 }))).toBe(1);
    }
  }, 60_000);

  it(`claim one fire at once, ${ROUNDS} rounds: one winner each, the others refused`, async () => {
    await all('open', { path: folder.file });
    for (let round = 0; round < ROUNDS; round += LANES) {
      const lanes = Array.from({ length: LANES }, (_, lane) =>
        all('claim', { entryKey: `report-${lane}`, atMs: round * 1_000 }),
      );
      for (const answers of await Promise.all(lanes)) expect(winners(answers)).toBe(1);
    }
  }, 120_000);

  it('count under one lease: no count is lost, and the tokens are as many as the holds', async () => {
    await all('open', { path: folder.file });
    const file = `${folder.path}/counter`;
    writeFileSync(file, '0');
    const tokens = (await all('count', { file, times: 3 })).flat() as number[];
    expect(readFileSync(file, 'utf8')).toBe(String(REPLICAS * 3));
    expect(tokens.sort((a, b) => a - b)).toEqual(tokens.map((_, i) => i + 1));
  }, 60_000);

  it('scan for lapsed claims at once: each is taken over by one of them, once', async () => {
    await all('open', { path: folder.file });
    const [first, ...others] = replicas as [ReplicaProcess, ...ReplicaProcess[]];
    for (let round = 0; round < 10; round += 1) {
      const left = { entryKey: 'left', atMs: round * 1_000, count: 40 };
      expect(await first.ask('leave', left)).toEqual(new Array(40).fill('granted'));
      const taken = (await Promise.all(others.map((replica) => replica.ask('take', left)))) as [number, number][][];
      const sorted = taken.flat().sort(([a], [b]) => a - b);
      expect(sorted).toEqual(Array.from({ length: 40 }, (_, i) => [round * 1_000 + i, 2]));
      // Taken over, they are not the others' to take: nor the first one's, while their time runs.
      expect(await all('take', left)).toEqual(replicas.map(() => []));
    }
  }, 120_000);

  it('claim fires of one entry at once, each to hold its overlap lease: one holds it', async () => {
    await all('open', { path: folder.file });
    for (let round = 0; round < 20; round += 1) {
      const entryKey = `guarded-${round}`;
      const asked = replicas.map((replica, i) =>
        replica.ask('claim', { entryKey, atMs: i, holds: { overlapTtlMs: 600_000 } }),
      );
      expect((await Promise.all(asked)).sort()).toEqual(['granted', ...new Array(REPLICAS - 1).fill('overlap')]);
    }
  }, 120_000);

  it('that join at once are all members', async () => {
    await all('open', { path: folder.file });
    await all('join');
    expect(await all('members')).toEqual(replicas.map(() => REPLICAS));
  }, 60_000);

  function winners(answers: readonly unknown[]): number {
    const granted = answers.filter((answer) => answer === 'granted').length;
    // No third word: busy was waited for, and nobody is told an error.
    expect(answers.filter((answer) => answer !== 'granted')).toEqual(new Array(REPLICAS - granted).fill('refused'));
    return granted;
  }
});

describe.each(SQLITE_DRIVERS)('while another connection holds the lock, through $name', ({ driver: Driver }) => {
  it('the event loop goes on, and the claim is granted once the lock is free', async () => {
    const folder = temporaryFolder();
    const ambient = { clock: systemClock, random: systemRandom };
    const guard = new GuardedBackend(new SqliteBackend({ path: folder.file, driver: Driver }), SETTINGS, ambient);
    const blocker = new Driver(folder.file, { timeout: 0 });
    try {
      await guard.open();
      blocker.exec('BEGIN IMMEDIATE');
      const claim = follow(guard.claim(request('report', { scheduledAt: new Date() })));
      // Turns are counted, not time: a call that waited for the lock would let none happen before its end.
      for (let turn = 0; turn < 100; turn += 1) {
        await new Promise<void>((next) => void systemClock.setTimer(next, 1));
        expect(claim.settled).toBe(false);
      }
      blocker.exec('COMMIT');
      while (!claim.settled) await new Promise<void>((next) => void systemClock.setTimer(next, 1));
      expect(word(claim.value as never)).toBe('granted');
    } finally {
      await guard.close();
      blocker.close();
      folder.remove();
    }
  }, 60_000);
});
