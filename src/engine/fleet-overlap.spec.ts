import { describe, expect, it } from '@jest/globals';
import { MemoryBackend } from '../coordination/memory/memory-backend.js';
import { MemoryStore } from '../coordination/memory/memory-store.js';
import type { EntryPolicies } from '../domain/entry.js';
import type { FireContext } from '../fire/fire-context.js';
import { VirtualClock } from '../testing/virtual-clock.js';
import { mortal } from './mortal-backend.fixture.js';
import { definition, every, follow, MINUTE, replica, SECOND } from './replica.fixture.js';

const LEASE = 30 * SECOND;

interface Call {
  readonly fire: FireContext;
  readonly on: number;
  readonly end: (error?: unknown) => void;
}

/** Replicas on one store, with one entry that fires every minute and whose method runs until it is ended. */
function guarded(size: number, policies: Partial<EntryPolicies> = {}) {
  const clock = new VirtualClock();
  const store = new MemoryStore({ clock });
  const calls: Call[] = [];
  const runningNow = new Set<Call>();
  let most = 0;
  const replicas = Array.from({ length: size }, (_, on) => {
    const { life, backend } = mortal(new MemoryBackend({ store }));
    const made = replica({ id: `replica-${on}`, clock, backend });
    const run = (fire: FireContext) =>
      new Promise<void>((resolve, reject) => {
        const call: Call = {
          fire,
          on,
          end: (error) => {
            runningNow.delete(call);
            if (error === undefined) resolve();
            else reject(error);
          },
        };
        calls.push(call);
        runningNow.add(call);
        most = Math.max(most, runningNow.size);
      });
    made.scheduler.add(definition('job', every(MINUTE), { run, overlap: 'skip', overlapScope: 'fleet', ...policies }));
    made.scheduler.start();
    return { ...made, life };
  });
  return { clock, store, replicas, calls, most: () => most };
}

type Fleet = ReturnType<typeof guarded>;

const reasons = ({ replicas }: Fleet) =>
  replicas.map(({ ofType }) => [
    ...ofType('fire.rejected').map(({ reason }) => reason),
    ...ofType('fire.skipped').map(({ reason }) => reason),
  ]);
const otherThan = (fleet: Fleet, on: number) => fleet.replicas.findIndex((_, index) => index !== on);

