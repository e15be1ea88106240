import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { StoreName } from '../open-store.js';
import { startStore } from '../start-store.js';
import type { Act } from './messages.js';
import { RecoveryFleet } from './recovery-fleet.js';
import { type Pause, type Story, tellStory } from './story.js';
import { LEASE_TTL_MS, LONG_LEASE_TTL_MS, SCAN_MS, SLACK_MS, SLOW_MS } from './timing.js';

/** A lease that nobody renews lapses, and the next look finds the fire. */
const TAKEOVER_MS = LEASE_TTL_MS + SCAN_MS;

/** What real processes on a real store show of recovery, the pause of a fleet, and the guard against overlap over it. */
export function recoveryInProcesses(store: StoreName): void {
  jest.setTimeout(300_000);

  describe(`replicas on ${store} that are killed, stopped, drained and paused`, () => {
    const folder = mkdtempSync(join(tmpdir(), 'nestjs-distributed-cron-recovery-'));
    let server: Awaited<ReturnType<typeof startStore>> | undefined;
    let fleet: RecoveryFleet;
    let story: Story;

    beforeAll(async () => {
      const compiled = join(folder, 'compiled');
      const compile = ['test/processes/compile.mjs', compiled];
      const found = JSON.parse(execFileSync(process.execPath, compile, { encoding: 'utf8' }));
      server = await startStore(store, folder);
      fleet = new RecoveryFleet({
        script: join(compiled, 'test/processes/recovery/recovery-replica.js'),
        env: { ...process.env, ...found, NODE_OPTIONS: '' },
        namespace: `recovery-${randomUUID()}`,
        place: server.place,
      });
      const beganMs = Date.now();
      story = await tellStory(fleet);
      const { killed, stalled, drained, guard } = story;
      const took = ({ second, goneAtMs }: Story['killed']) => `${second.atMs - goneAtMs} ms`;
      console.info(
        `${store}: all in ${Date.now() - beganMs} ms; run again ${took(killed)} after a kill, ${took(stalled)} after a stop, ${took(drained)} after a drain had aborted it; the guarded entry ran ${guard.next.atMs - guard.killedAtMs} ms after its holder was killed`,
      );
    });

    afterAll(async () => {
      await fleet?.killAll();
      await server?.stop();
      rmSync(folder, { recursive: true, force: true });
    });

    const taken = ({ first, second }: Story['killed']) => {
      expect(second.replica).not.toBe(first.replica);
      expect(second.instantMs).toBe(first.instantMs);
      expect([first.attempt, second.attempt]).toEqual([1, 2]);
      expect(second.token).toBeGreaterThan(first.token as number);
      // Nobody else took it too.
      expect(fleet.actsOf(first.key, 'began')).toEqual([first, second]);
    };

    it('a fire whose replica was killed is run again by another, once, within one lease and one look', () => {
      taken(story.killed);
      const { second, goneAtMs } = story.killed;
      expect(second.atMs - goneAtMs).toBeLessThan(TAKEOVER_MS + SLACK_MS);
    });

    it('a fire whose replica stands still past its lease is run again by another', () => {
      taken(story.stalled);
    });

    it('the signal of a run that was taken over is aborted when its replica goes on', () => {
      const { woke, first } = story.stalled;
      expect(woke).toMatchObject({ replica: first.replica, attempt: 1, abortedBy: 'FIRE_LEASE_LOST' });
    });

    it('a run that a drain aborts is given back and run again at once, long before its lease would lapse', () => {
      taken(story.drained);
      const { second, goneAtMs } = story.drained;
      expect(second.atMs - goneAtMs).toBeLessThan(SCAN_MS + SLACK_MS);
      expect(SCAN_MS + SLACK_MS).toBeLessThan(LONG_LEASE_TTL_MS / 2);
    });

    it('a replica that drains with such a method ends by itself, with nothing left open', () => {
      expect(story.drained.byItself).toBe(true);
    });

    it('a run whose renewals arrive is not taken over, though it takes three leases', () => {
      const { began, ended } = story.slow;
      expect(ended.atMs - began.atMs).toBeGreaterThan(SLOW_MS - 100);
      expect(ended).toMatchObject({ attempt: 1, replica: began.replica });
      // Not later either: it was marked done.
      expect(fleet.actsOf('slow', 'began')).toEqual([began]);
    });

    it('a fire that kills every replica is abandoned after its attempts, and one replica says so', () => {
      const { instantMs } = story.doomed;
      expect(fleet.actsOf('doomed', 'began').map(({ attempt }) => attempt)).toEqual([1, 2]);
      expect(new Set(fleet.actsOf('doomed', 'began').map(({ replica }) => replica)).size).toBe(2);
      expect(fleet.wordsOf('doomed', 'abandoned')).toMatchObject([{ instantMs, count: 2 }]);
    });

    const within = ({ fromMs, untilMs }: Pause, { instantMs }: { readonly instantMs: number }) =>
      instantMs > fromMs && instantMs <= untilMs;
    const runsIn = (pause: Pause): Act[] => fleet.actsOf('paced', 'began').filter((act) => within(pause, act));

    it('an entry that one replica pauses over the fleet runs nowhere, also not on a replica that starts meanwhile', () => {
      expect(runsIn(story.plainPause)).toEqual([]);
      const words = fleet.wordsOf('paced', 'rejected').filter((word) => within(story.plainPause, word));
      expect([...new Set(words.map(({ replica }) => replica))].sort()).toEqual(['a', 'b', 'c']);
      expect(new Set(words.map(({ reason }) => reason))).toEqual(new Set(['paused']));
    });

    it('it goes on when another replica resumes it, and makes up for nothing', () => {
      const { resumedAtMs } = story.plainPause;
      expect(fleet.actsOf('paced', 'began').some(({ instantMs }) => instantMs > resumedAtMs)).toBe(true);
      const missed = fleet.wordsOf('paced', 'missed').filter(({ reason }) => reason === 'resume');
      expect(missed.every((word) => !within(story.plainPause, word))).toBe(true);
    });

    it('a resume that catches up applies the missed policy once over the fleet', () => {
      const { fromMs, resumedAtMs } = story.caughtUpPause;
      // An instant that comes while the resume is carried out may be the latest one.
      const made = fleet
        .actsOf('paced', 'began')
        .filter(({ instantMs }) => instantMs > fromMs && instantMs <= resumedAtMs);
      expect(made.length).toBeGreaterThanOrEqual(1);
      expect(runsIn(story.caughtUpPause).length).toBeLessThanOrEqual(1);
      const instants = fleet.actsOf('paced', 'began').map(({ instantMs }) => instantMs);
      expect(new Set(instants).size).toBe(instants.length);
      const missed = fleet.wordsOf('paced', 'missed').filter(({ reason }) => reason === 'resume');
      expect(missed).toHaveLength(1);
      expect(missed[0]?.count).toBeGreaterThanOrEqual(2);
    });

    it('an entry guarded over the fleet never runs two at a time, and those that would are told so', () => {
      const { holder } = story.guard;
      const runs = fleet.actsOf('guarded', 'began').map((began) => ({
        began,
        ended: fleet.actsOf('guarded', 'ended').find(({ instantMs }) => instantMs === began.instantMs),
      }));
      const order = [...runs].sort((a, b) => a.began.atMs - b.began.atMs);
      for (const [i, { began, ended }] of order.entries()) {
        const next = order[i + 1];
        // The one that was killed has no end; what came next is judged by its time.
        if (next === undefined || began === holder) continue;
        expect(next.began.atMs).toBeGreaterThanOrEqual(ended?.atMs as number);
      }
      expect(new Set(fleet.wordsOf('guarded', 'rejected').map(({ reason }) => reason))).toEqual(new Set(['overlap']));
    });

    it('a guard whose holder was killed is another replica’s within one lease', () => {
      const { holder, killedAtMs, next } = story.guard;
      expect(next.replica).not.toBe(holder.replica);
      expect(next.token).toBeGreaterThan(holder.token as number);
      // At the next instant after it has lapsed.
      expect(next.atMs - killedAtMs).toBeLessThan(LEASE_TTL_MS + 1_000 + SLACK_MS);
    });

    it('the replicas that are left end with code 0 when they are told to', () => {
      expect(story.endedAs).toEqual(['exit 0', 'exit 0', 'exit 0']);
    });
  });
}
