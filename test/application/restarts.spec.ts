import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import Database from 'libsql';
import {
  type CoordinationBackend,
  DistributedCron,
  type FireContext,
  MemoryBackend,
  MemoryStore,
} from 'nestjs-distributed-cron';
import { SqliteBackend } from 'nestjs-distributed-cron/sqlite';
import { VirtualClock } from 'nestjs-distributed-cron/testing';
import { started } from './application.fixture.js';

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A store, and a backend on it for each replica. Redis and PostgreSQL have a clock that no test moves: the chaos runs restart replicas on them. */
const STORES: readonly (readonly [string, (clock: VirtualClock) => () => CoordinationBackend])[] = [
  [
    'memory',
    (clock) => {
      const store = new MemoryStore({ clock });
      return () => new MemoryBackend({ store });
    },
  ],
  [
    'SQLite',
    (clock) => {
      const folder = mkdtempSync(join(tmpdir(), 'distributed-cron-restarts-'));
      folders.push(folder);
      return () => new SqliteBackend({ path: join(folder, 'cron.sqlite'), driver: Database, clock });
    },
  ],
];

describe.each(STORES)('a fleet on %s', (_, open) => {
  it('of four replicas that restart five times in ten seconds runs every instant once: before, during and after', async () => {
    const clock = new VirtualClock();
    const backend = open(clock);
    const ran: string[] = [];
    class Jobs {
      @DistributedCron('* * * * * *', { key: 'beat' })
      run({ fireKey }: FireContext) {
        ran.push(fireKey);
      }
    }
    const boot = () => started({ clock, options: { backend: backend() }, providers: [Jobs] });
    const four = () => Promise.all([boot(), boot(), boot(), boot()]);
    let fleet = await four();
    await clock.advance(3_000);
    for (let restart = 0; restart < 5; restart++) {
      await Promise.all(fleet.map(({ app }) => app.close()));
      fleet = await four();
      await clock.advance(2_000);
    }
    await clock.advance(3_000);
    expect(ran).toEqual(
      Array.from({ length: 16 }, (_, second) => `beat@2026-01-01T00:00:${String(second + 1).padStart(2, '0')}Z`),
    );
    await Promise.all(fleet.map(({ app }) => app.close()));
    expect(clock.pendingTimers).toBe(0);
  });

  it('runs no instant twice where a method takes five minutes of every one and the loop is blocked now and then', async () => {
    const clock = new VirtualClock();
    const backend = open(clock);
    const ran: string[] = [];
    class Jobs {
      @DistributedCron('* * * * *', { key: 'slow', missed: 'run-all' })
      run({ fireKey }: FireContext) {
        ran.push(fireKey);
        return new Promise<void>((resolve) => clock.setTimer(resolve, 300_000));
      }
    }
    const replicas = await Promise.all(
      [0, 1, 2].map(() =>
        started({ clock, options: { backend: backend(), retention: '2m', claimPatience: '10s' }, providers: [Jobs] }),
      ),
    );
    for (const blockedMs of [90_000, 150_000, 400_000]) {
      await clock.advance(120_000);
      // Longer than the store keeps its claims, in the end.
      await clock.suspend(blockedMs);
    }
    await clock.advance(60_000);
    expect(new Set(ran).size).toBe(ran.length);
    expect(ran.length).toBeGreaterThan(10);
    const closed = Promise.all(replicas.map(({ app }) => app.close()));
    await clock.advance(12_000);
    await closed;
  });
});
