import { describe, expect, test } from '@jest/globals';
import { VirtualClock } from '../testing/virtual-clock.js';
import { CoordinationError } from './coordination-error.js';
import { SETTINGS } from './fixtures/guarded.js';
import { GuardedBackend } from './guarded-backend.js';
import { LeaseElector } from './lease-elector.js';
import type { LeaseStore } from './lease-store.js';
import { MemoryLeases } from './memory/memory-leases.js';
import { MemoryStore } from './memory/memory-store.js';

const TTL = 30_000;
const TIMEOUT = 5_000;

/** Stands between one candidate and the store, and loses what it is told to. */
class Path implements LeaseStore {
  cut = false;
  /** Requests arrive, replies do not. */
  repliesLost = false;
  slowMs = 0;

  constructor(
    private readonly leases: LeaseStore,
    private readonly clock: VirtualClock,
  ) {}

  acquire: LeaseStore['acquire'] = (...args) => this.via(() => this.leases.acquire(...args));
  renew: LeaseStore['renew'] = (...args) => this.via(() => this.leases.renew(...args));
  release: LeaseStore['release'] = (...args) => this.via(() => this.leases.release(...args));
  read: LeaseStore['read'] = (...args) => this.via(() => this.leases.read(...args));

  private async via<T>(call: () => Promise<T>): Promise<T> {
    if (this.cut) return new Promise(() => {});
    const answer = await call();
    if (this.repliesLost) return new Promise(() => {});
    if (this.slowMs > 0) await new Promise<void>((resolve) => this.clock.setTimer(resolve, this.slowMs));
    return answer;
  }
}

/** One machine: candidates on it share a wall clock and stall together; the store has a clock of its own. */
function setUp() {
  const storeClock = new VirtualClock();
  const store = new MemoryStore({ clock: storeClock });
  const candidate = (instanceId: string, clock = storeClock) => {
    const path = new Path(new MemoryLeases(store), clock);
    const terms: string[] = [];
    const ambient = { clock, random: { fraction: () => 0.5, uuid: () => instanceId } };
    const backend = { store: 'memory', claimer: { claim: async () => true }, leases: path };
    const { leases } = new GuardedBackend(backend, { ...SETTINGS, coordinationTimeoutMs: TIMEOUT }, ambient);
    const elector = new LeaseElector(
      leases as NonNullable<typeof leases>,
      { namespace: 'shop', instanceId, leaseTtlMs: TTL },
      ambient,
      {
        gained: (token) => terms.push(`gained ${token}`),
        lost: (token, reason) => terms.push(`lost ${token} ${reason}`),
      },
    );
    elector.start();
    return { elector, path, terms };
  };
  return { clock: storeClock, candidate };
}

const leads = (elector: LeaseElector) => elector.isLeader().catch((error: CoordinationError) => error.code);

