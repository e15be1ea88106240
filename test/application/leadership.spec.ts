import { describe, expect, it } from '@jest/globals';
import { DistributedCron, ELECTOR, type Elector, MemoryBackend, MemoryStore } from 'nestjs-distributed-cron';
import { VirtualClock } from 'nestjs-distributed-cron/testing';
import { refused, started } from './application.fixture.js';

const TTL = 30_000;

function reports() {
  const runs: string[] = [];
  const of = (name: string) => {
    class Reports {
      @DistributedCron('* * * * *', { key: 'report' })
      run() {
        runs.push(name);
      }
    }
    return Reports;
  };
  return { runs, of };
}

/** Replicas on one store and one clock; only the one that leads asks for claims. */
async function fleet(...names: readonly string[]) {
  const clock = new VirtualClock();
  const store = new MemoryStore({ clock });
  const { runs, of } = reports();
  const replicas = [];
  for (const name of names) {
    const options = { backend: new MemoryBackend({ store }), leadership: true };
    replicas.push(await started({ clock, options, providers: [of(name)] }));
    await clock.settle();
  }
  return { clock, runs, replicas };
}

describe('with leadership: true', () => {
  it('the one replica that leads runs every fire, and the others say not-leader', async () => {
    const { clock, runs, replicas } = await fleet('a', 'b', 'c');
    await clock.advance(5 * 60_000);
    expect(runs).toEqual(['a', 'a', 'a', 'a', 'a']);
    for (const { ofType } of replicas.slice(1)) {
      expect(ofType('fire.skipped').map(({ reason }) => reason)).toEqual(Array(5).fill('not-leader'));
    }
    expect(replicas.map(({ ofType }) => ofType('leadership.gained').length)).toEqual([1, 0, 0]);
    await Promise.all(replicas.map(({ app }) => app.close()));
    expect(clock.pendingTimers).toBe(0);
  });

  it('a leader that drains hands over before the next fire, while its method still runs', async () => {
    const clock = new VirtualClock();
    const store = new MemoryStore({ clock });
    const runs: string[] = [];
    let end = () => {};
    class Slow {
      @DistributedCron('* * * * *', { key: 'report' })
      run() {
        runs.push('a');
        return new Promise<void>((resolve) => {
          end = resolve;
        });
      }
    }
    class Quick {
      @DistributedCron('* * * * *', { key: 'report' })
      run() {
        runs.push('b');
      }
    }
    const options = () => ({ backend: new MemoryBackend({ store }), leadership: true, drainDeadline: '5m' });
    const a = await started({ clock, options: options(), providers: [Slow] });
    await clock.settle();
    const b = await started({ clock, options: options(), providers: [Quick] });
    await clock.advance(60_000);
    const closed = a.app.close();
    await clock.advance(60_000);
    expect(runs).toEqual(['a', 'b']);
    expect(a.ofType('leadership.lost').map(({ reason }) => reason)).toEqual(['resigned']);
    end();
    await clock.settle();
    await closed;
    await b.app.close();
  });

  it('the elector that is injected is the lease, so that other work of the leader can ask it', async () => {
    const { clock, replicas } = await fleet('a', 'b');
    const electors = replicas.map(({ app }) => app.get<Elector>(ELECTOR));
    expect(await Promise.all(electors.map((elector) => elector.isLeader({} as never)))).toEqual([true, false]);
    await Promise.all(replicas.map(({ app }) => app.close()));
    expect(clock.pendingTimers).toBe(0);
  });

  it('the start log says that leadership is on, and the log says who leads', async () => {
    const { replicas } = await fleet('a');
    expect(replicas[0]?.journal.texts('log')).toEqual(
      expect.arrayContaining([expect.stringContaining('leadership on'), 'leads now (term 1)']),
    );
    await replicas[0]?.app.close();
  });

  it.each([
    ['no backend', {}, 'a backend with leases'],
    ['a backend without leases', { backend: { store: 'own', claimer: { claim: async () => true } } }, '"own"'],
    ['an elector beside it', { backend: new MemoryBackend(), elector: { isLeader: () => true } }, 'not both'],
    [
      'a lease too short for its renewals',
      { backend: new MemoryBackend(), leaseTtl: TTL / 2, coordinationTimeout: 10_000 },
      'three times coordinationTimeout',
    ],
  ])('%s is refused at start', async (_, options, message) => {
    expect((await refused({ options: { ...options, leadership: true } })).message).toContain(message);
  });
});

describe('a claimer of an entry', () => {
  it('is asked in place of the module’s; null lets each replica run the entry', async () => {
    const asked: string[] = [];
    const claimer = {
      claim: async (key: string) => {
        asked.push(key);
        return false;
      },
    };
    class Jobs {
      @DistributedCron('* * * * *', { key: 'module' })
      module() {}
      @DistributedCron('* * * * *', { key: 'own', claimer })
      own() {}
      @DistributedCron('* * * * *', { key: 'each', claimer: null })
      each() {}
    }
    const store = new MemoryStore({ clock: new VirtualClock() });
    const { app, clock, ofType } = await started({
      clock: store.clock as VirtualClock,
      options: { backend: new MemoryBackend({ store }) },
      providers: [Jobs],
    });
    await clock.advance(60_000);
    expect(asked).toEqual(['own@2026-01-01T00:01:00Z']);
    expect(
      ofType('fire.completed')
        .map(({ fire }) => fire.entryKey)
        .sort(),
    ).toEqual(['each', 'module']);
    expect(ofType('fire.skipped').map(({ fire, reason }) => [fire.entryKey, reason])).toEqual([
      ['own', 'already-claimed'],
    ]);
    await app.close();
    expect(clock.pendingTimers).toBe(0);
  });

  it('that cannot claim is refused at start', async () => {
    class Jobs {
      @DistributedCron('* * * * *', { key: 'own', claimer: {} as never })
      own() {}
    }
    expect((await refused({ providers: [Jobs] })).message).toContain('claim() method');
  });
});
