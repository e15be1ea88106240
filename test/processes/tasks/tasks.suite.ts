import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { StoreName } from '../open-store.js';
import { EffectLedger } from './effect-ledger.js';
import { EARLY_TOLERANCE_MS, type EffectsVerdict, judgeEffects } from './judge-effects.js';
import { type Story, tellStory } from './story.js';
import { TaskFleet } from './task-fleet.js';
import { HANDOVER_MS, LEASE_TTL_MS, MEMBER_EXPIRY_MS, PERIOD_MS, REFRESH_MS, SLACK_MS } from './timing.js';

const PROCESSES = ['1', '2', '3', '4'];
/** A home that was killed or stopped in a run is followed when both its membership and its lease have expired, one refresh later, at the next ask. */
const TAKEOVER_MS = Math.max(MEMBER_EXPIRY_MS, LEASE_TTL_MS) + REFRESH_MS + PERIOD_MS;

/** `start` gives the place of a store that nobody else uses under this test's namespace. */
export function tasksInProcesses(
  store: StoreName,
  start: (folder: string) => Promise<{ readonly at: string; stop(): Promise<void> }>,
): void {
  jest.setTimeout(240_000);

  describe(`tasks in four processes on ${store}: the home is killed, then one is stopped, then one closes`, () => {
    const folder = mkdtempSync(join(tmpdir(), 'nestjs-distributed-cron-tasks-'));
    const fleet = new TaskFleet();
    let server: { readonly at: string; stop(): Promise<void> } | undefined;
    let story: Story;
    let verdict: EffectsVerdict;
    let ranParallel: Set<string>;

    beforeAll(async () => {
      const compiled = join(folder, 'compiled');
      const compile = ['test/processes/compile.mjs', compiled];
      const found = JSON.parse(execFileSync(process.execPath, compile, { encoding: 'utf8' }));
      const env = { ...process.env, ...found, NODE_OPTIONS: '' };
      server = await start(folder);
      const ledger = new EffectLedger(join(folder, 'ledger.db'));
      const namespace = `tasks-${randomUUID()}`;
      const place = { store, at: server.at };
      const beganMs = Date.now();
      for (const name of PROCESSES) {
        const settings = { name, namespace, place, ledger: join(folder, 'ledger.db') };
        fleet.start(settings, join(compiled, 'test/processes/tasks/task-replica.js'), env);
      }
      try {
        story = await tellStory(fleet);
      } finally {
        await fleet.end();
      }
      verdict = judgeEffects(ledger.effects());
      ranParallel = new Set(ledger.effects().flatMap(({ task, process }) => (task === 'parallel' ? [process] : [])));
      ledger.close();
      const { agreedAtMs, crash, stall, close } = story;
      console.info(
        `${store}: ${verdict.runs} runs of the singleton; all processes up in ${agreedAtMs - beganMs} ms, all done ${Date.now() - agreedAtMs} ms later; next run after a kill ${crash.next.atMs - crash.atMs} ms, after a stop ${stall.next.atMs - stall.atMs} ms, after a clean close ${close.next.atMs - close.last.atMs} ms of ${HANDOVER_MS} ms asked for, seen after ${close.seenAtMs - close.last.atMs} ms`,
      );
    });

    afterAll(async () => {
      await fleet.end();
      await server?.stop();
      rmSync(folder, { recursive: true, force: true });
    });

    it('the singleton runs one run after the other, under a new token each', () => {
      expect(verdict.overlaps).toEqual([]);
      expect(verdict.sharedTokens).toEqual([]);
      expect(verdict.runs).toBeGreaterThan(20);
    });

    it('nothing of an older run comes after the first effect of a newer one', () => {
      expect(verdict.late).toEqual([]);
    });

    it('no run begins before the one before had asked for', () => {
      expect(verdict.early).toEqual([]);
    });

    it('after its home was killed the task runs elsewhere, within member expiry and one refresh', () => {
      const { home, atMs, next } = story.crash;
      expect(next.process).not.toBe(home);
      expect(next.atMs - atMs).toBeLessThan(TAKEOVER_MS + SLACK_MS);
    });

    it('a home that stands still past its lease is followed by another', () => {
      const { home, token, atMs, next } = story.stall;
      expect(next.process).not.toBe(home);
      expect(next.token).toBeGreaterThan(token as number);
      expect(next.atMs - atMs).toBeLessThan(TAKEOVER_MS + SLACK_MS);
    });

    it('its signal is aborted when it wakes, and its late effect is the only one refused', () => {
      const { home, token, woke } = story.stall;
      expect(woke).toMatchObject({ abortedBy: 'TASK_LEASE_LOST', accepted: false });
      expect(verdict.refused).toMatchObject([{ process: home, token, phase: 'ended' }]);
      expect(verdict.refused).toHaveLength(1);
    });

    it('a home that closes hands the task over: it runs elsewhere when it was due, neither sooner nor much later', () => {
      const { home, byItself, last, next, seenAtMs } = story.close;
      expect(byItself).toBe(true);
      expect(next.process).not.toBe(home);
      // Else there was nobody who could have been early.
      expect(seenAtMs).toBeLessThan(last.atMs + HANDOVER_MS);
      expect(next.atMs - last.atMs).toBeGreaterThan(HANDOVER_MS - EARLY_TOLERANCE_MS);
      expect(next.atMs - last.atMs).toBeLessThan(HANDOVER_MS + SLACK_MS);
    });

    it('the parallel task runs in every process', () => {
      // That it went on in those that were left is what each step waited for.
      expect([...ranParallel].sort()).toEqual(PROCESSES);
    });
  });
}
