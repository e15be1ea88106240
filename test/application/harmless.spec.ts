import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Injectable, type LoggerService } from '@nestjs/common';
import { DistributedCron, DistributedCronEvents } from 'nestjs-distributed-cron';
import { started } from './application.fixture.js';

/** What would have ended the process. Each test must leave it empty. */
const fatal: unknown[] = [];
const record = (error: unknown) => void fatal.push(error);

beforeAll(() => {
  process.on('unhandledRejection', record);
  process.on('uncaughtException', record);
});
afterAll(() => {
  process.off('unhandledRejection', record);
  process.off('uncaughtException', record);
});
afterEach(() => {
  expect(fatal.splice(0)).toEqual([]);
});

@Injectable()
class Sound {
  runs = 0;

  @DistributedCron('* * * * *', { key: 'sound' })
  run() {
    this.runs += 1;
  }
}

const unprintable = Object.create(null) as object;
const poisoned = Object.defineProperty(new Error('x'), 'message', {
  get: () => {
    throw new Error('even its message throws');
  },
});

describe('a method that', () => {
  it.each<[string, () => unknown, string]>([
    [
      'throws',
      () => {
        throw new Error('no paper');
      },
      'no paper',
    ],
    ['rejects', () => Promise.reject(new Error('no ink')), 'no ink'],
    ['rejects with undefined', () => Promise.reject(undefined), 'undefined'],
    ['rejects with null', () => Promise.reject(null), 'null'],
    ['rejects with what cannot be shown', () => Promise.reject(unprintable), 'something that cannot be shown as text'],
    [
      'throws an error that throws',
      () => {
        throw poisoned;
      },
      'something that cannot be shown as text',
    ],
    // biome-ignore lint/suspicious/noThenProperty: a promise of another make, and a bad one
    ['returns a thenable that throws', () => ({ then: () => JSON.parse('{') }), 'JSON'],
  ])('%s is logged with key and instant, and everything else goes on', async (_, run, message) => {
    class Broken {
      @DistributedCron('* * * * *', { key: 'broken' })
      run() {
        return run();
      }
    }
    const { app, clock, journal } = await started({ providers: [Broken, Sound] });
    await clock.advance(120_000);
    expect(app.get(Sound).runs).toBe(2);
    expect(journal.texts('error')).toEqual([
      expect.stringMatching(new RegExp(`^broken@2026-01-01T00:01:00Z failed after \\d+ ms: .*${message}`)),
      expect.stringMatching(new RegExp(`^broken@2026-01-01T00:02:00Z failed after \\d+ ms: .*${message}`)),
    ]);
    await app.close();
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('a subscriber that', () => {
  it.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('no disk');
      },
    ],
    ['rejects', async () => Promise.reject(new Error('no disk'))],
  ])('%s is logged, stays subscribed, and every fire goes on', async (_, receive) => {
    const { app, clock, journal } = await started({ providers: [Sound] });
    let received = 0;
    app.get(DistributedCronEvents).events$.subscribe((event) => {
      if (event.type !== 'fire.completed') return undefined;
      received += 1;
      return receive() as undefined;
    });
    await clock.advance(120_000);
    await clock.settle();
    expect(received).toBe(2);
    expect(app.get(Sound).runs).toBe(2);
    expect(journal.texts('error')).toEqual([
      "A subscriber of the scheduler's events threw: no disk",
      "A subscriber of the scheduler's events threw: no disk",
    ]);
    await app.close();
  });
});

describe('a logger of the application that throws', () => {
  class BrokenLogger implements LoggerService {
    private refuse(...rest: unknown[]): void {
      // Nest's own lines pass: what it does with a broken logger is its own affair.
      if (rest.at(-1) === 'DistributedCron') throw new Error('no log');
    }

    log(...rest: unknown[]) {
      this.refuse(...rest);
    }
    warn(...rest: unknown[]) {
      this.refuse(...rest);
    }
    error(...rest: unknown[]) {
      this.refuse(...rest);
    }
  }

  it('costs its lines and nothing else: start, fires and close', async () => {
    class Broken {
      @DistributedCron('* * * * *', { key: 'broken' })
      run() {
        throw new Error('no paper');
      }
    }
    const { app, clock, story } = await started({ providers: [Broken, Sound], logger: new BrokenLogger() });
    await clock.advance(120_000);
    await clock.settle();
    expect(app.get(Sound).runs).toBe(2);
    expect(story().filter((chapter) => chapter === 'failed')).toHaveLength(2);
    await app.close();
    expect(clock.pendingTimers).toBe(0);
  });
});

describe('a claimer or an elector that', () => {
  it.each<[string, () => Promise<boolean>, string]>([
    ['answers false', async () => false, 'skipped already-claimed'],
    ['answers undefined', async () => undefined as never, 'skipped claim-error'],
    ['answers 1', async () => 1 as never, 'skipped claim-error'],
    ['rejects', async () => Promise.reject(new Error('down')), 'skipped claim-error'],
    [
      'throws',
      () => {
        throw new Error('down');
      },
      'skipped claim-error',
    ],
  ])('%s lets no method run, and the event says why', async (_, claim, ending) => {
    const { app, clock, story } = await started({ options: { claimer: { claim } }, providers: [Sound] });
    await clock.advance(60_000);
    await clock.settle();
    expect(story()).toEqual([ending]);
    expect(app.get(Sound).runs).toBe(0);
    await app.close();
  });

  it('never answers ends the fire after one coordinationTimeout, and a late answer changes nothing', async () => {
    let answer: (granted: boolean) => void = () => undefined;
    const claim = () =>
      new Promise<boolean>((resolve) => {
        answer = resolve;
      });
    const { app, clock, story, journal } = await started({ options: { claimer: { claim } }, providers: [Sound] });
    await clock.advance(64_900);
    expect(story()).toEqual([]);
    await clock.advance(200);
    expect(story()).toEqual(['skipped claim-error']);
    expect(journal.texts('warn')).toEqual([
      expect.stringMatching(/^sound@2026-01-01T00:01:00Z was skipped here \(claim-error\): .*within 5000 ms/),
    ]);
    answer(true);
    await clock.settle();
    expect(app.get(Sound).runs).toBe(0);
    await app.close();
  });

  it('fails as an elector is an election-error', async () => {
    const elector = { isLeader: async () => Promise.reject(new Error('down')) };
    const { app, clock, story } = await started({
      options: { elector, claimer: { claim: async () => true } },
      providers: [Sound],
    });
    await clock.advance(60_000);
    expect(story()).toEqual(['skipped election-error']);
    await app.close();
  });
});
