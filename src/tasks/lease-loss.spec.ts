import { describe, expect, test } from '@jest/globals';
import { MemoryStore } from '../coordination/memory/memory-store.js';
import { VirtualClock } from '../testing/virtual-clock.js';
import type { TaskContext } from './task.js';
import { fleet, held, LEASE_TTL, type Replica, replica, SECOND, task, watchedLeases } from './tasks.fixture.js';

/** Keeps what is written, and refuses what comes with a lower fencing token than was seen before. */
function ledger() {
  const written: { by: string; token: number }[] = [];
  let highest = 0;
  return {
    written,
    write(by: string, token: number | null): boolean {
      if (token === null || token < highest) return false;
      highest = token;
      written.push({ by, token });
      return true;
    },
  };
}

/** Replica a on a clock of its own, which a test can let stand still; b and the store on the fleet's. Each thinks it is the task's home. */
function stallable() {
  const clock = new VirtualClock();
  const own = new VirtualClock();
  const store = new MemoryStore({ clock });
  const a = replica({ id: 'a', clock, own, store });
  const b = replica({ id: 'b', clock, store });
  return {
    a,
    b,
    own,
    async advance(byMs: number) {
      for (let passed = 0; passed < byMs; passed += 500) {
        await clock.advance(500);
        await own.advance(500);
      }
    },
    /** The process of a is stopped for so long, then goes on. */
    async stall(forMs: number) {
      await clock.advance(forMs);
      await own.suspend(forMs);
    },
  };
}

function start({ tasks }: Replica, run: (context: TaskContext) => unknown): void {
  tasks.add(task('singleton', run));
  tasks.start();
}

describe('a run whose replica stood still for longer than its lease', () => {
  test('finds its signal aborted when it wakes, with the reason, before it can do anything more', async () => {
    const { a, b, own, advance, stall } = stallable();
    const book = ledger();
    const reasons: unknown[] = [];
    const run = async (context: TaskContext) => {
      for (;;) {
        await new Promise<void>((resume) => own.setTimer(resume, SECOND));
        if (context.signal.aborted) {
          reasons.push(context.signal.reason);
          return SECOND;
        }
        book.write('a', context.fencingToken);
      }
    };
    start(a, run);
    await advance(5 * SECOND);
    const before = book.written.length;
    expect(before).toBeGreaterThan(2);
    start(b, ({ fencingToken }) => {
      book.write('b', fencingToken);
      return 60 * SECOND;
    });
    await stall(LEASE_TTL + 5 * SECOND);
    expect(reasons).toEqual([expect.objectContaining({ code: 'TASK_LEASE_LOST', taskKey: 'task', reason: 'lapsed' })]);
    expect(book.written.slice(before).map(({ by }) => by)).toEqual(['b']);
    expect(a.story()).toEqual(['started', 'lease-lost', 'failed']);
    expect(a.ofType('task.failed')[0]).toMatchObject({ error: { code: 'TASK_LEASE_LOST' }, nextInMs: null });
  });

  test('that ignores its signal writes nothing more into a ledger that refuses lower fencing tokens', async () => {
    const { a, b, own, advance, stall } = stallable();
    const book = ledger();
    const answers: boolean[] = [];
    start(a, async ({ fencingToken }) => {
      for (;;) {
        await new Promise<void>((resume) => own.setTimer(resume, SECOND));
        answers.push(book.write('a', fencingToken));
      }
    });
    await advance(5 * SECOND);
    start(b, ({ fencingToken }) => {
      book.write('b', fencingToken);
      return SECOND;
    });
    await stall(LEASE_TTL + 5 * SECOND);
    await advance(10 * SECOND);
    const firstOfB = book.written.findIndex(({ by }) => by === 'b');
    expect(firstOfB).toBeGreaterThan(0);
    expect(book.written.slice(firstOfB).every(({ by }) => by === 'b')).toBe(true);
    expect(answers.slice(-5)).toEqual([false, false, false, false, false]);
  });

  test('is waited for before the replica tries again, so that it never runs the task twice itself', async () => {
    const { a, advance, stall } = stallable();
    const method = held();
    start(a, method.run);
    await advance(SECOND);
    await stall(LEASE_TTL);
    await advance(60 * SECOND);
    expect(method.calls).toHaveLength(1);
    method.calls[0]?.end(SECOND);
    await advance(SECOND);
    expect(method.calls).toHaveLength(2);
    expect(method.calls[1]?.context.fencingToken).toBe(2);
  });
});

