import { describe, expect, it } from '@jest/globals';
import { Life } from './life.js';
import type { ReplicaRecord } from './records.js';
import { type ClaimRow, type Evidence, judge, silences } from './verdict.js';

const AT = 1_000_000;
const FIRE = { fireKey: 'a@1', entryKey: 'a', instantMs: AT };

/** A replica that is up from long before the fire, and what it said. */
function life(name: string, ...records: ReplicaRecord[]): Life {
  const made = new Life(name);
  made.hear({ kind: 'started', instanceId: `id of ${name}`, atMs: AT - 60_000, dueFrom: { a: AT - 60_000 } });
  for (const record of records) made.hear(record);
  return made;
}

const skipped = (reason: string, more: { superseded?: boolean; atMs?: number } = {}): ReplicaRecord => ({
  kind: 'skipped',
  fireKey: 'a@1',
  reason,
  superseded: more.superseded ?? false,
  atMs: more.atMs ?? AT + 10,
});
const missed = (firstMs: number, lastMs: number): ReplicaRecord => ({
  kind: 'missed',
  entryKey: 'a',
  firstMs,
  lastMs,
  atMs: AT + 30_000,
});
const run = (replica: string, atMs = AT + 5) => ({ fireKey: 'a@1', replica, atMs });
const claimOf = (name: string, claimId = 'pass'): ClaimRow => ({
  fireKey: 'a@1',
  claimId,
  instanceId: `id of ${name}`,
  madeMs: AT + 3,
});
const evidence = (given: Partial<Evidence>): Evidence => ({
  fires: [FIRE],
  runs: [],
  claims: [],
  lives: [],
  retentionMs: 20_000,
  accountWithinMs: 10_000,
  ...given,
});
const because = (given: Partial<Evidence>) => [...judge(evidence(given)).explained.keys()];
const why = (given: Partial<Evidence>) => judge(evidence(given)).unexplained.map((fire) => fire.why);

describe('the verdict on a fire that ran', () => {
  it('asks for no explanation', () => {
    const verdict = judge(evidence({ runs: [run('1')], lives: [life('1'), life('2', skipped('already-claimed'))] }));
    expect(verdict).toMatchObject({ fires: 1, runs: 1, duplicates: [], unexplained: [] });
  });

  it('counts each further run, also of a fire that nobody expected', () => {
    const other = { ...run('1'), fireKey: 'b@9' };
    const { runs, duplicates } = judge(evidence({ runs: [run('1'), run('2'), other, other] }));
    expect(runs).toBe(2);
    expect(duplicates.map(({ fireKey }) => fireKey)).toEqual(['a@1', 'b@9']);
  });

  it('reports a claim that was granted to two passes', () => {
    const claims = [claimOf('1'), claimOf('1'), claimOf('1', 'another pass')];
    expect(judge(evidence({ runs: [run('1')], claims })).grantedTwice).toEqual(['a@1']);
    expect(judge(evidence({ runs: [run('1')], claims: claims.slice(0, 2) })).grantedTwice).toEqual([]);
  });
});

describe('the verdict on a fire without a run and without a claim', () => {
  it.each(['claim-error', 'election-error'])('is satisfied by %s of every replica that was up', (reason) => {
    expect(because({ lives: [life('1', skipped(reason)), life('2', skipped(reason))] })).toEqual([
      `on every replica: ${reason}`,
    ]);
  });

  it('is not satisfied by all but one', () => {
    expect(why({ lives: [life('1', skipped('claim-error')), life('2')] })).toEqual(['2: silent']);
  });

  it('never is by already-claimed, even beside an error of the same replica', () => {
    const both = life('2', skipped('claim-error'), skipped('already-claimed'));
    expect(why({ lives: [life('1', skipped('claim-error')), both] })).toEqual(['2: already-claimed, by nobody']);
  });

  it('nor by a rejection, which leaves the fire to the others', () => {
    const rejected: ReplicaRecord = { ...skipped('overlap'), kind: 'rejected' } as ReplicaRecord;
    expect(why({ lives: [life('1', rejected)] })).toEqual(['1: rejected']);
  });

  it('takes an instant as missed from the first to the last of the event', () => {
    expect(because({ lives: [life('1', missed(AT, AT + 9_000))] })).toEqual(['on every replica: missed']);
    expect(why({ lives: [life('1', missed(AT + 1, AT + 9_000))] })).toEqual(['1: silent']);
  });

  it('takes superseded only of an ask that came later than the retention', () => {
    const asked = (atMs: number) => [life('1', skipped('already-claimed', { superseded: true, atMs }))];
    expect(because({ lives: asked(AT + 20_001) })).toEqual(['on every replica: superseded']);
    expect(why({ lives: asked(AT + 20_000) })).toEqual(['1: superseded']);
  });

  it('asks nothing of a replica that was not up', () => {
    const later = new Life('2');
    later.hear({ kind: 'started', instanceId: 'x', atMs: AT + 1, dueFrom: { a: AT + 60_000 } });
    const earlier = life('3');
    earlier.end = { atMs: AT - 1, how: 'killed' };
    const neverStarted = new Life('4');
    expect(because({ lives: [later, earlier, neverStarted] })).toEqual(['no replica was up']);
  });

  it('asks nothing of a replica that died before it could say it, and all of one that had the time', () => {
    const killedAt = (atMs: number) => {
      const killed = life('1');
      killed.end = { atMs, how: 'killed' };
      return { lives: [killed] };
    };
    expect(because(killedAt(AT + 10_000))).toEqual(['on every replica: killed']);
    expect(why(killedAt(AT + 10_001))).toEqual(['1: silent']);
  });

  it('does not count the time in which it was stopped', () => {
    const stopped = life('1');
    stopped.stopped(AT + 100);
    stopped.continued(AT + 30_100);
    stopped.end = { atMs: AT + 35_000, how: 'killed' };
    expect(because({ lives: [stopped] })).toEqual(['on every replica: killed']);
  });

  it('asks a replica by its own clock', () => {
    const behind = life('1');
    behind.clockSet(AT - 1_000, -300_000);
    behind.end = { atMs: AT + 60_000, how: 'killed' };
    expect(because({ lives: [behind] })).toEqual(['no replica was up']);

    const restored = life('1');
    restored.clockSet(AT - 1_000, -300_000);
    restored.clockSet(AT + 20_000, 0);
    expect(restored.reachedAtMs(AT)).toBe(AT + 20_000);
    expect(why({ lives: [restored] })).toEqual(['1: silent']);

    const ahead = life('1');
    ahead.clockSet(AT - 100, 300_000);
    expect(ahead.reachedAtMs(AT)).toBe(AT - 100);
  });
});

