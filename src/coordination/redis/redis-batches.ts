import { isCrossSlot } from './redis-client.js';
import type { RedisSession } from './redis-session.js';

/** Something that is asked in a script together with others, and where its key lies. */
export interface Bucketed {
  readonly bucket: number;
}

/**
 * Splits what is asked into scripts: of at most `largest` each, in the order given, on a Cluster also by bucket. `run` is called for all of them in one turn, so that they travel
 * together. A server that turns out to be part of a Cluster is asked again by bucket: it executed nothing.
 */
export function runInBatches<T extends Bucketed>(
  session: RedisSession,
  items: readonly T[],
  largest: number,
  run: (batch: readonly T[], bucket: number) => Promise<void>,
): Promise<PromiseSettledResult<void>[]> {
  const start = async (batch: readonly T[]): Promise<void> => {
    const [first] = batch;
    if (first === undefined) return;
    try {
      await run(batch, first.bucket);
    } catch (cause) {
      if (!isCrossSlot(cause) || batch.every(({ bucket }) => bucket === first.bucket)) throw cause;
      session.isCluster = true;
      await Promise.all(byBucket(batch).map((part) => run(part, (part[0] as T).bucket)));
    }
  };
  const groups = session.isCluster ? byBucket(items) : [items];
  return Promise.allSettled(groups.flatMap((group) => slices(group, largest)).map(start));
}

export function byBucket<T extends Bucketed>(items: readonly T[]): T[][] {
  const groups = new Map<number, T[]>();
  for (const item of items) {
    const group = groups.get(item.bucket);
    if (group === undefined) groups.set(item.bucket, [item]);
    else group.push(item);
  }
  return [...groups.values()];
}

export function slices<T>(items: readonly T[], size: number): (readonly T[])[] {
  if (items.length <= size) return [items];
  return Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size));
}

/** Where one failure leaves the whole without an answer. */
export function allOrNothing(outcomes: readonly PromiseSettledResult<void>[]): void {
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}