describe('leadership by lease', () => {
  test('of several candidates one leads, and it keeps leading while its renewals arrive', async () => {
    const { clock, candidate } = setUp();
    const [a, b, c] = ['a', 'b', 'c'].map((id) => candidate(id)) as [
      ReturnType<typeof candidate>,
      ReturnType<typeof candidate>,
      ReturnType<typeof candidate>,
    ];
    await clock.advance(10 * TTL);
    expect(await Promise.all([a, b, c].map(({ elector }) => leads(elector)))).toEqual([true, false, false]);
    expect([a.terms, b.terms, c.terms]).toEqual([['gained 1'], [], []]);
  });

  test('a leader that cannot reach the store leads no more before its lease ends, and the other leads after it', async () => {
    const { clock, candidate } = setUp();
    const a = candidate('a');
    await clock.settle();
    const b = candidate('b');
    await clock.settle();
    a.path.cut = true;
    await clock.advance(TTL * 0.8 - 1);
    expect([await leads(a.elector), await leads(b.elector)]).toEqual([true, false]);
    await clock.advance(2);
    const asked = leads(a.elector);
    await clock.advance(TIMEOUT);
    expect(await asked).toBe('COORDINATION_TIMEOUT');
    await clock.advance(TTL);
    expect(await leads(b.elector)).toBe(true);
    expect([a.terms, b.terms]).toEqual([['gained 1', 'lost 1 lapsed'], ['gained 2']]);
  });

  test('a renewal whose reply is lost does not extend belief', async () => {
    const { clock, candidate } = setUp();
    const a = candidate('a');
    await clock.settle();
    a.path.repliesLost = true;
    await clock.advance(TTL * 0.8 + 1);
    const asked = leads(a.elector);
    await clock.advance(TIMEOUT);
    expect(await asked).toBe('COORDINATION_TIMEOUT');
  });

  test('a renewal that was long under way extends belief from when it was sent, not from when it was answered', async () => {
    const { clock, candidate } = setUp();
    const a = candidate('a');
    await clock.settle();
    a.path.slowMs = TIMEOUT - 1_000;
    await clock.advance(TTL / 3 + TIMEOUT);
    a.path.cut = true;
    // Sent at a third of the lease: believed until 34 s, whatever the answer took.
    await clock.advance(TTL / 3 + TTL * 0.8 - clock.monotonic() - 1);
    expect(await leads(a.elector)).toBe(true);
    await clock.advance(2);
    const asked = leads(a.elector);
    await clock.advance(TIMEOUT);
    expect(await asked).toBe('COORDINATION_TIMEOUT');
  });

  test('one failed renewal is tried again well before the lease ends', async () => {
    const { clock, candidate } = setUp();
    const a = candidate('a');
    await clock.settle();
    a.path.cut = true;
    await clock.advance(TTL / 3 + 1);
    a.path.cut = false;
    await clock.advance(10 * TTL);
    expect(a.terms).toEqual(['gained 1']);
  });

  test('a leader that stalled past its lease answers not-leader when it wakes, and neither renews nor releases the next term', async () => {
    const { clock, candidate } = setUp();
    const stalled = new VirtualClock();
    const a = candidate('a', stalled);
    await stalled.settle();
    const b = candidate('b');
    // The process of a stands still: its timers do not ring while the store's clock goes on.
    await clock.advance(2 * TTL);
    expect(await leads(b.elector)).toBe(true);
    await stalled.suspend(2 * TTL);
    expect(await leads(a.elector)).toBe(false);
    await a.elector.resign();
    await clock.advance(TTL);
    expect(await leads(b.elector)).toBe(true);
    expect(b.terms).toEqual(['gained 2']);
  });

  test('a wall clock that jumps ahead ends belief until the store has confirmed it', async () => {
    const { clock, candidate } = setUp();
    const own = new VirtualClock();
    const a = candidate('a', own);
    await own.settle();
    a.path.cut = true;
    own.step(TTL);
    const asked = leads(a.elector);
    await own.advance(TIMEOUT);
    expect(await asked).toBe('COORDINATION_TIMEOUT');
    a.path.cut = false;
    await own.advance(TIMEOUT);
    expect(await leads(a.elector)).toBe(true);
    expect(clock.now()).toBeLessThan(own.now());
  });

  test('two candidates of one host and pid are two identities', async () => {
    const { clock, candidate } = setUp();
    const [a, b] = [candidate('instance-1'), candidate('instance-2')];
    await clock.advance(TTL);
    expect([await leads(a.elector), await leads(b.elector)]).toEqual([true, false]);
  });

  test('a clean resignation hands over within a second; after a crash the gap is one lease and a second', async () => {
    const { clock, candidate } = setUp();
    const a = candidate('a');
    await clock.settle();
    const b = candidate('b');
    await a.elector.resign();
    await clock.advance(1_000);
    expect([await leads(a.elector), await leads(b.elector)]).toEqual([false, true]);
    const c = candidate('c');
    await clock.settle();
    b.path.cut = true;
    await clock.advance(TTL + 1_000);
    expect(await leads(c.elector)).toBe(true);
  });

  test('a lease that is granted after the candidate resigned is given back', async () => {
    const { clock, candidate } = setUp();
    const a = candidate('a');
    a.path.slowMs = 100;
    const resigned = a.elector.resign();
    await clock.advance(200);
    await resigned;
    const b = candidate('b');
    await clock.advance(1_000);
    expect(await leads(b.elector)).toBe(true);
    await b.elector.resign();
    expect(clock.pendingTimers).toBe(0);
  });

  test('the answer is from memory: a leader that is asked a thousand times asks the store nothing', async () => {
    const { clock, candidate } = setUp();
    const a = candidate('a');
    await clock.settle();
    a.path.cut = true;
    const answers = await Promise.all(Array.from({ length: 1_000 }, () => a.elector.isLeader()));
    expect(new Set(answers)).toEqual(new Set([true]));
  });
});

test('says whether it leads without asking, and calls back at the beginning of each term', async () => {
  const { candidate, clock } = setUp();
  const { elector, path } = candidate('a');
  let terms = 0;
  elector.onGained(() => {
    expect(elector.leads).toBe(true);
    terms += 1;
  });
  expect(elector.leads).toBe(false);
  await clock.settle();
  expect([elector.leads, terms]).toEqual([true, 1]);
  await clock.advance(TTL);
  expect([elector.leads, terms]).toEqual([true, 1]);
  path.cut = true;
  await clock.advance(TTL);
  expect([elector.leads, terms]).toEqual([false, 1]);
  path.cut = false;
  await clock.advance(TTL);
  expect([elector.leads, terms]).toEqual([true, 2]);
});
