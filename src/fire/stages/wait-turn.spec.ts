import { describe, expect, it } from '@jest/globals';
import { entryOf, type PipelineOptions, pipelineOf } from '../pipeline.fixture.js';

const SPREAD = { placement: 'spread', takeoverAfterMs: 2_000, jitterMs: 500 } as const;

/** When, after its instant, a fire of a spread entry asks for its claim. */
function asking(options: PipelineOptions = {}) {
  const askedAtMs: number[] = [];
  const it = pipelineOf({
    ...options,
    claimer: { claim: async () => askedAtMs.push(it.clock.now() - instantMs) > 0 },
  });
  const instantMs = it.clock.now();
  return { ...it, askedAtMs };
}

describe("with placement 'spread'", () => {
  it('the home of a fire asks within its jitter', async () => {
    const { clock, send, askedAtMs } = asking({ homeTo: () => true, random: { fraction: () => 0.5 } });
    send(entryOf(() => {}, SPREAD));
    await clock.advance(10_000);
    expect(askedAtMs).toEqual([250]);
  });

  it.each([
    ['another replica', () => false],
    ['nobody, since no list of members is known', undefined],
  ])('where %s is home, the fire is asked for takeoverAfter behind the longest jitter', async (_, homeTo) => {
    const { clock, send, askedAtMs } = asking(homeTo === undefined ? {} : { homeTo });
    send(entryOf(() => {}, SPREAD));
    await clock.advance(10_000);
    expect(askedAtMs).toEqual([2_500]);
  });

  it('a replica that reached the instant late waits for what is left of that time', async () => {
    const { clock, send, askedAtMs } = asking({ homeTo: () => false });
    const pass = send(entryOf(() => {}, SPREAD));
    pass.cutWait?.();
    clock.step(2_000);
    const late = { ...pass.fire, scheduledAt: new Date(clock.now() - 2_000) };
    send(
      entryOf(() => {}, SPREAD),
      'schedule',
      undefined,
      late,
    );
    await clock.advance(10_000);
    expect(askedAtMs).toEqual([2_500]);
  });

  it('all that is home elsewhere is asked for in one turn, and asks the ring by fire, not by entry', async () => {
    const homesAsked: string[] = [];
    const { clock, send, askedAtMs } = asking({ homeTo: (fireKey) => homesAsked.push(fireKey) < 0 });
    for (const key of ['a', 'b', 'c']) send(entryOf(() => {}, SPREAD, key));
    await clock.advance(10_000);
    expect(askedAtMs).toEqual([2_500, 2_500, 2_500]);
    expect(homesAsked).toEqual(['a', 'b', 'c'].map((key) => `${key}@2026-01-01T00:00:00Z`));
  });

  it.each(['catch-up', 'manual'] as const)('a %s fire does not wait for a home', async (origin) => {
    const { clock, send, story } = asking({ homeTo: () => false });
    send(
      entryOf(() => {}, SPREAD),
      origin,
    );
    await clock.settle();
    expect(story()).toEqual(['started', 'completed']);
  });

  it('a wait for the home is cut short by what cancels the fire', async () => {
    const { clock, send, story, drain } = asking({ homeTo: () => false });
    const pass = send(entryOf(() => {}, SPREAD));
    drain.draining = true;
    pass.cutWait?.();
    await clock.settle();
    expect(story()).toEqual(['canceled draining']);
    expect(clock.pendingTimers).toBe(0);
  });
});
