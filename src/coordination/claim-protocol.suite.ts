import { deepStrictEqual, equal, ok, rejects } from 'node:assert/strict';
import { describe, it } from '@jest/globals';
import { fireKey } from '../domain/fire-key.js';
import type { VirtualClock } from '../testing/virtual-clock.js';
import { CLAIMS_KEPT_PER_ENTRY, DEFAULT_CLAIM_PROTOCOL } from './claim-protocol.js';
import type { Claim, Claimer } from './claimer.js';
import { CoordinationError } from './coordination-error.js';

/** An empty store, made anew for each rule. */
export interface ClaimProtocolStore {
  /** The store's clock; rules move it. */
  readonly clock: VirtualClock;
  /** The claimer of a further replica on the same store, open, with the default settings. */
  replica(): Promise<Claimer>;
  close(): Promise<void>;
}

export interface ClaimProtocolRule {
  readonly rule: string;
  readonly check: (store: ClaimProtocolStore) => Promise<void>;
}

const MINUTE = 60_000;
const { maxClockSkewMs: SKEW, retentionMs: RETENTION } = DEFAULT_CLAIM_PROTOCOL;
const signal = new AbortController().signal;

interface Asked {
  readonly entryKey?: string;
  readonly namespace?: string;
  readonly instanceId?: string;
  readonly schedule?: string;
}

function ask(atMs: number, claimId: string, asked: Asked = {}): Claim {
  const { entryKey = 'report', namespace = 'shop', instanceId = 'replica-1', schedule = 'every-minute' } = asked;
  const scheduledAt = new Date(atMs);
  return {
    fireKey: fireKey(entryKey, atMs),
    context: { namespace, entryKey, scheduledAt, claimId, instanceId, schedule, signal },
  };
}

const claim = (claimer: Claimer, { fireKey, context }: Claim) => claimer.claim(fireKey, context);

async function claimMany(claimer: Claimer, claims: readonly Claim[]) {
  ok(claimer.claimMany !== undefined, 'the store takes batches');
  return claimer.claimMany(claims, signal);
}

/** What a claim comes to where a refusal tells its reason. */
async function outcome(claimer: Claimer, asked: Claim) {
  const [answer] = await claimMany(claimer, [asked]);
  return answer instanceof CoordinationError ? answer.code : answer;
}

