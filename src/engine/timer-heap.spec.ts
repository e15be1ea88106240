import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type HeapItem, TimerHeap } from './timer-heap.js';

const item = (dueAtMs: number): HeapItem => ({ dueAtMs, heapIndex: -1 });

describe('timer heap', () => {
  it('answers the same as a sorted array, whatever is put in and taken out', () => {
    const push = fc.record({ push: fc.integer({ min: 0, max: 1_000 }) });
    const remove = fc.record({ remove: fc.nat() });
    const pop = fc.constant({ pop: true } as const);
    fc.assert(
      fc.property(fc.array(fc.oneof(push, push, push, push, remove, pop), { maxLength: 120, size: 'max' }), (steps) => {
        const heap = new TimerHeap<HeapItem>();
        const plain: HeapItem[] = [];
        const takeOut = (taken: HeapItem | undefined) => {
          if (taken === undefined) return;
          heap.remove(taken);
          plain.splice(plain.indexOf(taken), 1);
          if (taken.heapIndex !== -1) throw new Error('taken out, and still in its place');
        };
        for (const step of steps) {
          if ('push' in step) {
            const added = item(step.push);
            heap.push(added);
            plain.push(added);
          } else if ('remove' in step) takeOut(plain[step.remove % Math.max(1, plain.length)]);
          else takeOut(heap.peek());
          // Compared by hand: an expect() at each of some ten thousand steps costs seconds.
          const leastMs = Math.min(...plain.map(({ dueAtMs }) => dueAtMs));
          if (heap.size !== plain.length || (heap.peek()?.dueAtMs ?? Number.POSITIVE_INFINITY) !== leastMs)
            throw new Error(`size ${heap.size}, next ${heap.peek()?.dueAtMs}; expected ${plain.length} and ${leastMs}`);
        }
        for (let last = Number.NEGATIVE_INFINITY, next = heap.peek(); next !== undefined; next = heap.peek()) {
          if (next.dueAtMs < last) throw new Error(`${next.dueAtMs} came after ${last}`);
          last = next.dueAtMs;
          heap.remove(next);
        }
      }),
    );
  });

  it('does nothing when something is taken out that is in no heap, or twice', () => {
    const heap = new TimerHeap<HeapItem>();
    const inside = item(1);
    heap.push(inside);
    heap.remove(item(1));
    expect(heap.size).toBe(1);
    heap.remove(inside);
    heap.remove(inside);
    expect(heap.size).toBe(0);
    expect(heap.peek()).toBeUndefined();
  });

  it('lets go of everything at once, and takes it again', () => {
    const heap = new TimerHeap<HeapItem>();
    const items = [3, 1, 2].map(item);
    for (const each of items) heap.push(each);
    heap.clear();
    expect(heap.size).toBe(0);
    expect(items.map((each) => each.heapIndex)).toEqual([-1, -1, -1]);
    for (const each of items) heap.push(each);
    expect(heap.peek()?.dueAtMs).toBe(1);
  });
});
