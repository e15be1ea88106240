import { describe, expect, it } from '@jest/globals';
import type { Claimer } from '../coordination/claimer.js';
import { CoordinationError } from '../coordination/coordination-error.js';
import type { Elector } from '../coordination/elector.js';
import { entryOf, held, pipelineOf, yes } from './pipeline.fixture.js';

const TERMINAL = /^(completed|failed|rejected|canceled|skipped)/;

describe('pipeline', () => {
  describe('order of the stages', () => {
    it('local refusals, jitter, elector, claimer, method', async () => {
      const steps: string[] = [];
      const step = (name: string, answer: unknown) => {
        steps.push(name);
        return answer;
      };
      const { clock, send, events } = pipelineOf({
        random: { fraction: () => step('jitter', 0.5) as number },
        elector: { isLeader: async () => step('elector', true) as boolean },
        claimer: { claim: async () => step('claimer', true) as boolean },
      });
      const entry = entryOf(() => step('method', undefined), { jitterMs: 1_000 });
      send(entry);
      expect(entry.slots).toBe(1);
      await clock.advance(499);
      expect(steps).toEqual(['jitter']);
      await clock.advance(1);
      expect(steps).toEqual(['jitter', 'elector', 'claimer', 'method']);
      expect(events.map(({ type }) => type)).toEqual(['fire.started', 'fire.completed']);
      expect(entry.slots).toBe(0);
    });

    it.each([
      ['paused', {}, { paused: true }],
      ['overlap', { overlap: 'skip' }, { slots: 1 }],
      ['concurrency-limit', { maxConcurrent: 2 }, { slots: 2 }],
    ] as const)(
      'a fire that is refused as %s leaves elector and claimer to an idle replica',
      async (reason, policies, state) => {
        const asked: string[] = [];
        const { clock, send, story } = pipelineOf({
          random: { fraction: () => asked.push('jitter') },
          elector: { isLeader: () => asked.push('elector') > 0 },
          claimer: { claim: async () => asked.push('claimer') > 0 },
        });
        const entry = Object.assign(
          entryOf(() => asked.push('method'), { jitterMs: 5, ...policies }),
          state,
        );
        send(entry);
        await clock.advance(10);
        expect(story()).toEqual([`rejected ${reason}`]);
        expect(asked).toEqual([]);
        expect(entry.slots).toBe('slots' in state ? state.slots : 0);
      },
    );

    it('a replica that does not lead asks for no claim', async () => {
      let claimed = 0;
      const { clock, send, story } = pipelineOf({
        elector: { isLeader: () => false },
        claimer: { claim: async () => ++claimed > 0 },
      });
      send(entryOf(() => undefined));
      await clock.settle();
      expect(story()).toEqual(['skipped not-leader']);
      expect(claimed).toBe(0);
    });
  });

  describe('slots', () => {
    it('are reserved before the jitter wait: of two fires that find one slot, one waits and one is refused', async () => {
      const { clock, send, story } = pipelineOf({ claimer: yes });
      const entry = entryOf(() => undefined, { jitterMs: 1_000, maxConcurrent: 1 });
      send(entry);
      await clock.advance(10);
      send(entry);
      await clock.advance(1_000);
      expect(story()).toEqual(['rejected concurrency-limit', 'started', 'completed']);
      expect(entry.slots).toBe(0);
    });

    it.each(['allow', 'skip'] as const)('overlap %s, a method that runs, a second fire', async (overlap) => {
      const end = held<void>();
      const { clock, send, ofType, story } = pipelineOf();
      const entry = entryOf(() => end.promise, { overlap });
      send(entry);
      send(entry);
      await clock.settle();
      expect(ofType('fire.started')).toHaveLength(overlap === 'allow' ? 2 : 1);
      end.answer();
      await clock.settle();
      expect(entry.slots).toBe(0);
      send(entry);
      expect(story().at(-1)).toBe('started');
    });

    it('maxConcurrent runs so many at a time and refuses the rest', async () => {
      const end = held<void>();
      const { send, clock, story } = pipelineOf();
      const entry = entryOf(() => end.promise, { maxConcurrent: 3 });
      for (let i = 0; i < 5; i++) send(entry);
      expect(story()).toEqual([
        'started',
        'started',
        'started',
        'rejected concurrency-limit',
        'rejected concurrency-limit',
      ]);
      end.answer();
      await clock.settle();
      expect(entry.slots).toBe(0);
    });

    it('of one entry are not those of another', async () => {
      const { send, story } = pipelineOf();
      send(entryOf(() => new Promise(() => undefined), { overlap: 'skip' }, 'a'));
      send(entryOf(() => undefined, { overlap: 'skip' }, 'b'));
      expect(story()).toEqual(['started', 'started', 'completed']);
    });

    it('are free again after every way a fire can end', async () => {
      const error = new Error('no');
      const boom = () => {
        throw error;
      };
      const endings: [string, Parameters<typeof pipelineOf>[0], () => unknown][] = [
        ['completed', {}, () => 1],
        ['completed', {}, async () => 1],
        ['failed', {}, boom],
        ['failed', {}, async () => boom()],
        ['skipped', { elector: { isLeader: () => false } }, () => 1],
        ['skipped', { elector: { isLeader: boom } }, () => 1],
        ['skipped', { claimer: { claim: async () => false } }, () => 1],
        ['skipped', { claimer: { claim: boom } }, () => 1],
        ['failed', { random: { fraction: boom } }, () => 1],
      ];
      for (const [ending, options, run] of endings) {
        const { clock, send, story, pipeline } = pipelineOf(options);
        const entry = entryOf(run, { jitterMs: 'random' in options! ? 1_000 : 0 });
        send(entry);
        await clock.advance(1_000);
        expect(story().filter((line) => TERMINAL.test(line))).toEqual([expect.stringMatching(ending)]);
        expect(entry.slots).toBe(0);
        expect(pipeline.passes.size).toBe(0);
        expect(clock.pendingTimers).toBe(0);
      }
    });
  });

  describe('jitter', () => {
    it('only delays: the fire key holds the scheduled instant', async () => {
      const asked: unknown[] = [];
      const { clock, send, ofType } = pipelineOf({
        random: { fraction: () => 0.25 },
        claimer: {
          claim: async (key, { scheduledAt }) => {
            asked.push([key, scheduledAt.toISOString(), clock.now()]);
            return true;
          },
        },
      });
      const start = clock.now();
      send(entryOf(() => undefined, { jitterMs: 20_000 }));
      await clock.advance(20_000);
      expect(asked).toEqual([['job@2026-01-01T00:00:00Z', '2026-01-01T00:00:00.000Z', start + 5_000]]);
      expect(ofType('fire.started')[0]).toMatchObject({ latenessMs: 5_000, atMs: start + 5_000 });
    });

    it.each(['catch-up', 'manual', 'recovery'] as const)('a %s fire does not wait', async (origin) => {
      const { clock, send, story } = pipelineOf({ claimer: yes });
      send(
        entryOf(() => undefined, { jitterMs: 20_000 }),
        origin,
      );
      await clock.settle();
      expect(story()).toEqual(['started', 'completed']);
    });

    it('is waited for in monotonic time: a step of the wall clock shortens nothing', async () => {
      const { clock, send, story } = pipelineOf();
      send(entryOf(() => undefined, { jitterMs: 10_000 }));
      clock.step(3_600_000);
      await clock.advance(4_999);
      expect(story()).toEqual([]);
      await clock.advance(1);
      expect(story()).toEqual(['started', 'completed']);
    });

    it('is not begun after a drain began: nobody would be left to cut it', async () => {
      const { clock, send, story, drain } = pipelineOf();
      drain.draining = true;
      send(entryOf(() => undefined, { jitterMs: 10_000 }));
      await clock.settle();
      expect(story()).toEqual(['canceled draining']);
      expect(clock.pendingTimers).toBe(0);
    });
  });

  describe('elector', () => {
    it('that answers yes, no, yes: runs, skips, runs', async () => {
      const answers = [true, false, true];
      const { clock, send, story } = pipelineOf({ elector: { isLeader: async () => answers.shift() as boolean } });
      for (let i = 0; i < 3; i++) {
        send(entryOf(() => undefined));
        await clock.settle();
      }
      expect(story()).toEqual(['started', 'completed', 'skipped not-leader', 'started', 'completed']);
    });

    it.each<[string, () => unknown]>([
      ['nothing', () => undefined],
      ['null', () => null],
      ['a text', () => 'true'],
      ['one', () => 1],
      ['an object', () => ({})],
      ['a promise of nothing', async () => undefined],
      ['a promise of a text', async () => 'true'],
    ])('that answers %s: election-error, and the fire does not run', async (_, isLeader) => {
      const { clock, send, story, ofType } = pipelineOf({ elector: { isLeader } as Elector, claimer: yes });
      send(entryOf(() => undefined));
      await clock.settle();
      expect(story()).toEqual(['skipped election-error']);
      expect(ofType('fire.skipped')[0]).toMatchObject({ error: { code: 'COORDINATION_ANSWER' } });
    });

    it.each<[string, (error: Error) => boolean | Promise<boolean>]>([
      [
        'throws',
        (error) => {
          throw error;
        },
      ],
      ['rejects', (error) => Promise.reject(error)],
      [
        'answers a promise that cannot be read',
        (error) =>
          Object.defineProperty({}, 'then', {
            get() {
              throw error;
            },
          }) as Promise<boolean>,
      ],
    ])('that %s: election-error with what it threw', async (_, ask) => {
      const error = new Error('store');
      const { clock, send, story, ofType } = pipelineOf({ elector: { isLeader: () => ask(error) }, claimer: yes });
      send(entryOf(() => undefined));
      await clock.settle();
      expect(story()).toEqual(['skipped election-error']);
      expect(ofType('fire.skipped')[0]).toMatchObject({ error });
    });

    it('that never settles: election-error after coordinationTimeout, its signal aborted; a late yes changes nothing', async () => {
      const late = held<boolean>();
      let signal: AbortSignal | undefined;
      const elector: Elector = {
        isLeader: (context) => {
          signal = context.signal;
          return late.promise;
        },
      };
      const { clock, send, story, ofType } = pipelineOf({ elector, claimer: yes, coordinationTimeoutMs: 2_000 });
      const entry = entryOf(() => undefined);
      send(entry);
      await clock.advance(1_999);
      expect(story()).toEqual([]);
      await clock.advance(1);
      expect(story()).toEqual(['skipped election-error']);
      expect(ofType('fire.skipped')[0]).toMatchObject({ error: { code: 'COORDINATION_TIMEOUT' } });
      expect(signal?.aborted).toBe(true);
      late.answer(true);
      await clock.advance(60_000);
      expect(story()).toEqual(['skipped election-error']);
      expect(clock.pendingTimers).toBe(0);
    });

    it('is told whose fire it is asked for', async () => {
      let context: unknown;
      const { send } = pipelineOf({
        elector: {
          isLeader: (given) => {
            context = given;
            return false;
          },
        },
      });
      send(entryOf(() => undefined));
      expect(context).toMatchObject({
        namespace: 'shop',
        instanceId: 'replica-1',
        entryKey: 'job',
        fireKey: 'job@2026-01-01T00:00:00Z',
        scheduledAt: new Date('2026-01-01T00:00:00Z'),
        signal: expect.any(AbortSignal),
      });
    });
  });

  describe('claimer', () => {
    it('that answers false: already-claimed', async () => {
      const { clock, send, story, ofType } = pipelineOf({ claimer: { claim: async () => false } });
      send(entryOf(() => undefined));
      await clock.settle();
      expect(story()).toEqual(['skipped already-claimed']);
      expect(ofType('fire.skipped')[0]).toMatchObject({ superseded: false });
      expect('error' in ofType('fire.skipped')[0]!).toBe(false);
    });

    it('whose store says superseded: already-claimed, and that nobody has it', async () => {
      const claimer: Claimer = {
        claim: async () => false,
        claimMany: async (claims) => claims.map(() => 'superseded'),
      };
      const { clock, send, ofType } = pipelineOf({ claimer });
      send(entryOf(() => undefined));
      await clock.settle();
      expect(ofType('fire.skipped')).toMatchObject([{ reason: 'already-claimed', superseded: true }]);
    });

    it.each<[string, () => unknown, string]>([
      ['answers nothing', async () => undefined, 'COORDINATION_ANSWER'],
      ['answers a text', async () => 'true', 'COORDINATION_ANSWER'],
      ['answers one', async () => 1, 'COORDINATION_ANSWER'],
      ['rejects', () => Promise.reject(new Error('store')), 'COORDINATION_FAILED'],
      ['rejects with nothing', () => Promise.reject(undefined), 'COORDINATION_FAILED'],
      [
        'throws',
        () => {
          throw new Error('store');
        },
        'COORDINATION_FAILED',
      ],
    ])('that %s: claim-error at once, asked once, and the fire does not run', async (_, answer, code) => {
      let asked = 0;
      const claim = () => {
        asked += 1;
        return answer();
      };
      const { clock, send, story, ofType } = pipelineOf({ claimer: { claim } as Claimer });
      send(entryOf(() => undefined));
      await clock.settle();
      expect(story()).toEqual(['skipped claim-error']);
      expect(ofType('fire.skipped')[0]).toMatchObject({ error: { code } });
      expect(ofType('fire.skipped')[0]).toMatchObject({ error: expect.any(CoordinationError) });
      await clock.advance(120_000);
      expect(asked).toBe(1);
    });

    it.each([
      ['of the user: after one coordinationTimeout', false, 5_000],
      ['that may be asked again: after claimPatience', true, 30_000],
    ])('that never settles, %s; a late yes changes nothing', async (_, repeatable, ms) => {
      const late = held<boolean>();
      const { clock, send, story } = pipelineOf({ claimer: { claim: () => late.promise, repeatable } });
      const entry = entryOf(() => undefined);
      send(entry);
      await clock.advance(ms - 1);
      expect(story()).toEqual([]);
      expect(entry.slots).toBe(1);
      await clock.advance(1);
      expect(story()).toEqual(['skipped claim-error']);
      late.answer(true);
      await clock.advance(120_000);
      expect(story()).toEqual(['skipped claim-error']);
      expect(entry.slots).toBe(0);
      expect(clock.pendingTimers).toBe(0);
    });

    it('that may be asked again is waited for no longer than until the next instant of the entry', async () => {
      const { clock, send, story } = pipelineOf({
        claimer: { claim: () => Promise.reject(new Error('down')), repeatable: true },
      });
      const entry = Object.assign(
        entryOf(() => undefined),
        { nextAtMs: clock.now() + 3_000 },
      );
      send(entry);
      await clock.advance(2_999);
      expect(story()).toEqual([]);
      await clock.advance(1);
      expect(story()).toEqual(['skipped claim-error']);
    });

    it('is asked with a claim id of its own at every pass, and with the same one when asked again', async () => {
      const ids: string[] = [];
      let down = true;
      const { clock, send, story } = pipelineOf({
        claimer: {
          repeatable: true,
          claim: async (_, { claimId }) => {
            ids.push(claimId);
            if (down) throw new Error('lost reply');
            return true;
          },
        },
      });
      send(entryOf(() => undefined));
      await clock.settle();
      down = false;
      await clock.advance(2_000);
      send(entryOf(() => undefined));
      await clock.settle();
      expect(ids).toEqual(['claim-1', 'claim-1', 'claim-2']);
      expect(story()).toEqual(['started', 'completed', 'started', 'completed']);
    });

    it.each([
      ['removed', (entry: ReturnType<typeof entryOf>) => Object.assign(entry, { generation: 1, removed: true })],
      ['updated', (entry: ReturnType<typeof entryOf>) => Object.assign(entry, { generation: 1 })],
      ['draining', (_: unknown, drain: { draining: boolean }) => Object.assign(drain, { draining: true })],
    ] as const)('is not asked after the entry was removed or updated, or a drain began: %s', async (reason, change) => {
      const leads = held<boolean>();
      let asked = 0;
      const { clock, send, story, drain } = pipelineOf({
        elector: { isLeader: () => leads.promise },
        claimer: { claim: async () => ++asked > 0 },
      });
      const entry = entryOf(() => undefined);
      send(entry);
      change(entry, drain);
      leads.answer(true);
      await clock.settle();
      expect(story()).toEqual([`canceled ${reason}`]);
      expect(asked).toBe(0);
      expect(entry.slots).toBe(0);
    });

    it('that grants after the entry was removed, or a drain began: the fire runs, since its claim is spent', async () => {
      const answer = held<boolean>();
      const { clock, send, story, drain } = pipelineOf({ claimer: { claim: () => answer.promise } });
      const entry = entryOf(() => undefined);
      send(entry);
      await clock.settle();
      Object.assign(entry, { generation: 1, removed: true });
      drain.draining = true;
      answer.answer(true);
      await clock.settle();
      expect(story()).toEqual(['started', 'completed']);
    });

    it('that grants after the drain deadline: the fire fails without having started, and says why', async () => {
      const answer = held<boolean>();
      const { clock, send, story, drain, ofType } = pipelineOf({ claimer: { claim: () => answer.promise } });
      send(entryOf(() => undefined));
      await clock.settle();
      Object.assign(drain, { draining: true, outOfTime: true });
      answer.answer(true);
      await clock.settle();
      expect(story()).toEqual(['failed']);
      expect(ofType('fire.failed')[0]?.error).toMatchObject({ code: 'DRAIN_DEADLINE' });
    });
  });

  describe('manual fires', () => {
    it('ask neither jitter, elector nor claimer, and work while the entry is paused', () => {
      const asked: string[] = [];
      const { send, story } = pipelineOf({
        random: { fraction: () => asked.push('jitter') },
        elector: { isLeader: () => asked.push('elector') < 0 },
        claimer: { claim: async () => asked.push('claimer') < 0 },
      });
      send(
        Object.assign(
          entryOf(() => undefined, { jitterMs: 1_000 }),
          { paused: true },
        ),
        'manual',
      );
      expect(story()).toEqual(['started', 'completed']);
      expect(asked).toEqual([]);
    });

    it.each([
      ['overlap', { overlap: 'skip' }],
      ['concurrency-limit', { maxConcurrent: 1 }],
    ] as const)('are refused by %s', (reason, policies) => {
      const { send, story } = pipelineOf();
      send(
        Object.assign(
          entryOf(() => undefined, policies),
          { slots: 1 },
        ),
        'manual',
      );
      expect(story()).toEqual([`rejected ${reason}`]);
    });
  });

  it('every event of a fire carries the same fire object, the replica and its clock', async () => {
    const { clock, send, events } = pipelineOf({ claimer: yes });
    const { fire } = send(entryOf(async () => undefined));
    await clock.settle();
    expect(events).toHaveLength(2);
    for (const event of events) {
      expect('fire' in event && event.fire).toBe(fire);
      expect(event).toMatchObject({ instanceId: 'replica-1', atMs: clock.now() });
    }
  });

  it('is idle when nothing waits or runs, and not before', async () => {
    const end = held<void>();
    const { clock, send, pipeline } = pipelineOf({ claimer: yes });
    await pipeline.idle();
    send(entryOf(() => end.promise));
    let idle = false;
    void pipeline.idle().then(() => {
      idle = true;
    });
    await clock.advance(1_000);
    expect(idle).toBe(false);
    expect(pipeline.passes.size).toBe(1);
    end.answer();
    await clock.settle();
    expect(idle).toBe(true);
    expect(pipeline.passes.size).toBe(0);
  });
});

it('a claim that was requested and not yet asked when the drain starts is canceled, not a claim-error', async () => {
  const asked: string[] = [];
  const { clock, claims, send, story } = pipelineOf({ claimer: { claim: async (key) => asked.push(key) > 0 } });
  send(entryOf(() => {}));
  // The claim is at the desk, which still collects those of its turn.
  await undefined;
  await undefined;
  claims?.stopAsking();
  await clock.settle();
  expect([asked, story()]).toEqual([[], ['canceled draining']]);
});
