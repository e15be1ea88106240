import { describe, expect, it } from '@jest/globals';
import type { Clock } from '../ambient/clock.js';
import { VirtualClock } from '../testing/virtual-clock.js';
import { middle, request, SETTINGS, word } from './fixtures/guarded.js';
import { GuardedBackend } from './guarded-backend.js';
import { MemoryBackend } from './memory/memory-backend.js';
import { MemoryStore } from './memory/memory-store.js';

/** A replica whose wall clock is off, on a store with a clock of its own; timers run alike. */
function replica(aheadMs: number, latencyMs = 0) {
  const clock = new VirtualClock();
  const own: Clock = {
    now: () => clock.now() + aheadMs,
    monotonic: () => clock.monotonic(),
    setTimer: (callback, delayMs) => clock.setTimer(callback, delayMs),
    clearTimer: (timer) => clock.clearTimer(timer),
  };
  const memory = new MemoryBackend({ store: new MemoryStore({ clock }) });
  const backend = {
    store: 'memory',
    claimer: {
      repeatable: true,
      claim: () => Promise.reject(new Error('a batch was expected')),
      claimMany: async (...args: Parameters<typeof memory.claimer.claimMany>) => {
        const answers = await memory.claimer.claimMany(...args);
        if (latencyMs > 0) await new Promise<void>((resolve) => clock.setTimer(resolve, latencyMs));
        return answers;
      },
    },
  };
  const offsets: number[] = [];
  const listener = { clockSkewed: (offsetMs: number) => void offsets.push(offsetMs) };
  const guard = new GuardedBackend(backend, SETTINGS, { clock: own, random: middle }, listener);
  /** A fire that is due now by the clock of this replica. */
  const fire = (entryKey: string) => guard.claim(request(entryKey, { scheduledAt: new Date(own.now()) }));
  return { clock, fire, offsets };
}

describe('a clock that is off', () => {
  it('is told with how far it is off when the store refuses a fire as early', async () => {
    const { fire, offsets } = replica(7_200_000);
    expect(word(await fire('a'))).toBe('CLOCK_AHEAD');
    expect(offsets).toEqual([-7_200_000]);
  });

  it('is told right to the time of the call', async () => {
    const { fire, offsets, clock } = replica(7_200_000, 80);
    const claim = fire('a');
    await clock.advance(80);
    await claim;
    expect(offsets).toEqual([-7_200_080]);
  });

  it('is told once a minute, however many fires are refused', async () => {
    const { fire, offsets, clock } = replica(3_600_000);
    await Promise.all(['a', 'b', 'c'].map(fire));
    await clock.advance(59_000);
    await fire('a');
    expect(offsets).toHaveLength(1);
    await clock.advance(1_000);
    await fire('a');
    expect(offsets).toEqual([-3_600_000, -3_600_000]);
  });

  it('is told too where the fire waits until the clock of the store reaches it, and then runs', async () => {
    const { fire, offsets, clock } = replica(20_000);
    const claim = fire('a');
    await clock.advance(20_000);
    expect(word(await claim)).toBe('granted');
    expect(offsets).toEqual([-20_000]);
  });

  it('is not told while it is within maxClockSkew, or behind', async () => {
    for (const aheadMs of [0, 9_999, -600_000]) {
      const { fire, offsets } = replica(aheadMs);
      expect(word(await fire('a'))).toBe('granted');
      expect(offsets).toEqual([]);
    }
  });

  it.each([{}, { aheadMs: Number.NaN }])(
    'of which the store does not say how far ahead the fire lay is not told: %p',
    async (said) => {
      const clock = new VirtualClock();
      const offsets: number[] = [];
      const refusal = Object.assign(new Error('early'), { name: 'CoordinationError', code: 'CLOCK_AHEAD', ...said });
      const guard = new GuardedBackend(
        { store: 'custom', claimer: { claim: () => Promise.reject(refusal) } },
        SETTINGS,
        { clock, random: middle },
        { clockSkewed: (offsetMs) => void offsets.push(offsetMs) },
      );
      expect(word(await guard.claim(request('a')))).toBe('CLOCK_AHEAD');
      expect(offsets).toEqual([]);
    },
  );
});
