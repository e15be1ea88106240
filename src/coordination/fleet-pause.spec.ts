import { describe, expect, it } from '@jest/globals';
import { follow, guarded } from './fixtures/guarded.js';

const granting = { claim: async () => true };
const since = new Date('2026-01-01T00:00:00Z');

describe('a pause over the fleet, as it is asked of a store', () => {
  it('goes to the namespace of the application', async () => {
    const asked: unknown[] = [];
    const { guard } = guarded({
      claimer: {
        ...granting,
        pause: async (...given) => void asked.push(given.slice(0, 2)),
        resume: async (...given) => {
          asked.push(given.slice(0, 3));
          return since;
        },
      },
    });
    await guard.pause('report');
    await expect(guard.resume('report', { keepWatermark: true })).resolves.toBe(since);
    expect(asked).toEqual([
      ['shop', 'report'],
      ['shop', 'report', { keepWatermark: true }],
    ]);
  });

  it.each([
    ['nothing', undefined],
    ['a number', 7],
    ['a date of no instant', new Date('never')],
  ])('is not taken for resumed where the store answers %s', async (_, answer) => {
    const { guard } = guarded({
      claimer: { ...granting, pause: async () => undefined, resume: async () => answer as Date },
    });
    await expect(guard.resume('report', { keepWatermark: false })).rejects.toMatchObject({
      code: 'COORDINATION_ANSWER',
      operation: 'resume',
    });
  });

  it.each([
    ['neither', {}, false],
    ['pause alone', { pause: async () => undefined }, false],
    ['both', { pause: async () => undefined, resume: async () => null }, true],
  ])('is there for a claimer that has %s of the two', (_, capabilities, can) => {
    expect(guarded({ claimer: { ...granting, ...capabilities } }).guard.pausing).toBe(can);
  });

  it('has a time limit, and the store is opened first', async () => {
    const order: string[] = [];
    const { guard, clock } = guarded({
      claimer: { ...granting, pause: () => new Promise(() => order.push('pause')), resume: async () => null },
      open: async () => void order.push('open'),
    });
    const paused = follow(guard.pause('report'));
    await clock.advance(5_000);
    expect(order).toEqual(['open', 'pause']);
    expect(paused.reason).toMatchObject({ code: 'COORDINATION_TIMEOUT', operation: 'pause' });
  });
});