describe("with overlap 'skip' over the fleet", () => {
  it('a run that lost its guard in the pause between two attempts, while the process was stopped, makes no further one', async () => {
    const retry = { attempts: 3, minMs: 5 * SECOND, maxMs: 5 * SECOND, factor: 1, jitter: 0 };
    const fleet = guarded(1, { retry });
    await fleet.clock.advance(MINUTE);
    fleet.calls[0]!.end(new Error('no'));
    await fleet.clock.settle();
    await fleet.clock.suspend(LEASE + SECOND);
    expect(fleet.calls).toHaveLength(1);
    expect(fleet.replicas[0]!.story().slice(-2)).toEqual(['retrying', 'failed']);
  });

  it('a guard whose grant is read after its life, since the process was stopped, lets nobody run', async () => {
    const clock = new VirtualClock();
    const { claimer, leases } = new MemoryBackend({ store: new MemoryStore({ clock }) });
    const acquire: typeof leases.acquire = async (request) => {
      const grant = await leases.acquire(request);
      await new Promise<void>((answer) => void clock.setTimer(answer, SECOND));
      return grant;
    };
    const slow = {
      acquire,
      renew: leases.renew.bind(leases),
      release: leases.release.bind(leases),
      read: leases.read.bind(leases),
    };
    const { scheduler, ofType } = replica({ clock, backend: { store: 'memory', claimer, leases: slow } });
    let runs = 0;
    const run = async () => {
      runs += 1;
    };
    scheduler.add(definition('job', every(24 * 60 * MINUTE), { run, overlap: 'skip', overlapScope: 'fleet' }));
    scheduler.start();
    const waited = follow(scheduler.triggerAndWait('job'));
    await clock.settle();
    await clock.suspend(LEASE + SECOND);
    expect(waited.reason).toMatchObject({ reason: 'overlap' });
    expect(runs).toBe(0);
    expect(ofType('fire.rejected')).toHaveLength(1);
  });

  it('the winner of the next fire is rejected while another replica runs the one before; the claim stays', async () => {
    const fleet = guarded(2);
    await fleet.clock.advance(MINUTE);
    expect(fleet.calls).toHaveLength(1);
    const { on } = fleet.calls[0]!;
    await fleet.clock.advance(MINUTE);
    expect(fleet.calls).toHaveLength(1);
    // The one that runs rejects by itself; the other has won the claim, and finds the guard held.
    expect(reasons(fleet)[on]).toEqual(['overlap']);
    expect(reasons(fleet)[otherThan(fleet, on)]).toEqual(['overlap', 'already-claimed']);
    fleet.calls[0]!.end();
    await fleet.clock.advance(SECOND);
    expect(fleet.calls).toHaveLength(1);
    await fleet.clock.advance(MINUTE);
    expect(fleet.calls).toHaveLength(2);
    expect(fleet.calls[1]!.fire.fencingToken).toBeGreaterThan(fleet.calls[0]!.fire.fencingToken!);
  });

  it('a guard that is renewed outlasts its lease by far', async () => {
    const fleet = guarded(3);
    await fleet.clock.advance(MINUTE + 30 * LEASE);
    expect(fleet.calls).toHaveLength(1);
    expect(fleet.calls[0]!.fire.signal.aborted).toBe(false);
  });

  it('the guard of a dead replica lapses, and the next fire runs', async () => {
    const fleet = guarded(2);
    await fleet.clock.advance(MINUTE);
    fleet.replicas[fleet.calls[0]!.on]!.life.reaches = false;
    await fleet.clock.advance(2 * MINUTE);
    expect(fleet.calls.map(({ fire }) => fire.fireKey)).toEqual([
      'job@2026-01-01T00:01:00Z',
      'job@2026-01-01T00:02:00Z',
    ]);
  });

  it('a run that was cut off from its store finds its signal aborted before another can begin', async () => {
    const fleet = guarded(2);
    await fleet.clock.advance(MINUTE);
    const { on, fire } = fleet.calls[0]!;
    fleet.replicas[on]!.life.reaches = false;
    await fleet.clock.advance(LEASE - SECOND);
    expect(fire.signal.reason).toMatchObject({ code: 'FIRE_LEASE_LOST', lease: 'overlap', reason: 'lapsed' });
    expect(fleet.replicas[on]!.ofType('fire.lease-lost')).toHaveLength(1);
  });

  it('a method that ran into its timeout keeps the guard until it returns', async () => {
    const fleet = guarded(2, { timeoutMs: 5 * SECOND });
    await fleet.clock.advance(5 * MINUTE + SECOND);
    expect(fleet.calls).toHaveLength(1);
    fleet.calls[0]!.end();
    await fleet.clock.advance(MINUTE);
    expect(fleet.calls).toHaveLength(2);
  });

  it('a manual fire holds the guard too, and is refused while it is held', async () => {
    const fleet = guarded(2);
    const [a, b] = fleet.replicas as [Fleet['replicas'][0], Fleet['replicas'][0]];
    const first = follow(a.scheduler.triggerAndWait('job'));
    await fleet.clock.settle();
    expect(fleet.calls).toHaveLength(1);
    const second = follow(b.scheduler.triggerAndWait('job'));
    await fleet.clock.settle();
    expect(second.reason).toMatchObject({ code: 'FIRE_REJECTED', reason: 'overlap' });
    await fleet.clock.advance(MINUTE);
    expect(fleet.calls).toHaveLength(1);
    fleet.calls[0]!.end();
    await fleet.clock.settle();
    expect(first.settled).toBe(true);
    await fleet.clock.advance(MINUTE);
    expect(fleet.calls).toHaveLength(2);
  });

  it('a manual fire that gets no answer for the guard does not run', async () => {
    const fleet = guarded(1);
    const [{ scheduler, life }] = fleet.replicas as [Fleet['replicas'][0]];
    life.reaches = false;
    const asked = follow(scheduler.triggerAndWait('job'));
    await fleet.clock.advance(6 * SECOND);
    expect(asked.reason).toMatchObject({ code: 'FIRE_REJECTED', reason: 'claim-error' });
    expect(fleet.calls).toEqual([]);
  });

  it('drain gives the guard back when the method has ended, and not before', async () => {
    const fleet = guarded(2);
    await fleet.clock.advance(MINUTE - 5 * SECOND);
    await fleet.clock.advance(5 * SECOND);
    const { on, end } = fleet.calls[0]!;
    const drained = follow(fleet.replicas[on]!.scheduler.drain());
    await fleet.clock.advance(5 * SECOND);
    const other = fleet.replicas[otherThan(fleet, on)]!;
    expect(follow(other.scheduler.triggerAndWait('job')).settled).toBe(false);
    await fleet.clock.settle();
    expect(fleet.calls).toHaveLength(1);
    end();
    await fleet.clock.settle();
    expect(drained.settled).toBe(true);
    other.scheduler.trigger('job');
    await fleet.clock.settle();
    expect(fleet.calls).toHaveLength(2);
  });
});