describe('the verdict on a fire that was claimed and not run', () => {
  const losers = [life('2', skipped('already-claimed')), life('3', skipped('already-claimed'))];

  it('is satisfied when the winner was killed soon after it claimed', () => {
    const winner = life('1');
    winner.end = { atMs: AT + 1_000, how: 'killed' };
    expect(because({ claims: [claimOf('1')], lives: [winner, ...losers] })).toEqual(['the winner was killed']);
  });

  it('is satisfied when the winner was killed and the store came to its question after that', () => {
    const winner = life('1');
    winner.end = { atMs: AT + 1, how: 'killed' };
    expect(because({ claims: [claimOf('1')], lives: [winner, ...losers] })).toEqual([
      'the winner was killed while it asked',
    ]);
    winner.end = { atMs: AT - 20_000, how: 'killed' };
    expect(why({ claims: [claimOf('1')], lives: [winner, ...losers] })).toHaveLength(1);
  });

  it('is not when the winner lived on for long, ended by itself, or lives', () => {
    const longAgo = life('1');
    longAgo.end = { atMs: AT + 11_000, how: 'killed' };
    const drained = life('1');
    drained.end = { atMs: AT + 1_000, how: 'drained' };
    for (const winner of [longAgo, drained, life('1')]) {
      expect(why({ claims: [claimOf('1')], lives: [winner, ...losers] })).toEqual([
        expect.stringMatching(/^1 has its claim and neither ran it nor said why/),
      ]);
    }
  });

  it('is satisfied by the claim-error of a winner that was stopped, or never told', () => {
    const late = skipped('claim-error', { atMs: AT + 12_000 });
    const stopped = life('1', late);
    stopped.stopped(AT + 2);
    stopped.continued(AT + 11_990);
    expect(because({ claims: [claimOf('1')], lives: [stopped, ...losers] })).toEqual([
      'the winner was stopped, claim-error',
    ]);
    expect(because({ claims: [claimOf('1')], lives: [life('1', late), ...losers] })).toEqual([
      'the winner was not told, claim-error',
    ]);
  });

  it('is satisfied by a winner that had given up before the store came to its question', () => {
    const winner = life('1', skipped('claim-error', { atMs: AT - 5_000 }));
    expect(because({ claims: [claimOf('1')], lives: [winner, ...losers] })).toEqual([
      'the winner had given up when its claim was made, claim-error',
    ]);
  });

  it('is not by an error from long before the claim: that was another pass', () => {
    const winner = life('1', skipped('claim-error', { atMs: AT - 100_000 }));
    expect(why({ claims: [claimOf('1')], lives: [winner] })).toHaveLength(1);
  });

  it('is not by a claim of somebody unknown', () => {
    expect(why({ claims: [claimOf('9')], lives: losers })).toEqual(['its claim is that of no replica']);
  });
});

describe('silence', () => {
  it('is a replica that was up and has no word of a fire that another ran', () => {
    const given = { runs: [run('1')], lives: [life('1'), life('2'), life('3', skipped('already-claimed'))] };
    expect(silences(evidence(given))).toEqual(['2: a@1']);
  });
});
