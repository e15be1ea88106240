import { describe, expect, it } from '@jest/globals';
import Libsql from 'libsql';
import { VirtualClock } from '../testing/virtual-clock.js';
import { CLAIMS_KEPT_PER_ENTRY } from './claim-protocol.js';
import type { ClaimContext } from './claimer.js';
import { CoordinationError } from './coordination-error.js';
import { MemoryBackend } from './memory/memory-backend.js';
import { MemoryStore } from './memory/memory-store.js';
import { SqliteBackend } from './sqlite/sqlite-backend.js';
import type { SqliteDatabase } from './sqlite/sqlite-client.js';

// Small numbers, so that a walk of a few steps meets every border.
const SKEW = 2;
const RETENTION = 5;
const SETTINGS = { maxClockSkewMs: SKEW, retentionMs: RETENTION };
const START = 1_000;

const { signal } = new AbortController();

type Answer = 'early' | 'superseded' | 'paused' | boolean;

interface ModelRow {
  readonly id: string;
  readonly madeMs: number;
  /** It may still be taken over. */
  unfinished: boolean;
}

/** The rule of one entry as it was model-checked, line by line; then the bound on claims, the pause and what may be taken over, which came after it. */
class Model {
  readonly rows = new Map<number, ModelRow>();
  floor = Number.NEGATIVE_INFINITY;
  paused = false;

  claim(f: number, me: string, now: number, recoverable: boolean): Answer {
    this.remove((row) => row.madeMs < now - RETENTION);
    const row = this.rows.get(f);
    if (f > now + SKEW) return 'early';
    if (row !== undefined) return row.id === me;
    if (f <= this.floor) return 'superseded';
    if (this.paused) return 'paused';
    this.rows.set(f, { id: me, madeMs: now, unfinished: recoverable });
    const newest = new Set([...this.rows.keys()].sort((a, b) => b - a).slice(0, CLAIMS_KEPT_PER_ENTRY));
    this.remove((_, instant) => !newest.has(instant));
    return true;
  }

  finish(f: number, me: string): boolean {
    const row = this.rows.get(f);
    if (row === undefined || row.id !== me || !row.unfinished) return false;
    row.unfinished = false;
    return true;
  }

  private remove(goes: (row: ModelRow, instant: number) => boolean): void {
    const gone = [...this.rows].filter(([instant, row]) => !row.unfinished && goes(row, instant));
    for (const [instant] of gone) this.rows.delete(instant);
    this.floor = Math.max(this.floor, ...gone.map(([instant]) => instant));
  }
}

/** One step of a walk: a claim of a fire by a pass, or its end, the store's clock moved, or the entry paused or resumed. */
type Step =
  | { readonly f: number; readonly me: string; readonly recoverable?: boolean }
  | { readonly finish: number; readonly me: string }
  | { readonly clockBy: number }
  | { readonly pause: boolean };

/** A backend, asked as the model is. */
class Store {
  constructor(
    private readonly backend: MemoryBackend | SqliteBackend,
    /** Only a grant removes what is old. */
    readonly removesLate = false,
  ) {}

  async claim(context: ClaimContext): Promise<Answer> {
    const [answer] = await this.backend.claimer.claimMany([{ fireKey: '', context }]);
    return answer instanceof CoordinationError ? 'early' : (answer as Answer);
  }

  finish(f: number, claimId: string, namespace: string): Promise<boolean> {
    return this.backend.recovery.finish({ namespace, entryKey: 'entry', scheduledAt: new Date(f), claimId });
  }

  async pause(pause: boolean, namespace: string): Promise<void> {
    const { claimer } = this.backend;
    if (pause) await claimer.pause(namespace, 'entry');
    else await claimer.resume(namespace, 'entry', { keepWatermark: true });
  }
}

function memory(clock: VirtualClock): Store {
  const backend = new MemoryBackend({ store: new MemoryStore({ clock }) });
  backend.claimer.settings = SETTINGS;
  return new Store(backend);
}