describe("with overlap 'queue' over the fleet", () => {
  it('one fire waits over the fleet and runs when the guard is free; those after it are rejected', async () => {
    const fleet = guarded(3, { overlap: 'queue' });
    await fleet.clock.advance(MINUTE);
    const { on } = fleet.calls[0]!;
    await fleet.clock.advance(2 * MINUTE);
    expect(fleet.calls).toHaveLength(1);
    fleet.calls[0]!.end();
    await fleet.clock.advance(2 * SECOND);
    expect(fleet.calls).toHaveLength(2);
    const second = fleet.calls[1]!;
    expect(second.on).not.toBe(on);
    expect(second.fire.fireKey).toBe('job@2026-01-01T00:02:00Z');
    second.end();
    await fleet.clock.advance(2 * SECOND);
    // The third fire was rejected on whatever replica reached it.
    expect(fleet.calls).toHaveLength(2);
    expect(fleet.most()).toBe(1);
    // Long after, everything still fires.
    await fleet.clock.advance(MINUTE);
    expect(fleet.calls.length).toBeGreaterThan(2);
  });

  it('a queued fire whose replica dies leaves its place to the next', async () => {
    const fleet = guarded(3, { overlap: 'queue' });
    await fleet.clock.advance(2 * MINUTE + SECOND);
    const { on } = fleet.calls[0]!;
    const waiting = fleet.replicas.find(({ ofType }, index) => index !== on && ofType('fire.skipped').length === 1)!;
    waiting.life.reaches = false;
    await fleet.clock.advance(MINUTE + 2 * SECOND);
    fleet.calls[0]!.end();
    await fleet.clock.advance(2 * SECOND);
    expect(fleet.calls.map(({ fire }) => fire.fireKey)).toContain('job@2026-01-01T00:03:00Z');
    expect(fleet.most()).toBe(1);
  });

  it('a queued fire ends with the drain deadline of its replica, and says so', async () => {
    const fleet = guarded(2, { overlap: 'queue' });
    await fleet.clock.advance(2 * MINUTE + SECOND);
    const other = fleet.replicas[otherThan(fleet, fleet.calls[0]!.on)]!;
    const drained = follow(other.scheduler.drain());
    await fleet.clock.advance(12 * SECOND);
    expect(drained.settled).toBe(true);
    expect(other.ofType('fire.failed')).toMatchObject([{ error: { code: 'DRAIN_DEADLINE' } }]);
  });
});

