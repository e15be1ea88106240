/** Something that is due at a time. It knows its place, so that it can be taken out from anywhere. */
export interface HeapItem {
  dueAtMs: number;
  /** Kept by the heap: the place among those that are due at the same time; -1 outside of it. */
  heapIndex: number;
}

/** All that is due at one instant. */
interface Bucket<T> {
  readonly dueAtMs: number;
  readonly items: T[];
  heapIndex: number;
}

/**
 * A binary heap of instants, each with everything that is due then: constant time to look, logarithmic in the number of different instants to put in and take out. Cron
 * entries share their instants, so ten thousand entries are a few instants, and those of one instant are taken out as one.
 */
export class TimerHeap<T extends HeapItem> {
  private readonly buckets: Bucket<T>[] = [];
  private readonly byInstant = new Map<number, Bucket<T>>();
  private count = 0;

  get size(): number {
    return this.count;
  }

  /** One of the earliest. */
  peek(): T | undefined {
    return this.buckets[0]?.items[0];
  }

  push(item: T): void {
    let bucket = this.byInstant.get(item.dueAtMs);
    if (bucket === undefined) {
      bucket = { dueAtMs: item.dueAtMs, items: [], heapIndex: -1 };
      this.byInstant.set(item.dueAtMs, bucket);
      this.buckets.push(bucket);
      this.rise(bucket, this.buckets.length - 1);
    }
    item.heapIndex = bucket.items.push(item) - 1;
    this.count += 1;
  }

  /** Takes out all that is due by then, the earliest first; what is due at one instant comes in the order it was put in, as far as nothing was taken out between. */
  takeDue(byMs: number): T[] {
    const due: T[] = [];
    for (let bucket = this.buckets[0]; bucket !== undefined && bucket.dueAtMs <= byMs; bucket = this.buckets[0]) {
      for (const item of bucket.items) {
        item.heapIndex = -1;
        due.push(item);
      }
      this.count -= bucket.items.length;
      this.drop(bucket);
    }
    return due;
  }

  /** Does nothing to an item that is in no heap. Its `dueAtMs` must be as it was when it was put in. */
  remove(item: T): void {
    const index = item.heapIndex;
    if (index === -1) return;
    const bucket = this.byInstant.get(item.dueAtMs) as Bucket<T>;
    const last = bucket.items.pop() as T;
    if (last !== item) {
      bucket.items[index] = last;
      last.heapIndex = index;
    }
    item.heapIndex = -1;
    this.count -= 1;
    if (bucket.items.length === 0) this.drop(bucket);
  }

  clear(): void {
    for (const { items } of this.buckets) for (const item of items) item.heapIndex = -1;
    this.buckets.length = 0;
    this.byInstant.clear();
    this.count = 0;
  }

  private drop(bucket: Bucket<T>): void {
    this.byInstant.delete(bucket.dueAtMs);
    const index = bucket.heapIndex;
    const last = this.buckets.pop() as Bucket<T>;
    if (last === bucket) return;
    if (index > 0 && last.dueAtMs < this.buckets[(index - 1) >> 1]!.dueAtMs) this.rise(last, index);
    else this.sink(last, index);
  }

  private rise(bucket: Bucket<T>, from: number): void {
    const { buckets } = this;
    let index = from;
    while (index > 0) {
      const parentIndex = (index - 1) >> 1;
      const parent = buckets[parentIndex]!;
      if (parent.dueAtMs <= bucket.dueAtMs) break;
      buckets[index] = parent;
      parent.heapIndex = index;
      index = parentIndex;
    }
    buckets[index] = bucket;
    bucket.heapIndex = index;
  }

  private sink(bucket: Bucket<T>, from: number): void {
    const { buckets } = this;
    const half = buckets.length >> 1;
    let index = from;
    while (index < half) {
      let childIndex = 2 * index + 1;
      let child = buckets[childIndex]!;
      const right = buckets[childIndex + 1];
      if (right !== undefined && right.dueAtMs < child.dueAtMs) {
        childIndex += 1;
        child = right;
      }
      if (child.dueAtMs >= bucket.dueAtMs) break;
      buckets[index] = child;
      child.heapIndex = index;
      index = childIndex;
    }
    buckets[index] = bucket;
    bucket.heapIndex = index;
  }
}