const lastFire = async (claimer: Claimer, entryKey: string, namespace = 'shop') => {
  ok(claimer.lastFire !== undefined, 'the store remembers the last fire');
  const last = (await claimer.lastFire(namespace, [entryKey], signal)).get(entryKey);
  return last === undefined ? undefined : [last.scheduledAt.getTime(), last.schedule];
};

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
    rule: 'the same pass asked again is granted again, whichever replica carries the question',
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
    check: async ({ replica, clock }) => {
      const a = await replica();
      const at = clock.now();
      const claims = [3, 1, 2].map((minute) => ask(at - minute * MINUTE, `pass-${minute}`));
      deepStrictEqual(await claimMany(a, claims), [true, true, true]);
      deepStrictEqual(await claimMany(a, claims), [true, true, true]);
      deepStrictEqual(await lastFire(a, 'report'), [at - MINUTE, 'every-minute']);
    },
  },
  {
    rule: "a fire further in the store's future than maxClockSkew is an error that says how far, and leaves no claim",
    check: async ({ replica, clock }) => {
      const a = await replica();
      const at = clock.now();
      equal(await claim(a, ask(at + SKEW, 'just within')), true);
      await rejects(claim(a, ask(at + SKEW + 1, 'pass-1')), (error) => {
        ok(error instanceof CoordinationError);
        deepStrictEqual([error.code, error.aheadMs], ['CLOCK_AHEAD', SKEW + 1]);
        return true;
      });
      equal(await outcome(a, ask(at + 2 * SKEW, 'pass-2')), 'CLOCK_AHEAD');
      deepStrictEqual(await lastFire(a, 'report'), [at + SKEW, 'every-minute']);
      await clock.advance(2 * SKEW);
      equal(await claim(a, ask(at + 2 * SKEW, 'pass-3')), true);
    },
  },
  {
    rule: 'an early claim of a batch harms only itself',
    check: async ({ replica, clock }) => {
      const a = await replica();
      const at = clock.now();
      const answers = await claimMany(a, [
        ask(at, 'pass-1', { entryKey: 'a' }),
        ask(at + 2 * SKEW, 'pass-2', { entryKey: 'b' }),
        ask(at, 'pass-3', { entryKey: 'c' }),
      ]);
      deepStrictEqual([answers[0], answers[2]], [true, true]);
      ok(answers[1] instanceof CoordinationError && answers[1].code === 'CLOCK_AHEAD');
    },
  },
  {
    rule: 'a later claim refuses no earlier instant: the watermark is no floor',
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
    check: async ({ replica, clock }) => {
      const a = await replica();
      const at = clock.now();
      equal(await claim(a, ask(at, 'pass-1')), true);
      await clock.advance(RETENTION + 1);
      equal(await claim(a, ask(clock.now(), 'pass-2')), true);
      equal(await outcome(a, ask(at - MINUTE, 'nobody ran it')), 'superseded');
      equal(await claim(a, ask(at - MINUTE, 'nobody ran it')), false);
      equal(await outcome(a, ask(at, 'of the floor itself')), 'superseded');
      equal(await outcome(a, ask(at + MINUTE, 'above the floor')), true);
    },
  },
  {
    rule: 'a claim is kept for the whole retention',
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
    check: async ({ replica, clock }) => {
      const a = await replica();
      const at = clock.now();
      equal(await claim(a, ask(at, 'pass-1')), true);
      clock.step(-RETENTION / 2);
      equal(await claim(a, ask(at - RETENTION, 'pass-2')), true);
      clock.step(RETENTION / 2);
      await clock.advance(RETENTION / 2 + 1);
      equal(await claim(a, ask(clock.now(), 'pass-3')), true);
      equal(await outcome(a, ask(at - RETENTION - MINUTE, 'below the second')), 'superseded');
      equal(await outcome(a, ask(at - MINUTE, 'below the first')), true);
    },
  },
  {
    rule: 'the claims of one entry raise no floor of another',
    check: async ({ replica, clock }) => {
      const a = await replica();
      const at = clock.now();
      for (const entryKey of ['a', 'b']) equal(await claim(a, ask(at, 'first', { entryKey })), true);
      await clock.advance(RETENTION + 1);
      equal(await claim(a, ask(clock.now(), 'sweeps a', { entryKey: 'a' })), true);
      equal(await outcome(a, ask(at - MINUTE, 'below', { entryKey: 'a' })), 'superseded');
      equal(await outcome(a, ask(at - MINUTE, 'below', { entryKey: 'c' })), true);
    },
  },
  {
    rule: `beyond the newest ${CLAIMS_KEPT_PER_ENTRY} claims of an entry the lowest instant is removed and raises the floor`,
    check: async ({ replica, clock }) => {
      const a = await replica();
      const at = clock.now();
      const claims = Array.from({ length: CLAIMS_KEPT_PER_ENTRY + 2 }, (_, i) => ask(at + i * 2, `pass-${i}`));
      deepStrictEqual(new Set(await claimMany(a, claims)), new Set([true]));
      equal(await outcome(a, ask(at + 1, 'between the removed')), 'superseded');
      equal(await outcome(a, ask(at, 'pass-0')), 'superseded');
      equal(await outcome(a, ask(at + 2, 'at the floor')), 'superseded');
      equal(await outcome(a, ask(at + 4, 'another pass')), false);
      equal(await outcome(a, ask(at + 4, 'pass-2')), true);
      equal(await outcome(a, ask(at + 3, 'above the floor')), true);
      equal(await outcome(a, ask(at + 4, 'pass-2')), true);
    },
  },
  {
    rule: 'the bound holds when instants come out of order',
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
      equal(await outcome(a, ask(at + 1, 'at or below the lowest')), 'superseded');
      equal(await outcome(a, ask(at + 2, 'pass-1')), 'superseded');
      equal(await outcome(a, ask(at + 4, 'pass-2')), true);
    },
  },
  {
    rule: 'the last fire is the latest instant claimed, with the schedule it was claimed under',
    check: async ({ replica, clock }) => {
      const [a, b] = [await replica(), await replica()];
      const at = clock.now();
      equal(await lastFire(a, 'report'), undefined);
      equal(await claim(a, ask(at, 'pass-1', { schedule: 'new' })), true);
      equal(await claim(a, ask(at - MINUTE, 'catch-up', { schedule: 'old' })), true);
      deepStrictEqual(await lastFire(b, 'report'), [at, 'new']);
      await clock.advance(2 * RETENTION);
      deepStrictEqual(await lastFire(b, 'report'), [at, 'new']);
    },
  },
  {
    rule: 'a refused claim changes nothing',
    check: async ({ replica, clock }) => {
      const [a, b] = [await replica(), await replica()];
      const at = clock.now();
      equal(await claim(a, ask(at, 'pass-1', { schedule: 'theirs' })), true);
      equal(await claim(b, ask(at, 'pass-2', { schedule: 'ours' })), false);
      equal(await outcome(b, ask(at + 2 * SKEW, 'pass-3', { entryKey: 'never' })), 'CLOCK_AHEAD');
      deepStrictEqual(await lastFire(b, 'report'), [at, 'theirs']);
      equal(await lastFire(b, 'never'), undefined);
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
      equal(await lastFire(a, 'report', 'other'), undefined);
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
      const last = await a.lastFire?.('shop', keys, signal);
      deepStrictEqual([...(last?.keys() ?? [])].sort(), [...keys].sort());
    },
  },
  {
    rule: 'a repeatable store says so',
    check: async ({ replica }) => {
      equal((await replica()).repeatable, true);
    },
  },
];

/** Runs the rules as tests. */
export function describeClaimProtocol(name: string, setUp: () => Promise<ClaimProtocolStore>): void {
  describe(`claim protocol on ${name}`, () => {
    it.each(CLAIM_PROTOCOL_RULES)('$rule', async ({ check }) => {
      const store = await setUp();
      try {
        await check(store);
      } finally {
        await store.close();
      }
    });
  });
}