describe('with the guard and recovery together', () => {
  it('a recovered fire waits for what its dead winner held, and no two run at once', async () => {
    const fleet = guarded(3, { recovery: 'rerun' });
    await fleet.clock.advance(MINUTE);
    const { on, fire } = fleet.calls[0]!;
    expect(fire).toMatchObject({ attempt: 1 });
    fleet.replicas[on]!.life.reaches = false;
    fleet.calls[0]!.end();
    await fleet.clock.advance(LEASE + 10 * SECOND);
    const again = fleet.calls.filter(({ fire: { fireKey } }) => fireKey === fire.fireKey);
    expect(again.map(({ fire: { attempt } }) => attempt)).toEqual([1, 2]);
    expect(again[1]!.fire.fencingToken).toBeGreaterThan(fire.fencingToken!);
    expect(fleet.most()).toBe(1);
  });

  it('a recovered fire waits for a run that took the guard meanwhile', async () => {
    const fleet = guarded(3, { recovery: 'rerun' });
    await fleet.clock.advance(MINUTE);
    const { on, fire } = fleet.calls[0]!;
    fleet.replicas[on]!.life.reaches = false;
    fleet.calls[0]!.end();
    const other = fleet.replicas[otherThan(fleet, on)]!;
    // So it is the third that finds the fire.
    other.scheduler.pause('job');
    while (fleet.calls.length < 2) {
      other.scheduler.trigger('job');
      await fleet.clock.advance(100);
    }
    const manual = fleet.calls[1]!;
    expect(manual.fire.origin).toBe('manual');
    await fleet.clock.advance(3 * LEASE);
    expect(fleet.calls.filter(({ fire: { origin } }) => origin === 'recovery')).toEqual([]);
    manual.end();
    await fleet.clock.advance(SECOND);
    expect(fleet.calls[2]?.fire).toMatchObject({ fireKey: fire.fireKey, attempt: 2, origin: 'recovery' });
    expect(fleet.most()).toBe(1);
  });

  it('with a queue, the fire that waits is recovered when its replica dies', async () => {
    const fleet = guarded(3, { recovery: 'rerun', overlap: 'queue' });
    await fleet.clock.advance(2 * MINUTE + SECOND);
    const { on } = fleet.calls[0]!;
    const waiting = fleet.replicas.find(({ ofType }, index) => index !== on && ofType('fire.skipped').length === 1)!;
    waiting.life.reaches = false;
    await fleet.clock.advance(LEASE + 10 * SECOND);
    fleet.calls[0]!.end();
    await fleet.clock.advance(LEASE + 10 * SECOND);
    const second = fleet.calls.filter(({ fire }) => fire.fireKey === 'job@2026-01-01T00:02:00Z');
    expect(second.map(({ fire }) => fire.attempt)).toEqual([2]);
    expect(fleet.most()).toBe(1);
  });
});

describe("with overlap 'queue' over the fleet, and a store that is away for a moment", () => {
  it('the fire that waits for the guard asks on, and runs when it has it', async () => {
    const fleet = guarded(2, { overlap: 'queue' });
    await fleet.clock.advance(2 * MINUTE);
    expect(fleet.calls).toHaveLength(1);
    const waiting = fleet.replicas[otherThan(fleet, fleet.calls[0]!.on)]!;
    await fleet.clock.advance(SECOND);
    waiting.life.reaches = false;
    await fleet.clock.advance(6 * SECOND);
    waiting.life.reaches = true;
    await fleet.clock.advance(SECOND);
    fleet.calls[0]!.end();
    await fleet.clock.advance(10 * SECOND);
    expect(waiting.ofType('fire.skipped')).toMatchObject([{ reason: 'already-claimed' }]);
    expect(fleet.calls).toHaveLength(2);
    expect(fleet.most()).toBe(1);
  });

  it('a store that stays away ends the fire when the patience for claims has run out', async () => {
    const fleet = guarded(2, { overlap: 'queue' });
    await fleet.clock.advance(2 * MINUTE + SECOND);
    const waiting = fleet.replicas[otherThan(fleet, fleet.calls[0]!.on)]!;
    waiting.life.reaches = false;
    await fleet.clock.advance(MINUTE - 2 * SECOND);
    expect(waiting.ofType('fire.skipped').map(({ reason }) => reason)).toEqual(['already-claimed', 'claim-error']);
  });
});