describe('a run whose wall clock jumps ahead by more than the lease', () => {
  test('trusts its lease no more: the store may have been as long without a renewal', async () => {
    const { a, own, advance } = stallable();
    const method = held();
    start(a, method.run);
    await advance(SECOND);
    own.step(LEASE_TTL);
    expect(method.calls[0]?.context.signal.aborted).toBe(true);
  });
});

describe('a run whose wall clock is set back by more than the lease', () => {
  test('trusts its lease no longer for that', async () => {
    const { a, own, advance, stall } = stallable();
    const method = held();
    start(a, method.run);
    await advance(SECOND);
    own.step(-2 * LEASE_TTL);
    await stall(LEASE_TTL);
    expect(method.calls[0]?.context.signal.reason).toMatchObject({ code: 'TASK_LEASE_LOST', reason: 'lapsed' });
  });
});

describe('a run whose renewals do not arrive', () => {
  test('is aborted before the lease can expire, so another replica that waits for it runs alone', async () => {
    const path = { cut: false };
    const { clock, replicas } = fleet(2, (index) =>
      index === 0
        ? {
            backend: watchedLeases(() => {
              if (path.cut) throw new Error('down');
            }),
          }
        : {},
    );
    let running = 0;
    let most = 0;
    const starts: string[] = [];
    for (const replica of replicas) {
      start(replica, async ({ signal }) => {
        starts.push(replica.id);
        running += 1;
        most = Math.max(most, running);
        await new Promise<void>((end) => signal.addEventListener('abort', () => end()));
        running -= 1;
        return SECOND;
      });
    }
    await clock.advance(60 * SECOND);
    expect(starts).toEqual(['a']);
    path.cut = true;
    await clock.advance(60 * SECOND);
    expect(starts).toEqual(['a', 'b']);
    expect(most).toBe(1);
    expect(replicas[0]?.ofType('task.lease-lost').map(({ reason }) => reason)).toEqual(['lapsed']);
  });

  test('goes on if one arrives within the time of trust', async () => {
    const path = { cut: false };
    const { clock, tasks, story } = replica({
      backend: watchedLeases((operation) => {
        if (path.cut && operation === 'renew') throw new Error('down');
      }),
    });
    const method = held();
    tasks.add(task('singleton', method.run));
    tasks.start();
    await clock.advance(SECOND);
    for (let outage = 0; outage < 10; outage++) {
      path.cut = true;
      await clock.advance(20 * SECOND);
      path.cut = false;
      await clock.advance(2 * SECOND);
    }
    method.calls[0]?.end(60 * SECOND);
    await clock.advance(SECOND);
    expect(story()).toEqual(['started', 'completed']);
  });
});

describe('a run whose lease the store gives to somebody else', () => {
  test('is aborted at the next renewal, with the reason', async () => {
    const { clock, store, tasks } = replica();
    const method = held();
    tasks.add(task('singleton', method.run));
    tasks.start();
    await clock.advance(SECOND);
    Object.assign(store.leasesOf('shop').get('task:task')!, { owner: 'somebody else', token: 7 });
    await clock.advance(LEASE_TTL / 3);
    expect(method.calls[0]?.context.signal.reason).toMatchObject({ code: 'TASK_LEASE_LOST', reason: 'taken' });
  });
});
