import { describe, expect, it } from '@jest/globals';
import { CoordinationError } from './coordination-error.js';
import { follow, guarded, SETTINGS } from './fixtures/guarded.js';
import type { GuardedRecovery } from './guarded-recovery.js';
import type { RecoveryStore } from './recovery-store.js';

const { coordinationTimeoutMs: TIMEOUT } = SETTINGS;
const held = { namespace: 'shop', entryKey: 'report', scheduledAt: new Date(0), claimId: 'pass-1' };
const request = {
  namespace: 'shop',
  entries: [{ entryKey: 'report', maxAttempts: 3 }],
  claimId: 'scan-1',
  instanceId: 'replica-1',
  ttlMs: 30_000,
  limit: 10,
};
const lapsed = { entryKey: 'report', scheduledAt: new Date(0), attempt: 2, abandoned: false };

/** Recovery whose every call does the same, and what it was asked. */
function answering(answer: (signal: AbortSignal) => unknown) {
  const asked: unknown[][] = [];
  const via = (...args: unknown[]) => {
    asked.push(args.slice(0, -1));
    return Promise.resolve(answer(args.at(-1) as AbortSignal)) as never;
  };
  const recovery: RecoveryStore = { renew: via, finish: via, release: via, takeLapsed: via };
  const order: string[] = [];
  const { guard, clock } = guarded({
    claimer: { claim: async () => true },
    recovery,
    open: async () => void order.push('opened'),
  });
  return { guard, recovery: guard.recovery as GuardedRecovery, clock, asked, order };
}

const CALLS: readonly {
  readonly name: keyof RecoveryStore;
  readonly goods: readonly unknown[];
  readonly bads: readonly unknown[];
  readonly args: readonly unknown[];
  readonly call: (recovery: GuardedRecovery) => Promise<unknown>;
}[] = [
  {
    name: 'renew',
    goods: [true, false],
    bads: [undefined, null, 1, 'OK', {}],
    args: [held, 9],
    call: (recovery) => recovery.renew(held, 9),
  },
  {
    name: 'finish',
    goods: [true, false],
    bads: [undefined, null, 0, 'true'],
    args: [held],
    call: (recovery) => recovery.finish(held),
  },
  {
    name: 'release',
    goods: [true, false],
    bads: [undefined, null, 1, []],
    args: [held],
    call: (recovery) => recovery.release(held),
  },
  {
    name: 'takeLapsed',
    goods: [[], [lapsed], [lapsed, { ...lapsed, abandoned: true }]],
    bads: [
      ...[undefined, null, true, {}, new Set([lapsed]), [undefined], [null], [lapsed, 'report']],
      ...[
        { entryKey: 1 },
        { scheduledAt: 0 },
        { scheduledAt: new Date(Number.NaN) },
        { scheduledAt: '1970-01-01' },
      ].map((change) => [{ ...lapsed, ...change }]),
      ...[{ attempt: '2' }, { attempt: 1.5 }, { attempt: undefined }, { abandoned: undefined }, { abandoned: 0 }].map(
        (change) => [{ ...lapsed, ...change }],
      ),
    ],
    args: [request],
    call: (recovery) => recovery.takeLapsed(request),
  },
];

describe.each(CALLS)('$name of a claim that can be taken over', ({ name, goods, bads, args, call }) => {
  it('opens the backend first, once, and answers what the store answers', async () => {
    for (const good of goods) {
      const { recovery, asked, order } = answering(() => good);
      expect(await Promise.all([call(recovery), call(recovery)])).toEqual([good, good]);
      expect(asked).toEqual([args, args]);
      expect(order).toEqual(['opened']);
    }
  });

  it('of a store that answers something else is an error: nobody runs on it', async () => {
    for (const bad of bads) {
      await expect(call(answering(() => bad).recovery)).rejects.toMatchObject({
        code: 'COORDINATION_ANSWER',
        store: 'fake',
        operation: name,
      });
    }
  });

  it('asks a busy store again, and passes on what it fails with otherwise, asked once', async () => {
    let left = 2;
    const busy = new CoordinationError('STORE_BUSY', { store: 'fake', operation: name }, 'locked');
    const waiting = answering(() => (left-- > 0 ? Promise.reject(busy) : goods[0]));
    const answered = follow(call(waiting.recovery));
    await waiting.clock.advance(100);
    expect(answered).toMatchObject({ settled: true, value: goods[0] });

    const down = answering(() => Promise.reject(new Error('ECONNRESET')));
    await expect(call(down.recovery)).rejects.toMatchObject({ code: 'COORDINATION_FAILED', operation: name });
    // Also a scan: what it may have taken lapses once more, and another attempt is told so.
    expect(down.asked).toHaveLength(1);
  });

  it('has a time limit, at which its signal is aborted', async () => {
    let given: AbortSignal | undefined;
    const { recovery, clock } = answering((signal) => {
      given = signal;
      return new Promise(() => undefined);
    });
    const hanging = follow(call(recovery));
    await clock.advance(TIMEOUT);
    expect(hanging.reason).toMatchObject({ code: 'COORDINATION_TIMEOUT', operation: name });
    expect(given?.aborted).toBe(true);
  });

  it('is asked after a drain has begun, so that what runs can be kept and given back', async () => {
    const { guard, recovery } = answering(() => goods[0]);
    await guard.open();
    guard.stopAsking();
    await expect(call(recovery)).resolves.toEqual(goods[0]);
    await guard.close();
    await expect(call(recovery)).rejects.toMatchObject({ code: 'COORDINATION_STOPPED' });
  });
});

it('a backend that cannot recover has no recovery', () => {
  expect(guarded({ claimer: { claim: async () => true } }).guard.recovery).toBeUndefined();
});