/** Longer than any walk: nothing lapses. */
const holds = { recoveryTtlMs: 1_000_000 };

const contextOf = (f: number, me: string, namespace: string, recoverable = false): ClaimContext => ({
  namespace,
  entryKey: 'entry',
  scheduledAt: new Date(f),
  claimId: me,
  instanceId: 'one for all',
  schedule: 's',
  signal,
  ...(recoverable && { holds }),
});

/**
 * Runs the steps on model and store. With a clock that never goes back they agree on every answer. With one that does, a store that removes at its next grant (losers write
 * nothing) may keep a claim longer than the model: then they may differ in who is told superseded, never in that a fire is granted to one pass at most.
 */
async function compare(steps: readonly Step[], store: Store, clock: VirtualClock, namespace = 'n'): Promise<void> {
  const model = new Model();
  const granted = new Map<number, string>();
  let wentBack = false;
  for (const [i, step] of steps.entries()) {
    if ('clockBy' in step) {
      clock.step(step.clockBy);
      wentBack ||= step.clockBy < 0;
      continue;
    }
    if ('pause' in step) {
      model.paused = step.pause;
      await store.pause(step.pause, namespace);
      continue;
    }
    const where = () => `step ${i} of ${JSON.stringify(steps)}`;
    if ('finish' in step) {
      const expected = model.finish(step.finish, step.me);
      const answer = await store.finish(step.finish, step.me, namespace);
      if (!wentBack && expected !== answer) throw new Error(`expected ${expected}, got ${answer}, ${where()}`);
      continue;
    }
    const { f, me, recoverable = false } = step;
    const expected = model.claim(f, me, clock.now(), recoverable);
    const answer = await store.claim(contextOf(f, me, namespace, recoverable));
    if (answer === true) {
      if ((granted.get(f) ?? me) !== me) throw new Error(`fire ${f} was granted to two passes, ${where()}`);
      granted.set(f, me);
    }
    // Which of two words a refusal has depends on whether the claim was removed yet.
    const toldLater = isRefusal(expected) && isRefusal(answer) && granted.has(f);
    // Where nothing is written, nothing is removed: a store may find the pause before it has raised the floor.
    const same =
      expected === answer || toldLater || (store.removesLate && expected === 'superseded' && answer === 'paused');
    if (!wentBack && !same) throw new Error(`expected ${expected}, got ${answer}, ${where()}`);
  }
}

const isRefusal = (answer: Answer) => answer === false || answer === 'superseded' || answer === 'paused';

