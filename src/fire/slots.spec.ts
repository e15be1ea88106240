import { describe, expect, it } from '@jest/globals';
import type { EntryPolicies } from '../domain/entry.js';
import { Pass } from './pass.js';
import { entryOf } from './pipeline.fixture.js';
import { Slots } from './slots.js';

const FIRE = { entryKey: 'job', fireKey: 'job@x', scheduledAt: new Date(0), origin: 'schedule' } as const;

function entryWith(policies: Partial<EntryPolicies> = {}) {
  const entry = entryOf(() => undefined, policies);
  return { entry, pass: () => new Pass(FIRE, entry, 0) };
}

describe('slots', () => {
  it('of the replica are limited over all entries; the entry of the fire that ends makes no difference', () => {
    const slots = new Slots(2);
    const [a, b, c] = [entryWith(), entryWith(), entryWith()];
    const first = a.pass();
    expect([slots.take(first), slots.take(b.pass()), slots.take(c.pass())]).toEqual([
      undefined,
      undefined,
      'concurrency-limit',
    ]);
    expect({ full: slots.full, held: slots.held }).toEqual({ full: true, held: 2 });
    slots.free(first);
    expect(slots.take(c.pass())).toBeUndefined();
    expect([a, b, c].map(({ entry }) => entry.slots)).toEqual([0, 1, 1]);
  });

  it('without a limit are never full', () => {
    const slots = new Slots();
    const { pass } = entryWith();
    for (let i = 0; i < 1_000; i++) expect(slots.take(pass())).toBeUndefined();
    expect({ full: slots.full, held: slots.held }).toEqual({ full: false, held: 1_000 });
  });

  it('are taken once and freed once by a pass, however often it asks', () => {
    const slots = new Slots(5);
    const { entry, pass } = entryWith({ overlap: 'skip' });
    const one = pass();
    expect([slots.take(one), slots.take(one)]).toEqual([undefined, undefined]);
    expect([entry.slots, slots.held]).toEqual([1, 1]);
    slots.free(one);
    slots.free(one);
    slots.free(pass());
    expect([entry.slots, slots.held]).toEqual([0, 0]);
  });

  it.each([
    ['overlap', { overlap: 'skip' }],
    ['overlap', { overlap: 'queue' }],
    ['concurrency-limit', { maxConcurrent: 1 }],
    // The entry's own rule is the answer where both refuse: an operator who sees it need not look at the replica.
    ['overlap', { overlap: 'skip', maxConcurrent: 1 }],
  ] as const)('%s is why an entry with %j has none for a second fire', (reason, policies) => {
    const slots = new Slots(1);
    const { entry, pass } = entryWith(policies);
    slots.take(pass());
    expect(slots.take(pass())).toBe(reason);
    expect([entry.slots, slots.held]).toEqual([1, 1]);
  });

  it('that free are told at once with their entry, so that who waits takes them before anybody else can', () => {
    const slots = new Slots(1);
    const [a, b] = [entryWith(), entryWith()];
    const told: unknown[] = [];
    const waiting = b.pass();
    slots.onFreed((entry) => told.push(entry, slots.take(waiting)));
    const first = a.pass();
    slots.take(first);
    slots.free(first);
    expect(told).toEqual([a.entry, undefined]);
    expect(slots.take(a.pass())).toBe('concurrency-limit');
  });

  it('go to those who wait with a claim in hand before one that has not asked for its claim', () => {
    const slots = new Slots();
    const { entry, pass } = entryWith({ overlap: 'queue' });
    const order: string[] = [];
    const first = pass();
    slots.take(first);
    slots.wait(entry, () => order.push('queued'));
    slots.onFreed(() => order.push('claimed'));
    slots.free(first);
    expect(order).toEqual(['claimed', 'queued']);
    slots.leave(entry);
    slots.take(first);
    slots.free(first);
    expect(order).toEqual(['claimed', 'queued', 'claimed']);
  });
});
