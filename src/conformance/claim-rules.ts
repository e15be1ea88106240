import { deepStrictEqual, equal, ok, rejects } from 'node:assert/strict';
import { CLAIMS_KEPT_PER_ENTRY, DEFAULT_CLAIM_PROTOCOL } from '../coordination/claim-protocol.js';
import type { Claimer } from '../coordination/claimer.js';
import { ask, claim, claimMany, isSuperseded, lastFireIs, MINUTE, outcome, signal } from './asking.js';
import type { Capability } from './capabilities.js';
import type { MovableClock } from './movable-clock.js';

/** An empty store, made anew for each rule. */
export interface ClaimProtocolStore {
  /** The store's clock; rules move it. */
  readonly clock: MovableClock;
  /** The claimer of a further replica on the same store, open, with the default settings. */
  replica(): Promise<Claimer>;
  close(): Promise<void>;
}

export interface ClaimProtocolRule {
  readonly rule: string;
  /** What a backend must declare for the rule to hold for it; without it the rule holds for every claimer. */
  readonly needs?: readonly Capability[];
  /** The rule moves the clock, on or back. */
  readonly moves?: boolean;
  readonly check: (store: ClaimProtocolStore) => Promise<void>;
}

const { maxClockSkewMs: SKEW, retentionMs: RETENTION } = DEFAULT_CLAIM_PROTOCOL;
/** What DESIGN 6 says of claims, one rule each. Checks throw; any test runner can run them. */
export const CLAIM_PROTOCOL_RULES: readonly ClaimProtocolRule[] = [
  {
    rule: 'ten replicas that claim one fire at once: one is granted, nine are refused',
    check: async ({ replica, clock }) => {
      const replicas = await Promise.all(Array.from({ length: 10 }, replica));
      const at = clock.now();
      const answers = await Promise.all(
        replicas.map((claimer, i) => claim(claimer, ask(at, `pass-${i}`, { instanceId: `replica-${i}` }))),
      );
      deepStrictEqual(answers.filter((answer) => answer === true).length, 1);
      deepStrictEqual(answers.filter((answer) => answer === false).length, 9);
    },
  },
  {
    rule: 'different instants of one entry never lose to each other, in whatever order they come',
    check: async ({ replica, clock }) => {
      const [a, b] = [await replica(), await replica()];
      const at = clock.now();
      for (const [i, minute] of [5, 1, 3, 4, 2].entries()) {
        equal(await claim(i % 2 === 0 ? a : b, ask(at - minute * MINUTE, `pass-${minute}`)), true);
      }
    },
  },
  {
    rule: 'another pass is refused, by whichever replica, with the literal false',
    check: async ({ replica, clock }) => {
      const [a, b] = [await replica(), await replica()];
      const at = clock.now();
      equal(await claim(a, ask(at, 'pass-1')), true);
      equal(await claim(a, ask(at, 'pass-2')), false);
      equal(await claim(b, ask(at, 'pass-3', { instanceId: 'replica-2' })), false);
    },
  },
  {
    rule: 'the same pass asked again is granted again, whichever replica carries the question',
    needs: ['repeatable'],
    check: async ({ replica, clock }) => {
      const [a, b] = [await replica(), await replica()];
      const at = clock.now();
      equal(await claim(a, ask(at, 'pass-1')), true);
      equal(await claim(a, ask(at, 'pass-1')), true);
      equal(await claim(b, ask(at, 'pass-1')), true);
      equal(await outcome(b, ask(at, 'pass-1')), true);
    },
  },
  {
    rule: 'the same replica with a new claim id is refused',
    needs: ['repeatable'],
    check: async ({ replica, clock }) => {
      const a = await replica();
      const at = clock.now();
      equal(await claim(a, ask(at, 'pass-1')), true);
      equal(await claim(a, ask(at, 'pass-2')), false);
      equal(await outcome(a, ask(at, 'pass-2')), false);
      equal(await claim(a, ask(at, 'pass-1')), true);
    },
  },
  {
    rule: 'a batch is answered in the order of its claims',
    needs: ['claimMany'],
    check: async ({ replica, clock }) => {
      const [a, b] = [await replica(), await replica()];
      const at = clock.now();
      for (const entryKey of ['b', 'd']) equal(await claim(a, ask(at, 'theirs', { entryKey })), true);
      const keys = ['d', 'a', 'e', 'b', 'c'];
      const answers = await claimMany(
        b,
        keys.map((entryKey) => ask(at, `ours-${entryKey}`, { entryKey })),
      );
      deepStrictEqual(answers, [false, true, true, false, true]);
    },
  },
  {
    rule: 'one entry may appear in a batch with several instants, in any order',
    needs: ['claimMany', 'repeatable'],
    check: async ({ replica, clock }) => {
      const a = await replica();
      const at = clock.now();
      const claims = [3, 1, 2].map((minute) => ask(at - minute * MINUTE, `pass-${minute}`));
      deepStrictEqual(await claimMany(a, claims), [true, true, true]);
      deepStrictEqual(await claimMany(a, claims), [true, true, true]);
      await lastFireIs(a, 'report', [at - MINUTE, 'every-minute']);
    },
  },
  {
    rule: "a fire further in the store's future than maxClockSkew is an error that says how far, and leaves no claim",
    needs: ['repeatable'],
    moves: true,
    check: async ({ replica, clock }) => {
      const a = await replica();
      const at = clock.now();
      equal(await claim(a, ask(at + SKEW, 'just within')), true);
      await rejects(claim(a, ask(at + SKEW + 1, 'pass-1')), (error) => {
        const { code, aheadMs } = error as { code?: unknown; aheadMs?: unknown };
        deepStrictEqual([code, aheadMs], ['CLOCK_AHEAD', SKEW + 1]);
        return true;
      });
      equal(await outcome(a, ask(at + 2 * SKEW, 'pass-2')), 'CLOCK_AHEAD');
      await lastFireIs(a, 'report', [at + SKEW, 'every-minute']);
      await clock.advance(2 * SKEW);
      equal(await claim(a, ask(at + 2 * SKEW, 'pass-3')), true);
    },
  },
  {
    rule: 'an early claim of a batch harms only itself',
    needs: ['claimMany', 'repeatable'],
    check: async ({ replica, clock }) => {
      const a = await replica();
      const at = clock.now();
      const answers = await claimMany(a, [
        ask(at, 'pass-1', { entryKey: 'a' }),
        ask(at + 2 * SKEW, 'pass-2', { entryKey: 'b' }),
        ask(at, 'pass-3', { entryKey: 'c' }),
      ]);
      deepStrictEqual([answers[0], answers[2]], [true, true]);
      ok(answers[1] instanceof Error && answers[1].code === 'CLOCK_AHEAD');
    },
  },
  {
    rule: 'a later claim refuses no earlier instant: the watermark is no floor',
    needs: ['repeatable'],
    check: async ({ replica, clock }) => {
      const a = await replica();
      const at = clock.now();
      equal(await claim(a, ask(at, 'now')), true);
      for (let hour = 3; hour > 0; hour -= 1) {
        const replay = Array.from({ length: 60 }, (_, minute) => ask(at - (hour * 60 - minute) * MINUTE, 'replay'));
        deepStrictEqual(new Set(await claimMany(a, replay)), new Set([true]));
      }
    },
  },
  {
    rule: 'a fire that was claimed is refused for ever: after the retention, and whatever the clock of the store does',
    needs: ['repeatable'],
    moves: true,
    check: async ({ replica, clock }) => {
      const [a, b] = [await replica(), await replica()];
      const at = clock.now();
      equal(await claim(a, ask(at, 'pass-1')), true);
      await clock.advance(RETENTION + 1);
      equal(await claim(b, ask(at + MINUTE, 'sweeps')), true);
      equal(await claim(b, ask(at, 'pass-2')), false);
      clock.step(-2 * RETENTION);
      equal(await outcome(b, ask(at, 'pass-3')), 'CLOCK_AHEAD');
      clock.step(2 * RETENTION);
      equal(await claim(b, ask(at, 'pass-4')), false);
    },
  },
  {
    rule: 'a claim made more than the retention ago is removed and raises the floor, at which nothing is granted',
    needs: ['repeatable'],
    moves: true,
    check: async ({ replica, clock }) => {
      const a = await replica();
      const at = clock.now();
      equal(await claim(a, ask(at, 'pass-1')), true);
      await clock.advance(RETENTION + 1);
      equal(await claim(a, ask(clock.now(), 'pass-2')), true);
      await isSuperseded(a, ask(at - MINUTE, 'nobody ran it'));
      equal(await claim(a, ask(at - MINUTE, 'nobody ran it')), false);
      await isSuperseded(a, ask(at, 'of the floor itself'));
      equal(await outcome(a, ask(at + MINUTE, 'above the floor')), true);
    },
  },
  {
    rule: 'a claim is kept for the whole retention',
    needs: ['repeatable'],
    moves: true,
    check: async ({ replica, clock }) => {
      const a = await replica();
      const at = clock.now();
      equal(await claim(a, ask(at, 'pass-1')), true);
      await clock.advance(RETENTION);
      equal(await claim(a, ask(clock.now(), 'pass-2')), true);
      equal(await claim(a, ask(at, 'pass-1')), true);
      equal(await outcome(a, ask(at - MINUTE, 'late')), true);
    },
  },
  {
    rule: 'retention counts from the time a claim was made, not from its instant',
    needs: ['repeatable'],
    check: async ({ replica, clock }) => {
      const a = await replica();
      const at = clock.now();
      equal(await claim(a, ask(at - 3 * RETENTION, 'catch-up')), true);
      equal(await claim(a, ask(at, 'now')), true);
      equal(await claim(a, ask(at - 3 * RETENTION, 'catch-up')), true);
      equal(await claim(a, ask(at - 4 * RETENTION, 'older catch-up')), true);
    },
  },
  {
    rule: 'each claim is removed by its own age, also where the clock of the store was set back between two claims',
    needs: ['repeatable'],
    moves: true,
    check: async ({ replica, clock }) => {
      const a = await replica();
      const at = clock.now();
      equal(await claim(a, ask(at, 'pass-1')), true);
      clock.step(-RETENTION / 2);
      equal(await claim(a, ask(at - RETENTION, 'pass-2')), true);
      clock.step(RETENTION / 2);
      await clock.advance(RETENTION / 2 + 1);
      equal(await claim(a, ask(clock.now(), 'pass-3')), true);
      await isSuperseded(a, ask(at - RETENTION - MINUTE, 'below the second'));
      equal(await outcome(a, ask(at - MINUTE, 'below the first')), true);
    },
  },
  {
    rule: 'the claims of one entry raise no floor of another',
    needs: ['repeatable'],
    moves: true,
    check: async ({ replica, clock }) => {
      const a = await replica();
      const at = clock.now();
      for (const entryKey of ['a', 'b']) equal(await claim(a, ask(at, 'first', { entryKey })), true);
      await clock.advance(RETENTION + 1);
      equal(await claim(a, ask(clock.now(), 'sweeps a', { entryKey: 'a' })), true);
      await isSuperseded(a, ask(at - MINUTE, 'below', { entryKey: 'a' }));
      equal(await outcome(a, ask(at - MINUTE, 'below', { entryKey: 'c' })), true);
    },
  },
  {
    rule: `beyond the newest ${CLAIMS_KEPT_PER_ENTRY} claims of an entry the lowest instant is removed and raises the floor`,
    needs: ['repeatable'],
    check: async ({ replica, clock }) => {
      const a = await replica();
      const at = clock.now();
      const claims = Array.from({ length: CLAIMS_KEPT_PER_ENTRY + 2 }, (_, i) => ask(at + i * 2, `pass-${i}`));
      deepStrictEqual(new Set(await claimMany(a, claims)), new Set([true]));
      await isSuperseded(a, ask(at + 1, 'between the removed'));
      await isSuperseded(a, ask(at, 'pass-0'));
      await isSuperseded(a, ask(at + 2, 'at the floor'));
      equal(await outcome(a, ask(at + 4, 'another pass')), false);
      equal(await outcome(a, ask(at + 4, 'pass-2')), true);
      equal(await outcome(a, ask(at + 3, 'above the floor')), true);
      equal(await outcome(a, ask(at + 4, 'pass-2')), true);
    },
  },
  {
    rule: 'the bound holds when instants come out of order',
    needs: ['repeatable'],
    check: async ({ replica, clock }) => {
      const a = await replica();
      const at = clock.now();
      // In lots, each below the one before it: within a call a store may sort.
      for (let lot = 7; lot >= 0; lot -= 1) {
        const claims = Array.from({ length: CLAIMS_KEPT_PER_ENTRY / 8 }, (_, place) => {
          const i = lot * (CLAIMS_KEPT_PER_ENTRY / 8) + place + 1;
          return ask(at + i * 2, `pass-${i}`);
        });
        deepStrictEqual(new Set(await claimMany(a, claims)), new Set([true]));
      }
      equal(await claim(a, ask(at + 1_000, 'one more')), true);
      await isSuperseded(a, ask(at + 1, 'at or below the lowest'));
      await isSuperseded(a, ask(at + 2, 'pass-1'));
      equal(await outcome(a, ask(at + 4, 'pass-2')), true);
    },
  },
  {
    rule: 'the last fire is the latest instant claimed, with the schedule it was claimed under',
    needs: ['lastFire'],
    moves: true,
    check: async ({ replica, clock }) => {
      const [a, b] = [await replica(), await replica()];
      const at = clock.now();
      await lastFireIs(a, 'report', undefined);
      equal(await claim(a, ask(at, 'pass-1', { schedule: 'new' })), true);
      equal(await claim(a, ask(at - MINUTE, 'catch-up', { schedule: 'old' })), true);
      await lastFireIs(b, 'report', [at, 'new']);
      await clock.advance(2 * RETENTION);
      await lastFireIs(b, 'report', [at, 'new']);
    },
  },
  {
    rule: 'a refused claim changes nothing',
    needs: ['repeatable'],
    check: async ({ replica, clock }) => {
      const [a, b] = [await replica(), await replica()];
      const at = clock.now();
      equal(await claim(a, ask(at, 'pass-1', { schedule: 'theirs' })), true);
      equal(await claim(b, ask(at, 'pass-2', { schedule: 'ours' })), false);
      equal(await outcome(b, ask(at + 2 * SKEW, 'pass-3', { entryKey: 'never' })), 'CLOCK_AHEAD');
      await lastFireIs(b, 'report', [at, 'theirs']);
      await lastFireIs(b, 'never', undefined);
      equal(await claim(a, ask(at, 'pass-1')), true);
    },
  },
  {
    rule: 'namespaces do not see each other',
    check: async ({ replica, clock }) => {
      const a = await replica();
      const at = clock.now();
      equal(await claim(a, ask(at, 'pass-1', { namespace: 'shop' })), true);
      equal(await claim(a, ask(at, 'pass-2', { namespace: 'bank' })), true);
      equal(await claim(a, ask(at, 'pass-3', { namespace: 'shop' })), false);
      equal(await claim(a, ask(at, 'x', { namespace: 'a:b', entryKey: 'c' })), true);
      equal(await claim(a, ask(at, 'y', { namespace: 'a', entryKey: 'b:c' })), true);
      await lastFireIs(a, 'report', undefined, 'other');
    },
  },
  {
    rule: 'keys are kept whole and apart: 300 characters, emoji, __proto__, Job beside job',
    check: async ({ replica, clock }) => {
      const a = await replica();
      const at = clock.now();
      const long = `${'x'.repeat(299)}`;
      const keys = [
        ...[`${long}1`, `${long}2`, long, 'Job', 'job', '__proto__', 'constructor', 'toString', 'é', 'e\u0301'],
        ...[
          '@{ }*./',
          "it's",
          '"quoted"',
          '%_',
          '$[0]',
          '\\',
          '😀',
          '👩‍👩‍👧',
          '🏳️‍🌈 report',
          '日本',
          'a b',
          'null',
          '0',
          '}{',
        ],
      ];
      // A claim id for each: two keys that became one would else be one pass asking again.
      const claims = (pass: string) => keys.map((entryKey, i) => ask(at, `${pass} of key ${i}`, { entryKey }));
      deepStrictEqual(
        await claimMany(a, claims('pass-1')),
        keys.map(() => true),
      );
      deepStrictEqual(
        await claimMany(a, claims('pass-2')),
        keys.map(() => false),
      );
      if (a.lastFire === undefined) return;
      deepStrictEqual([...(await a.lastFire('shop', keys, signal)).keys()].sort(), [...keys].sort());
    },
  },
  {
    rule: 'a repeatable store says so',
    needs: ['repeatable'],
    check: async ({ replica }) => {
      equal((await replica()).repeatable, true);
    },
  },
];
