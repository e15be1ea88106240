import { describe, expect, it } from '@jest/globals';
import type { Claimer, LastFire } from './claimer.js';
import type { CoordinationBackend } from './coordination-backend.js';
import { CoordinationError } from './coordination-error.js';
import { follow, guarded, held, request, SETTINGS, word } from './fixtures/guarded.js';
import type { GuardedBackend } from './guarded-backend.js';

const { coordinationTimeoutMs: TIMEOUT } = SETTINGS;
const granting: Claimer = { claim: async () => true };
const busy = () => new CoordinationError('STORE_BUSY', { store: 'fake', operation: 'x' }, 'locked');

const lease = { namespace: 'shop', name: 'leader', owner: 'replica-1', token: 1 };
const member = { instanceId: 'replica-1', memberName: 'pod-1' };
const last: LastFire = { scheduledAt: new Date(0), schedule: 's' };

/** A backend whose every call does the same. */
function answering(answer: (signal: AbortSignal) => unknown, more: Partial<CoordinationBackend> = {}) {
  const via = (...args: unknown[]) => Promise.resolve(answer(args.at(-1) as AbortSignal)) as never;
  const leases = { acquire: via, renew: via, release: via, read: via };
  const membership = { heartbeat: via, leave: via, members: via };
  return guarded({ claimer: { ...granting, lastFire: via }, leases, membership, ...more });
}

/** Every call that goes through the guard, and an answer it takes. */
const CALLS: readonly {
  readonly name: string;
  readonly good: unknown;
  readonly bad?: readonly unknown[];
  readonly call: (guard: GuardedBackend) => Promise<unknown> | undefined;
}[] = [
  {
    name: 'acquire',
    good: { token: 7, value: null },
    bad: [true, undefined, {}, { token: '7' }, { token: 1.5 }],
    call: ({ leases }) => leases?.acquire({ ...lease, ttlMs: 1 }),
  },
  { name: 'renew', good: true, bad: [undefined, 1, 'OK'], call: ({ leases }) => leases?.renew(lease, { ttlMs: 1 }) },
  { name: 'release', good: false, bad: [undefined, 0, null], call: ({ leases }) => leases?.release(lease) },
  { name: 'read', good: new Map(), call: ({ leases }) => leases?.read('shop', ['leader']) },
  {
    name: 'heartbeat',
    good: [member],
    bad: [undefined, {}, new Set([member])],
    call: ({ membership }) => membership?.heartbeat('shop', member, 1),
  },
  { name: 'leave', good: undefined, call: ({ membership }) => membership?.leave('shop', 'replica-1') },
  { name: 'members', good: [], bad: [undefined, 'i'], call: ({ membership }) => membership?.members('shop') },
  {
    name: 'lastFire',
    good: new Map([['a', last]]),
    bad: [undefined, [], { a: last }, new Map([['a', undefined]]), new Map([['a', { ...last, scheduledAt: 0 }]])],
    call: (guard) => guard.lastFire(['a']),
  },
];

describe.each(CALLS)('$name', ({ name, good, bad = [], call }) => {
  it('opens the backend first, once, and answers what the store answers', async () => {
    const order: string[] = [];
    const { guard } = answering(() => order.push('asked') && good, { open: async () => void order.push('opened') });
    expect(await Promise.all([call(guard), call(guard)])).toEqual([good, good]);
    expect(order).toEqual(['opened', 'asked', 'asked']);
  });

  it('asks a busy store again, within one time limit, and passes the last error on', async () => {
    let left = 3;
    const { guard, clock } = answering(() => (left-- > 0 ? Promise.reject(busy()) : good));
    const answered = follow(call(guard) as Promise<unknown>);
    await clock.advance(100);
    expect(answered).toMatchObject({ settled: true, value: good });

    left = Number.POSITIVE_INFINITY;
    const refused = follow(call(guard) as Promise<unknown>);
    await clock.advance(TIMEOUT - 100);
    expect(refused.settled).toBe(false);
    await clock.advance(100);
    expect(refused.reason).toMatchObject({ code: 'STORE_BUSY' });
    expect(clock.pendingTimers).toBe(0);
  });

  it('has a time limit, at which its signal is aborted', async () => {
    let given: AbortSignal | undefined;
    const { guard, clock } = answering((signal) => {
      given = signal;
      return new Promise(() => undefined);
    });
    const hanging = follow(call(guard) as Promise<unknown>);
    await clock.advance(TIMEOUT);
    expect(hanging.reason).toMatchObject({ code: 'COORDINATION_TIMEOUT', store: 'fake', operation: name });
    expect(given?.aborted).toBe(true);
  });

  it('is asked once where it fails for another reason, which is told with store, operation and cause', async () => {
    let asked = 0;
    const { guard } = answering(() => {
      asked += 1;
      return Promise.reject(new Error('ECONNREFUSED'));
    });
    await expect(call(guard)).rejects.toMatchObject({
      name: 'CoordinationError',
      code: 'COORDINATION_FAILED',
      store: 'fake',
      operation: name,
      cause: { message: 'ECONNREFUSED' },
    });
    expect(asked).toBe(1);
  });

  it('of a store that answers something else is an error', async () => {
    for (const answer of bad) {
      await expect(call(answering(() => answer).guard)).rejects.toMatchObject({
        code: 'COORDINATION_ANSWER',
        operation: name,
      });
    }
  });

  it('is asked after a drain has begun, and no more after closing, which waits for it', async () => {
    const answer = held<unknown>();
    let closed = false;
    const { guard, clock } = answering(() => answer.promise, {
      close: async () => {
        closed = true;
      },
    });
    await guard.open();
    guard.stopAsking();
    const asked = follow(call(guard) as Promise<unknown>);
    await clock.settle();
    const closing = guard.close();
    await expect(call(guard)).rejects.toMatchObject({ code: 'COORDINATION_STOPPED' });
    expect(closed).toBe(false);
    answer.answer(good);
    await closing;
    expect(asked.value).toEqual(good);
    expect(closed).toBe(true);
  });
});

it('a lease that another holds is null, and no error', async () => {
  const { guard } = answering(() => null);
  await expect(guard.leases?.acquire({ ...lease, ttlMs: 1 })).resolves.toBeNull();
});

it('what a backend does not have is absent, its claims work all the same', async () => {
  const { guard } = guarded({ claimer: granting });
  expect([guard.leases, guard.membership, await guard.lastFire(['a'])]).toEqual([undefined, undefined, undefined]);
  expect(word(await guard.claim(request('a')))).toBe('granted');
});
