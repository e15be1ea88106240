import { describe, expect, it } from '@jest/globals';
import type { CoordinationBackend } from '../coordination/coordination-backend.js';
import { MemoryBackend } from '../coordination/memory/memory-backend.js';
import { MemoryStore } from '../coordination/memory/memory-store.js';
import { replicaBackend } from './replica-backend.js';
import { ReplicaClock } from './replica-clock.js';
import { ReplicaLife } from './replica-life.js';
import { VirtualClock } from './virtual-clock.js';

const member = (instanceId: string) => ({ instanceId, memberName: instanceId });

function replica() {
  const clock = new VirtualClock();
  const store = new MemoryStore({ clock });
  const life = new ReplicaLife();
  const { leases, membership } = replicaBackend(store, life);
  const told: string[] = [];
  const follow = (promise: Promise<unknown>) =>
    void promise.then(
      () => told.push('answered'),
      () => told.push('refused'),
    );
  return { clock, store, life, leases: leases!, membership: membership!, told, follow };
}

describe("a replica's way to the store", () => {
  it('has every capability of the store', async () => {
    const { life, store, membership } = replica();
    const backend = replicaBackend(store, life);
    const whole: CoordinationBackend = new MemoryBackend({ store });
    expect(Object.keys(backend)).toEqual(expect.arrayContaining(Object.keys(whole)));
    const { repeatable, holding, claimMany, lastFire, pause, resume, forget } = backend.claimer;
    expect([repeatable, holding]).toEqual([true, true]);
    for (const method of [claimMany, lastFire, pause, resume, forget]) expect(method).toBeInstanceOf(Function);
    expect(await membership.heartbeat('shop', member('a'), 1_000, new AbortController().signal)).toEqual([member('a')]);
  });

  it('leads to pauses and recovery too, while it lives', async () => {
    const { clock, store, life, told, follow } = replica();
    const { claimer, recovery } = replicaBackend(store, life);
    const { signal } = new AbortController();
    await claimer.pause?.('shop', 'report', signal);
    expect(store.resume('shop', 'report', false)).toBe(clock.now());
    const scan = { namespace: 'shop', entries: [], claimId: 'c', instanceId: 'i', ttlMs: 1, limit: 1 };
    expect(await recovery?.takeLapsed(scan, signal)).toEqual([]);
    life.kill();
    follow(claimer.pause?.('shop', 'report', signal) as Promise<void>);
    follow(recovery?.takeLapsed(scan, signal) as Promise<unknown>);
    life.answer();
    await clock.settle();
    expect(store.resume('shop', 'report', false)).toBeUndefined();
    expect(told).toEqual([]);
  });

  it('once it is killed, sends nothing', async () => {
    const { clock, store, life, membership, told, follow } = replica();
    life.kill();
    follow(membership.heartbeat('shop', member('a'), 1_000, new AbortController().signal));
    life.answer();
    await clock.settle();
    expect(store.membersOf('shop').size).toBe(0);
    expect(told).toEqual([]);
  });

  it('killed after it sent, has done what it asked, and is not answered', async () => {
    const { clock, store, life, membership, told, follow } = replica();
    follow(membership.heartbeat('shop', member('a'), 1_000, new AbortController().signal));
    while (store.membersOf('shop').size === 0) await Promise.resolve();
    life.kill();
    life.answer();
    await clock.settle();
    expect(told).toEqual([]);
  });

  it('while it is stalled, sends and hears nothing; afterwards both, errors too', async () => {
    const { clock, store, life, leases, membership, told, follow } = replica();
    const { signal } = new AbortController();
    const circular: Record<string, unknown> = {};
    circular.itself = circular;
    follow(
      leases.acquire({ namespace: 'shop', name: 'l', owner: 'a', ttlMs: 1_000, value: circular as never }, signal),
    );
    life.stall();
    follow(membership.heartbeat('shop', member('a'), 1_000, signal));
    await clock.settle();
    expect(store.membersOf('shop').size).toBe(0);
    expect(told).toEqual([]);
    life.wake();
    life.answer();
    await clock.settle();
    expect(store.membersOf('shop').size).toBe(1);
    expect(told.sort()).toEqual(['answered', 'refused']);
  });
});

describe("a replica's clock", () => {
  it('sets no timer in the fleet once the replica was killed, and takes back those it had', async () => {
    const fleet = new VirtualClock();
    const life = new ReplicaLife();
    const clock = new ReplicaClock(fleet, life);
    clock.setTimer(() => undefined, 1_000);
    life.kill();
    clock.end();
    clock.clearTimer(clock.setTimer(() => undefined, 1_000));
    clock.setTimer(() => undefined, 1_000);
    expect(fleet.pendingTimers).toBe(0);
    await fleet.advance(500);
    expect(clock.monotonic()).toBe(0);
  });

  it('does not call back a timer that was cleared during a stall', async () => {
    const fleet = new VirtualClock();
    const life = new ReplicaLife();
    const clock = new ReplicaClock(fleet, life);
    const seen: string[] = [];
    const cleared = clock.setTimer(() => seen.push('cleared'), 10);
    clock.setTimer(() => seen.push('first'), 20);
    clock.setTimer(() => seen.push('second'), 30);
    life.stall();
    await fleet.advance(50);
    clock.clearTimer(cleared);
    life.wake();
    await clock.catchUp();
    expect(seen).toEqual(['first', 'second']);
    await clock.catchUp();
    expect(seen).toHaveLength(2);
  });
});
