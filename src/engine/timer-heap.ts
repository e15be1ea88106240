/** Something that is due at a time. It knows its place, so that it can be taken out from anywhere in the heap. */
export interface HeapItem {
  dueAtMs: number;
  /** Kept by the heap; -1 outside of it. */
  heapIndex: number;
}

/** A binary heap of what is due next: constant time to look, logarithmic to put in, take out and move. */
export class TimerHeap<T extends HeapItem> {
  private readonly items: T[] = [];

  get size(): number {
    return this.items.length;
  }

  peek(): T | undefined {
    return this.items[0];
  }

  push(item: T): void {
    this.items.push(item);
    this.rise(item, this.items.length - 1);
  }

  /** Does nothing to an item that is in no heap. */
  remove(item: T): void {
    const index = item.heapIndex;
    if (index === -1) return;
    const last = this.items.pop() as T;
    item.heapIndex = -1;
    if (last === item) return;
    if (index > 0 && last.dueAtMs < this.items[(index - 1) >> 1]!.dueAtMs) this.rise(last, index);
    else this.sink(last, index);
  }

  clear(): void {
    for (const item of this.items) item.heapIndex = -1;
    this.items.length = 0;
  }

  private rise(item: T, from: number): void {
    const { items } = this;
    let index = from;
    while (index > 0) {
      const parentIndex = (index - 1) >> 1;
      const parent = items[parentIndex]!;
      if (parent.dueAtMs <= item.dueAtMs) break;
      items[index] = parent;
      parent.heapIndex = index;
      index = parentIndex;
    }
    items[index] = item;
    item.heapIndex = index;
  }

  private sink(item: T, from: number): void {
    const { items } = this;
    const half = items.length >> 1;
    let index = from;
    while (index < half) {
      let childIndex = 2 * index + 1;
      let child = items[childIndex]!;
      const right = items[childIndex + 1];
      if (right !== undefined && right.dueAtMs < child.dueAtMs) {
        childIndex += 1;
        child = right;
      }
      if (child.dueAtMs >= item.dueAtMs) break;
      items[index] = child;
      child.heapIndex = index;
      index = childIndex;
    }
    items[index] = item;
    item.heapIndex = index;
  }
}
