import { describe, expect, it } from '@jest/globals';
import { CatchUpTurns } from './catch-up-turns.js';
import { Pass } from './pass.js';
import { entryOf } from './pipeline.fixture.js';
import { Slots } from './slots.js';

/** Passes that take their turn, by name in the order in which they get it; `end` gives the slot of one back. */
function turns(catchUpConcurrency: number) {
  const slots = new Slots();
  const catchUpTurns = new CatchUpTurns(slots, catchUpConcurrency);
  const placed: string[] = [];
  const passes = new Map<string, Pass>();
  const send = (entry: ReturnType<typeof entryOf>, name: string) => {
    const fire = { entryKey: entry.key, fireKey: name, scheduledAt: new Date(0), origin: 'catch-up' } as const;
    const pass = new Pass(fire, entry, 0);
    passes.set(name, pass);
    const turn = catchUpTurns.take(pass);
    if (turn === undefined) placed.push(name);
    else void turn.then(() => placed.push(name));
  };
  const end = async (name: string) => {
    slots.free(passes.get(name)!);
    await Promise.resolve();
  };
  return { slots, send, end, placed };
}

describe('places for caught-up fires', () => {
  it('an entry with many to catch up keeps no other entry waiting for all of them: entries take turns, each in its order', async () => {
    const { send, end, placed, slots } = turns(2);
    const [many, few] = [entryOf(() => undefined, {}, 'many'), entryOf(() => undefined, {}, 'few')];
    for (const name of ['m1', 'm2', 'm3', 'm4', 'm5']) send(many, name);
    for (const name of ['f1', 'f2']) send(few, name);
    for (const name of ['m1', 'm2', 'm3', 'f1', 'm4', 'f2', 'm5']) await end(name);
    expect(placed).toEqual(['m1', 'm2', 'm3', 'f1', 'm4', 'f2', 'm5']);
    expect(slots.held).toBe(0);
  });
});
