import { describe, expect, it } from '@jest/globals';
import {
  type Claim,
  DistributedCronRegistry,
  MemoryBackend,
  MemoryStore,
  StaticMembership,
} from 'nestjs-distributed-cron';
import { VirtualClock } from 'nestjs-distributed-cron/testing';
import { refused, started } from './application.fixture.js';

const ENTRIES = 300;

/** Counts what goes to the store: calls, claims, and how many of a replica's claims are granted. */
class CountedBackend extends MemoryBackend {
  readonly calls: number[] = [];
  asked = 0;
  granted = 0;

  constructor(store: MemoryStore) {
    super({ store });
    const { claimer } = this;
    const claimMany = claimer.claimMany.bind(claimer);
    claimer.claimMany = async (claims: readonly Claim[]) => {
      this.calls.push(claims.length);
      const answers = await claimMany(claims);
      this.asked += answers.length;
      this.granted += answers.filter((answer) => answer === true).length;
      return answers;
    };
  }
}

/** Replicas on one clock and one store, each with the same entries, all due every 10 s. */
async function fleet(count: number, placement: 'any' | 'spread') {
  const clock = new VirtualClock();
  const store = new MemoryStore({ clock });
  const replicas: (Awaited<ReturnType<typeof started>> & {
    readonly backend: CountedBackend;
    readonly ran: string[];
  })[] = [];
  for (let index = 0; index < count; index++) {
    const backend = new CountedBackend(store);
    const ran: string[] = [];
    const it = await started({ clock, options: { backend, placement, memberName: `replica-${index}` } });
    const registry = it.app.get(DistributedCronRegistry);
    for (let entry = 0; entry < ENTRIES; entry++) {
      registry.add(`entry-${entry}`, '*/10 * * * * *', ({ fireKey }) => void ran.push(fireKey));
    }
    replicas.push({ ...it, backend, ran });
  }
  // Each sees all the others after one heartbeat.
  await clock.advance(5_000);
  return { clock, replicas, close: () => Promise.all(replicas.map(({ app }) => app.close())) };
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

describe("placement: 'spread'", () => {
  it('gives each of three replicas a quarter to two fifths of the fires, and nearly every first ask wins, in one call a turn', async () => {
    const { clock, replicas, close } = await fleet(3, 'spread');
    await clock.advance(101_000);
    const total = sum(replicas.map(({ ran }) => ran.length));
    expect(total).toBe(10 * ENTRIES);
    for (const { ran } of replicas) {
      expect(ran.length / total).toBeGreaterThan(0.25);
      expect(ran.length / total).toBeLessThan(0.42);
    }
    // Ten turns of homes, ten of those that ask later.
    for (const { backend } of replicas) expect(backend.calls.length).toBeLessThanOrEqual(20);
    const firstAsks = replicas.map(({ backend }) => backend.calls.filter((_, turn) => turn % 2 === 0));
    expect(sum(firstAsks.flat())).toBe(total);
    expect(sum(replicas.map(({ backend }) => backend.granted))).toBe(total);
    await close();
    expect(clock.pendingTimers).toBe(0);
  });

  it('when a home is gone, its fires run elsewhere takeoverAfter later: none is lost, none doubled', async () => {
    const { clock, replicas, close } = await fleet(3, 'spread');
    await clock.advance(10_000);
    // Killed: it neither drains nor beats again.
    const [dead, ...others] = replicas;
    dead!.backend.claimer.claimMany = () => new Promise(() => {});
    dead!.backend.membership.heartbeat = () => new Promise(() => {});
    const before = sum(replicas.map(({ ran }) => ran.length));
    const late: number[] = [];
    for (const { app } of others) {
      const registry = app.get(DistributedCronRegistry);
      for (let entry = 0; entry < ENTRIES; entry++) {
        registry.update(`entry-${entry}`, {
          run: ({ scheduledAt }) => void late.push(clock.now() - scheduledAt.getTime()),
        });
      }
    }
    await clock.advance(4_000 + 30_000);
    const inLastTurns = late.length;
    expect(inLastTurns).toBe(3 * ENTRIES);
    expect(new Set(late)).toEqual(new Set([0, 2_000]));
    expect(before).toBeGreaterThan(0);
    await Promise.all(others.map(({ app }) => app.close()));
    void close;
  });

  it.each([
    ['leadership', { backend: new MemoryBackend(), leadership: true }, 'leadership: true'],
    ['an elector', { backend: new MemoryBackend(), elector: { isLeader: () => true } }, 'an elector'],
    ['no claimer', { membership: new StaticMembership(['a']) }, 'a claimer beside'],
    ['no members', { claimer: { claim: async () => true } }, 'members beside'],
    ['a takeover as long as the retention', { backend: new MemoryBackend(), takeoverAfter: '1h' }, 'below retention'],
  ])('is refused with %s', async (_, options, message) => {
    const { DistributedCron } = await import('nestjs-distributed-cron');
    class Jobs {
      @DistributedCron('* * * * *', { key: 'job', placement: 'spread' })
      run() {}
    }
    expect((await refused({ options, providers: [Jobs] })).message).toContain(message);
  });
});
