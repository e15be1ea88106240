import { describe, expect, it } from '@jest/globals';
import type { Claimer } from '../coordination/claimer.js';
import type { Elector } from '../coordination/elector.js';
import { MemoryBackend } from '../coordination/memory/memory-backend.js';
import type { MemoryClaimer } from '../coordination/memory/memory-claimer.js';
import { MemoryStore } from '../coordination/memory/memory-store.js';
import type { RecoveryStore } from '../coordination/recovery-store.js';
import type { EntryPolicies } from '../domain/entry.js';
import { FireRejectedError } from '../domain/errors.js';
import { currentFire, type FireContext } from '../fire/fire-context.js';
import type { Schedule } from '../schedule/schedule.js';
import { VirtualClock } from '../testing/virtual-clock.js';
import { mortal } from './mortal-backend.fixture.js';
import { at, definition, every, follow, MINUTE, replica, SECOND } from './replica.fixture.js';

const LEASE = 30 * SECOND;
const LOOK = 5 * SECOND;
const FIRST = new Date('2026-01-01T00:01:00Z');

/** Replicas that can die, on one store, with one recoverable entry that fires once. */
function recovering(size: number, policies: Partial<EntryPolicies> = {}, schedule: Schedule = at(FIRST.getTime())) {
  const clock = new VirtualClock();
  const store = new MemoryStore({ clock });
  const calls: { readonly fire: FireContext; readonly on: number; readonly end: (error?: unknown) => void }[] = [];
  const replicas = Array.from({ length: size }, (_, on) => {
    const { life, backend } = mortal(new MemoryBackend({ store }));
    const made = replica({ id: `replica-${on}`, clock, backend });
    const run = (fire: FireContext) =>
      new Promise<void>((resolve, reject) => {
        calls.push({ fire, on, end: (error) => (error === undefined ? resolve() : reject(error)) });
      });
    made.scheduler.add(definition('job', schedule, { run, recovery: 'rerun', ...policies }));
    made.scheduler.start();
    return { ...made, life };
  });
  const others = (on: number) => replicas.filter((_, index) => index !== on);
  return { clock, store, replicas, calls, others };
}

type Recovering = ReturnType<typeof recovering>;

/** Advances until the method was called so often. Answers how long that took. */
async function untilCalled({ clock, calls }: Recovering, times: number, withinMs: number): Promise<number> {
  const from = clock.now();
  while (calls.length < times) {
    if (clock.now() - from > withinMs) throw new Error(`called ${calls.length} times within ${withinMs} ms`);
    await clock.advance(100);
  }
  return clock.now() - from;
}

/** A replica whose looks bring their answer only when they are let, and may then find that the store is gone; and a dead one, which leaves a fire behind. */
function heldLooks(elector?: Elector) {
  const clock = new VirtualClock();
  const store = new MemoryStore({ clock });
  const runs: string[] = [];
  const dead = mortal(new MemoryBackend({ store }));
  const first = replica({ id: 'dead', clock, backend: dead.backend });
  first.scheduler.add(
    definition('job', at(FIRST.getTime()), { run: () => new Promise(() => undefined), recovery: 'rerun' }),
  );
  first.scheduler.start();
  const looks: (() => void)[] = [];
  const memory = new MemoryBackend({ store });
  const takeLapsed: RecoveryStore['takeLapsed'] = async (request) => {
    const taken = await memory.recovery.takeLapsed(request);
    if (taken.length > 0) await new Promise<void>((answer) => void looks.push(answer));
    return taken;
  };
  const { renew, finish, release } = memory.recovery;
  const recovery = {
    renew: renew.bind(memory.recovery),
    finish: finish.bind(memory.recovery),
    release: release.bind(memory.recovery),
    takeLapsed,
  };
  const { life, backend } = mortal({ store: 'memory', claimer: memory.claimer, leases: memory.leases, recovery });
  const other = replica({ id: 'other', clock, backend, ...(elector && { elector }) });
  const untilLooking = async () => {
    other.scheduler.add(
      definition('job', at(FIRST.getTime()), { run: () => void runs.push('other'), recovery: 'rerun' }),
    );
    other.scheduler.start();
    dead.life.reaches = false;
    for (let turns = 0; looks.length === 0 && turns < 1_000; turns += 1) await clock.advance(100);
    expect(looks).toHaveLength(1);
  };
  return { clock, store, other, life, looks, runs, dead, first, untilLooking };
}

