import { describe, expect, test } from '@jest/globals';
import { VirtualClock } from '../testing/virtual-clock.js';
import { FetchedMembers, fetchedMembership, type ListMembers } from './fetched-membership.js';

const EVERY = 10_000;
const LIMIT = 5_000;

function fetched(list: ListMembers) {
  const clock = new VirtualClock();
  const errors: unknown[] = [];
  const seen: (readonly string[])[] = [];
  const source = new FetchedMembers(fetchedMembership(list, { everyMs: EVERY }), LIMIT, clock, {
    unreachable: (error) => errors.push(error),
  });
  source.onChange((members) => seen.push(members));
  return { clock, errors, seen, source };
}

describe('a fetched membership', () => {
  test('asks the application at the start and then at its pace, and tells of every change', async () => {
    const answers = [
      ['b', 'a'],
      ['a', 'b'],
      ['a', 'c', 'c'],
    ];
    const { clock, seen, source } = fetched(() => answers.shift() ?? ['a', 'c']);
    expect(source.current).toBeUndefined();
    source.start();
    await clock.advance(3 * EVERY);
    expect(seen).toEqual([
      ['a', 'b'],
      ['a', 'c'],
    ]);
  });

  test.each([
    [
      'throws',
      () => {
        throw new Error('down');
      },
    ],
    ['rejects', () => Promise.reject(new Error('down'))],
    ['answers no list', () => 'a,b' as unknown as string[]],
    ['never answers', () => new Promise<string[]>(() => undefined)],
  ])('that %s keeps the last list, says so once per outage, and goes on asking', async (_, fail: ListMembers) => {
    let down = false;
    const { clock, errors, source } = fetched((signal) => (down ? fail(signal) : ['a']));
    source.start();
    await clock.advance(EVERY / 2);
    for (let outage = 1; outage <= 2; outage++) {
      down = true;
      await clock.advance(5 * (EVERY + LIMIT));
      expect([source.current, errors.length]).toEqual([['a'], outage]);
      down = false;
      await clock.advance(EVERY + LIMIT);
    }
  });

  test('that was left asks no more, takes no late answer, and leaves no timer', async () => {
    let answer: (list: string[]) => void = () => undefined;
    const { clock, errors, seen, source } = fetched(() => new Promise((resolve) => (answer = resolve)));
    source.start();
    await source.leave();
    answer(['a']);
    await clock.advance(5 * EVERY);
    expect([seen, errors, clock.pendingTimers]).toEqual([[], [], 0]);
  });

  test('refuses what is no function, and a pace that is none', () => {
    expect(() => fetchedMembership('list' as unknown as ListMembers)).toThrow(TypeError);
    for (const everyMs of [0, -1, Number.NaN, 2 ** 31])
      expect(() => fetchedMembership(() => [], { everyMs })).toThrow(RangeError);
  });
});