/** A generator that a seed repeats. */
function chance(seed: number) {
  let state = seed >>> 0;
  return (below: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

function walk(seed: number, length: number, clockMoves: readonly number[], spread = 12): Step[] {
  const below = chance(seed);
  return Array.from({ length }, (): Step => {
    if (below(4) === 0) return { clockBy: clockMoves[below(clockMoves.length)] as number };
    const [f, me] = [START - 4 + below(spread), `pass-${below(3)}`];
    const kind = below(12);
    if (kind < 2) return { finish: f, me };
    if (kind < 4) return { pause: below(3) === 0 };
    return { f, me, recoverable: kind < 7 };
  });
}

const FORWARD = [1, 2, 3, 6];
const BOTH_WAYS = [1, 3, 6, -1, -4, -9];

describe('the memory store and the model', () => {
  const claims: Step[] = [START - 3, START, START + 3].flatMap((f) => [
    { f, me: 'a' },
    { f, me: 'b' },
  ]);
  const clockMoves: Step[] = [{ clockBy: 3 }, { clockBy: 6 }, { clockBy: -4 }];
  const ofOneClaim: Step[] = [
    { f: START - 3, me: 'a', recoverable: true },
    { finish: START - 3, me: 'a' },
    { pause: true },
    { pause: false },
  ];

  it.each([
    {
      what: 'five steps over two passes, three fires and a clock that steps',
      length: 5,
      alphabet: [...claims, ...clockMoves],
    },
    {
      what: 'four steps, a claim that may be taken over and pauses among them',
      length: 4,
      alphabet: [...claims, ...clockMoves, ...ofOneClaim],
    },
  ])('agree on every walk of $what', async ({ length, alphabet }) => {
    for (let n = 0; n < alphabet.length ** length; n += 1) {
      const steps = Array.from(
        { length },
        (_, place) => alphabet[Math.floor(n / alphabet.length ** place) % alphabet.length] as Step,
      );
      const clock = new VirtualClock(START);
      await compare(steps, memory(clock), clock);
    }
  });

  it.each([
    ['forward', FORWARD],
    ['both ways', BOTH_WAYS],
  ])('agree on long random walks, the clock going %s', async (_, moves) => {
    for (let seed = 1; seed <= 400; seed += 1) {
      const clock = new VirtualClock(START);
      await compare(walk(seed, 80, moves), memory(clock), clock);
    }
  });

  it('agree where more instants are claimed than are kept', async () => {
    for (let seed = 1; seed <= 3; seed += 1) {
      const clock = new VirtualClock(START + 3_000);
      await compare(walk(seed, 3_000, [0], 3_000), memory(clock), clock);
    }
  });
});

describe('the SQLite store and the model', () => {
  async function onSqlite(work: (store: Store, clock: VirtualClock) => Promise<void>): Promise<void> {
    const clock = new VirtualClock(START);
    const database = new Libsql(':memory:') as unknown as SqliteDatabase & { close(): void };
    const backend = new SqliteBackend({ database, clock });
    await backend.open(SETTINGS);
    const store = new Store(backend, true);
    try {
      await work(store, clock);
    } finally {
      database.close();
    }
  }

  it.each([
    ['forward', FORWARD],
    ['both ways', BOTH_WAYS],
  ])('agree on long random walks, the clock going %s', async (_, moves) => {
    await onSqlite(async (store, clock) => {
      for (let seed = 1; seed <= 60; seed += 1) {
        clock.step(START - clock.now());
        await compare(walk(seed, 80, moves), store, clock, `walk ${seed}`);
      }
    });
  });

  it('agree where more instants are claimed than are kept', async () => {
    await onSqlite(async (store, clock) => {
      clock.step(3_000);
      await compare(walk(1, 3_000, [0], 3_000), store, clock);
    });
  });

  it('grants what the memory store grants where claims come in batches', async () => {
    await onSqlite(async (_store, clock) => {
      const database = new Libsql(':memory:') as unknown as SqliteDatabase & { close(): void };
      const sqlite = new SqliteBackend({ database, clock });
      const plain = new MemoryBackend({ store: new MemoryStore({ clock }) });
      await sqlite.open(SETTINGS);
      await plain.open(SETTINGS);
      const below = chance(7);
      for (let round = 0; round < 400; round += 1) {
        clock.step(FORWARD[below(FORWARD.length)] as number);
        const instants = new Set(Array.from({ length: 1 + below(6) }, () => clock.now() - 8 + below(12)));
        const claims = [...instants]
          .sort((a, b) => a - b)
          .map((f) => ({
            fireKey: '',
            context: contextOf(f, `pass-${below(2)}`, 'n'),
          }));
        // One word for both refusals: SQLite's losers only read, so an old claim may still stand there.
        const words = (answers: readonly unknown[]) =>
          answers.map((answer) => (answer instanceof CoordinationError ? answer.code : answer === true));
        expect(words(await sqlite.claimer.claimMany(claims))).toEqual(words(await plain.claimer.claimMany(claims)));
      }
      expect(await sqlite.claimer.lastFire('n', ['entry'])).toEqual(await plain.claimer.lastFire('n', ['entry']));
      database.close();
    });
  });
});