describe("with recovery 'rerun'", () => {
  it('a fire that a look brings for an entry that was removed meanwhile is left to another replica', async () => {
    const { clock, other, looks, runs, untilLooking } = heldLooks();
    await clock.advance(MINUTE);
    await untilLooking();
    other.scheduler.remove('job');
    looks[0]!();
    await clock.advance(SECOND);
    expect(runs).toEqual([]);
    expect(other.ofType('fire.canceled')).toMatchObject([{ reason: 'removed', fire: { origin: 'recovery' } }]);
  });

  it('a drain ends in time although its last look brings a fire that the store, gone by then, does not take back', async () => {
    const { clock, other, looks, life, untilLooking } = heldLooks();
    await clock.advance(MINUTE);
    await untilLooking();
    const drained = follow(other.scheduler.drain());
    await clock.advance(SECOND);
    life.reaches = false;
    looks[0]!();
    // The deadline, the grace, and one call that is not answered.
    await clock.advance(10 * SECOND + SECOND + 2 * 5 * SECOND);
    expect(drained.settled).toBe(true);
    expect(clock.pendingTimers).toBeLessThanOrEqual(2);
  });

  it('a drain waits for one answer of an elector at most, however many entries a look asks it about', async () => {
    const elector: Elector = { isLeader: () => new Promise(() => undefined) };
    const clock = new VirtualClock();
    const { scheduler } = replica({
      clock,
      elector,
      backend: new MemoryBackend({ store: new MemoryStore({ clock }) }),
    });
    for (let index = 0; index < 50; index += 1)
      scheduler.add(definition(`job-${index}`, at('2027-01-01T00:00:00Z'), { recovery: 'rerun' }));
    scheduler.start();
    await clock.advance(LOOK);
    const drained = follow(scheduler.drain());
    await clock.advance(LOOK + SECOND);
    expect(drained.settled).toBe(true);
    expect(clock.pendingTimers).toBe(0);
  });

  it('a fire whose claim was on its way when its entry was given another claimer is marked done where it was claimed', async () => {
    const clock = new VirtualClock();
    const store = new MemoryStore({ clock });
    const memory = new MemoryBackend({ store });
    let answer: (() => void) | undefined;
    const claimMany: MemoryClaimer['claimMany'] = async (claims) => {
      const answers = await memory.claimer.claimMany(claims);
      await new Promise<void>((resolve) => {
        answer = resolve;
      });
      return answers;
    };
    const claimer: Claimer = {
      repeatable: true,
      holding: true,
      claim: (fireKey, context) => memory.claimer.claim(fireKey, context),
      claimMany,
    };
    const { leases, recovery } = memory;
    const runs: FireContext[] = [];
    const ends: (() => void)[] = [];
    const run = (fire: FireContext) => {
      runs.push(fire);
      return new Promise<void>((end) => void ends.push(end));
    };
    const [first, other] = [
      replica({ id: 'first', clock, backend: { store: 'memory', claimer, leases, recovery } }),
      replica({ id: 'other', clock, backend: new MemoryBackend({ store }) }),
    ] as const;
    first.scheduler.add(definition('job', at(FIRST.getTime()), { run, recovery: 'rerun' }));
    first.scheduler.start();
    await clock.advance(MINUTE);
    other.scheduler.add(definition('job', at(FIRST.getTime()), { run, recovery: 'rerun' }));
    other.scheduler.start();
    first.scheduler.update('job', { claimer: null });
    answer!();
    await clock.advance(2 * LEASE);
    expect(runs).toHaveLength(1);
    expect(runs[0]!.signal.aborted).toBe(false);
    ends[0]!();
    await clock.advance(3 * LEASE);
    expect(runs).toHaveLength(1);
  });

  it("a dead winner's fire is run by another replica within one lease and one look, as attempt 2 with a higher fencing token", async () => {
    const fleet = recovering(3);
    await fleet.clock.advance(MINUTE);
    expect(fleet.calls).toHaveLength(1);
    const winner = fleet.calls[0]!;
    expect(winner.fire).toMatchObject({ attempt: 1, fencingToken: 1, origin: 'schedule' });
    fleet.replicas[winner.on]!.life.reaches = false;

    const tookMs = await untilCalled(fleet, 2, LEASE + LOOK + SECOND);

    expect(tookMs).toBeGreaterThan(LEASE / 2);
    const second = fleet.calls[1]!;
    expect(second.on).not.toBe(winner.on);
    expect(second.fire).toMatchObject({ attempt: 2, origin: 'recovery', scheduledAt: FIRST });
    expect(second.fire.fireKey).toBe(winner.fire.fireKey);
    expect(second.fire.fencingToken).toBeGreaterThan(winner.fire.fencingToken!);
    second.end();
    await fleet.clock.advance(3 * LEASE);
    expect(fleet.calls).toHaveLength(2);
    expect(fleet.replicas[second.on]!.story().slice(-2)).toEqual(['started', 'completed']);
  });

  it('a winner whose renewals arrive is never taken over, however slow it is', async () => {
    const fleet = recovering(3);
    await fleet.clock.advance(MINUTE + 20 * LEASE);
    expect(fleet.calls).toHaveLength(1);
    fleet.calls[0]!.end();
    await fleet.clock.advance(3 * LEASE);
    expect(fleet.calls).toHaveLength(1);
  });

  it('a winner that was cut off past its lease is told when it is back: another has its fire', async () => {
    const fleet = recovering(2);
    await fleet.clock.advance(MINUTE);
    const winner = fleet.calls[0]!;
    const stalled = fleet.replicas[winner.on]!;
    stalled.life.reaches = false;
    await untilCalled(fleet, 2, LEASE + LOOK + SECOND);
    expect(winner.fire.signal.aborted).toBe(false);

    stalled.life.reaches = true;
    await fleet.clock.advance(LEASE);

    expect(winner.fire.signal.reason).toMatchObject({ code: 'FIRE_LEASE_LOST', lease: 'recovery', reason: 'taken' });
    expect(stalled.ofType('fire.lease-lost')).toMatchObject([{ lease: 'recovery', reason: 'taken' }]);
    // What the first attempt still does marks nothing done.
    winner.end();
    await fleet.clock.advance(5 * LEASE);
    expect(fleet.calls).toHaveLength(2);
  });

  it('a winner that was cut off for less than its lease keeps its fire', async () => {
    const fleet = recovering(2);
    await fleet.clock.advance(MINUTE);
    const { on, fire, end } = fleet.calls[0]!;
    fleet.replicas[on]!.life.reaches = false;
    await fleet.clock.advance(LEASE / 2);
    fleet.replicas[on]!.life.reaches = true;
    await fleet.clock.advance(10 * LEASE);
    expect(fleet.calls).toHaveLength(1);
    expect(fire.signal.aborted).toBe(false);
    end();
  });

  it('a thrown error ends the fire: nobody runs it again', async () => {
    const fleet = recovering(2);
    await fleet.clock.advance(MINUTE);
    fleet.calls[0]!.end(new Error('no'));
    await fleet.clock.advance(5 * LEASE);
    expect(fleet.calls).toHaveLength(1);
  });

  it('an attempt aborted by a drain is released and taken by the next look', async () => {
    const fleet = recovering(2);
    await fleet.clock.advance(MINUTE);
    const { on, fire, end } = fleet.calls[0]!;
    fire.signal.addEventListener('abort', () => end(fire.signal.reason));
    const stopped = follow(fleet.replicas[on]!.scheduler.stop());
    await fleet.clock.advance(LOOK);
    expect(stopped.settled).toBe(true);
    expect(fleet.calls.map(({ fire: { attempt, origin } }) => [attempt, origin])).toEqual([
      [1, 'schedule'],
      [2, 'recovery'],
    ]);
  });

  it('a drain in the pause between two retries leaves what is left of the attempts to another replica', async () => {
    const retry = { attempts: 3, minMs: MINUTE, maxMs: MINUTE, factor: 1, jitter: 0 };
    const fleet = recovering(2, { retry });
    await fleet.clock.advance(MINUTE);
    const { on, end } = fleet.calls[0]!;
    end(new Error('no'));
    await fleet.clock.advance(SECOND);
    const drained = follow(fleet.replicas[on]!.scheduler.drain());
    await fleet.clock.advance(LOOK);
    expect(drained.settled).toBe(true);
    expect(fleet.calls.map(({ fire: { attempt } }) => attempt)).toEqual([1, 2]);
    expect(fleet.calls[1]!.on).not.toBe(on);
  });

  it('a drained attempt that came to its end all the same is done', async () => {
    const fleet = recovering(2);
    await fleet.clock.advance(MINUTE);
    const { on, fire, end } = fleet.calls[0]!;
    fire.signal.addEventListener('abort', () => end());
    const stopped = follow(fleet.replicas[on]!.scheduler.stop());
    await fleet.clock.advance(5 * LEASE);
    expect(stopped.settled).toBe(true);
    expect(fleet.calls).toHaveLength(1);
  });

  it('a fire whose replicas all die is abandoned after recoveryAttempts, and told once', async () => {
    const fleet = recovering(4, { recoveryAttempts: 3 });
    await fleet.clock.advance(MINUTE);
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      const { on, fire } = fleet.calls[attempt - 1]!;
      expect(fire.attempt).toBe(attempt);
      fleet.replicas[on]!.life.reaches = false;
      if (attempt < 3) await untilCalled(fleet, attempt + 1, LEASE + LOOK + SECOND);
    }
    await fleet.clock.advance(5 * LEASE);
    expect(fleet.calls).toHaveLength(3);
    const told = fleet.replicas.flatMap(({ ofType }) => ofType('fire.abandoned'));
    expect(told).toMatchObject([{ attempts: 3, fire: { entryKey: 'job', scheduledAt: FIRST } }]);
  });

  it('a method that ran into its timeout keeps its fire until it returns', async () => {
    const fleet = recovering(2, { timeoutMs: 5 * SECOND });
    await fleet.clock.advance(MINUTE + 5 * LEASE);
    const { on, end } = fleet.calls[0]!;
    expect(fleet.replicas[on]!.story().slice(-2)).toEqual(['started', 'failed']);
    expect(fleet.calls).toHaveLength(1);
    end();
    await fleet.clock.advance(5 * LEASE);
    expect(fleet.calls).toHaveLength(1);
    expect(fleet.replicas[on]!.story().at(-1)).toBe('returned-late');
  });

  it('a method that ran into its timeout, and returns while a drain ends, is not run again: its fire was told failed before', async () => {
    const fleet = recovering(2, { timeoutMs: 5 * SECOND });
    await fleet.clock.advance(MINUTE + 6 * SECOND);
    const { on, end } = fleet.calls[0]!;
    expect(fleet.replicas[on]!.story().at(-1)).toBe('failed');
    const stopped = follow(fleet.replicas[on]!.scheduler.stop());
    await fleet.clock.advance(SECOND / 2);
    end();
    await fleet.clock.advance(5 * LEASE);
    expect(stopped.settled).toBe(true);
    expect(fleet.calls).toHaveLength(1);
  });

  it('a guard of the application that turns away a fire which is run again ends it, as it would have at first', async () => {
    const fleet = recovering(3);
    await fleet.clock.advance(MINUTE);
    fleet.replicas[fleet.calls[0]!.on]!.life.reaches = false;
    await untilCalled(fleet, 2, LEASE + LOOK + SECOND);
    const { on, fire, end } = fleet.calls[1]!;
    end(new FireRejectedError('job', fire.fireKey, 'guard'));
    await fleet.clock.advance(3 * LEASE);
    expect(fleet.replicas[on]!.ofType('fire.rejected').at(-1)).toMatchObject({ reason: 'guard' });
    expect(fleet.calls).toHaveLength(2);
  });

  it('a fire that was told failed at its timeout stays so when a drain no longer waits for its method', async () => {
    const fleet = recovering(2, { timeoutMs: 5 * SECOND });
    await fleet.clock.advance(MINUTE + 10 * SECOND);
    const drained = follow(fleet.replicas[fleet.calls[0]!.on]!.scheduler.drain());
    await fleet.clock.advance(5 * LEASE);
    expect(drained.settled).toBe(true);
    expect(fleet.calls).toHaveLength(1);
  });

  it('a store that is away when the method ends is told when it is back, before anybody runs the fire again', async () => {
    const fleet = recovering(2);
    await fleet.clock.advance(MINUTE);
    for (const { life } of fleet.replicas) life.reaches = false;
    fleet.calls[0]!.end();
    await fleet.clock.advance(LEASE / 2);
    for (const { life } of fleet.replicas) life.reaches = true;
    await fleet.clock.advance(5 * LEASE);
    expect(fleet.calls).toHaveLength(1);
  });

  it('a recovered fire sees itself in currentFire()', async () => {
    const seen: (number | undefined)[] = [];
    const clock = new VirtualClock();
    const store = new MemoryStore({ clock });
    const replicas = [0, 1].map((index) => {
      const { life, backend } = mortal(new MemoryBackend({ store }));
      const made = replica({ id: `replica-${index}`, clock, backend });
      const run = () => {
        seen.push(currentFire()?.attempt);
        return new Promise(() => undefined);
      };
      made.scheduler.add(definition('job', at(FIRST.getTime()), { run, recovery: 'rerun' }));
      made.scheduler.start();
      return { ...made, life };
    });
    await clock.advance(MINUTE);
    for (const { life, ofType } of replicas) if (ofType('fire.started').length > 0) life.reaches = false;
    await clock.advance(LEASE + LOOK);
    expect(seen).toEqual([1, 2]);
  });

  it('a replica on which the entry is paused leaves the fire to another', async () => {
    const fleet = recovering(3);
    await fleet.clock.advance(MINUTE);
    const winner = fleet.calls[0]!;
    const [paused, free] = fleet.others(winner.on) as [Recovering['replicas'][0], Recovering['replicas'][0]];
    paused.scheduler.pause('job');
    fleet.replicas[winner.on]!.life.reaches = false;
    await untilCalled(fleet, 2, LEASE + 2 * LOOK);
    expect(fleet.replicas[fleet.calls[1]!.on]).toBe(free);
    expect(fleet.calls[1]!.fire.attempt).toBe(2);
    expect(paused.ofType('fire.rejected')).toEqual([]);
  });

  it('a look that fails is told once, and looks go on', async () => {
    const fleet = recovering(2);
    for (const { life } of fleet.replicas) life.reaches = false;
    await fleet.clock.advance(MINUTE);
    for (const { ofType } of fleet.replicas) expect(ofType('recovery.unreachable')).toHaveLength(1);
    for (const { life } of fleet.replicas) life.reaches = true;
    await fleet.clock.advance(10 * LOOK);
    for (const { life } of fleet.replicas) life.reaches = false;
    await fleet.clock.advance(10 * LOOK);
    for (const { ofType } of fleet.replicas) expect(ofType('recovery.unreachable')).toHaveLength(2);
  });

  it('nothing is looked for where no entry asks for it', async () => {
    const clock = new VirtualClock();
    const backend = new MemoryBackend({ store: new MemoryStore({ clock }) });
    let looks = 0;
    const recovery = new Proxy(backend.recovery, {
      get: (target, name) => {
        if (name === 'takeLapsed') looks += 1;
        return Reflect.get(target, name, target);
      },
    });
    const { scheduler } = replica({ clock, backend: { store: 'memory', claimer: backend.claimer, recovery } });
    scheduler.add(definition('plain', every(MINUTE)));
    scheduler.start();
    await clock.advance(5 * MINUTE);
    expect(looks).toBe(0);
    scheduler.add(definition('job', every(MINUTE), { recovery: 'rerun' }));
    await clock.advance(MINUTE);
    expect(looks).toBeGreaterThan(5);
    scheduler.remove('job');
    await clock.advance(LOOK);
    const looked = looks;
    await clock.advance(MINUTE);
    expect(looks).toBe(looked);
  });

  it('after a drain began nothing is looked for', async () => {
    const fleet = recovering(2);
    await fleet.clock.advance(MINUTE);
    const winner = fleet.calls[0]!;
    fleet.replicas[winner.on]!.life.reaches = false;
    const [other] = fleet.others(winner.on) as [Recovering['replicas'][0]];
    await fleet.clock.advance(LEASE - SECOND);
    const drained = follow(other.scheduler.drain());
    await fleet.clock.advance(LEASE);
    expect(drained.settled).toBe(true);
    expect(fleet.calls).toHaveLength(1);
  });
});
