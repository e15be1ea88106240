import { describe, expect, it } from '@jest/globals';
import { fireKeyOf } from '../processes/fire-key.js';
import { Life } from '../processes/life.js';
import type { ReplicaRecord } from '../processes/records.js';
import { EDGE_MS, judgeRollout, type RolloutEvidence } from './judge-rollout.js';
import type { PhasedRun } from './run-record.js';

const AT = 1_000_000;
const fire = { fireKey: 'a@1', entryKey: 'a', instantMs: AT };

function life(name: string, ...records: readonly ReplicaRecord[]): Life {
  const created = new Life(name);
  created.hear({ kind: 'started', instanceId: name, atMs: AT - 10_000, dueFrom: { a: AT - 9_000 } });
  for (const record of records) created.hear(record);
  return created;
}

const drained = (name: string, atMs: number, ...records: readonly ReplicaRecord[]) => {
  const created = life(name, ...records);
  created.end = { atMs, how: 'drained' };
  return created;
};

const said = (kind: 'skipped' | 'rejected' | 'canceled', reason: string): ReplicaRecord => ({
  kind,
  fireKey: fire.fireKey,
  reason,
  superseded: false,
  atMs: AT,
});

const run = (replica: string, phase: PhasedRun['phase'], fireKey = fire.fireKey): PhasedRun => ({
  fireKey,
  replica,
  phase,
  atMs: AT,
});
const whole = (replica: string) => [run(replica, 'began'), run(replica, 'ended')];

const judged = (given: Partial<RolloutEvidence>) =>
  judgeRollout({ fires: [fire], runs: [], lives: [], concerns: () => true, ...given });

const claimed = said('skipped', 'already-claimed');

describe('the judge of a rollout', () => {
  it('finds nothing in a fire that one replica ran to its end', () => {
    const verdict = judged({ runs: whole('1'), lives: [life('1'), life('2', claimed)] });
    expect(verdict).toEqual({ fires: 1, runs: 1, duplicates: [], overlapped: [], lost: [], silent: [] });
  });

  it('counts a second run of a fire, also of one that nobody expected', () => {
    const other = [run('1', 'began', 'b@9'), run('2', 'began', 'b@9')];
    const { runs, duplicates } = judged({ runs: [...whole('1'), run('2', 'began'), ...other] });
    expect(runs).toBe(2);
    expect(duplicates.map(({ fireKey, runs: ran }) => [fireKey, ran.length])).toEqual([
      ['a@1', 2],
      ['b@9', 2],
    ]);
  });

  it.each([
    [said('rejected', 'overlap'), 'rejected overlap'],
    [said('canceled', 'draining'), 'canceled draining'],
    [said('skipped', 'claim-error'), 'skipped claim-error'],
    [claimed, 'skipped already-claimed'],
  ])('takes no reason for a fire that nobody ran', (record, word) => {
    expect(judged({ lives: [life('1', record), life('2')] }).lost).toEqual([
      { fireKey: 'a@1', why: `1: ${word}; 2: silent` },
    ]);
  });

  it('counts a run that never ended as lost', () => {
    expect(judged({ runs: [run('1', 'began')], lives: [life('1')] }).lost).toEqual([
      { fireKey: 'a@1', why: 'began on 1, never ended' },
    ]);
  });

  describe('where the entry may not overlap', () => {
    const instantMs = AT + 60_000;
    const key = (beforeS: number) => fireKeyOf('a', instantMs - beforeS * 1_000);
    const due = { fireKey: key(0), entryKey: 'a', instantMs };
    const word = (beforeS: number, kind: 'rejected' | 'skipped' | 'canceled', reason: string, atMs: number) =>
      ({ kind, fireKey: key(beforeS), reason, superseded: false, atMs }) as ReplicaRecord;
    const rejected = word(0, 'rejected', 'overlap', instantMs);
    const ran = (replica: string, endedAtMs: number): PhasedRun[] => [
      { fireKey: key(2), replica, phase: 'began', atMs: instantMs - 2_000 },
      { fireKey: key(2), replica, phase: 'ended', atMs: endedAtMs },
    ];
    const outcome = (lives: readonly Life[], runs: readonly PhasedRun[] = []) => {
      const { overlapped, lost } = judged({ fires: [due], lives, runs });
      return overlapped.length > 0 ? 'overlapped' : lost.length > 0 ? 'lost' : 'ran';
    };
    const claiming = life('1', rejected, word(1, 'skipped', 'already-claimed', instantMs + 200));
    const running = life('2', rejected);

    it('takes the rejection of all whose earlier fire was under way: it ran, or asked its claim', () => {
      expect(outcome([claiming, running], ran('2', instantMs + 900))).toBe('overlapped');
      expect(outcome([claiming, life('3', word(0, 'canceled', 'draining', instantMs))])).toBe('overlapped');
    });

    it('takes none where an earlier fire was over on one of them, or was another replica’s', () => {
      expect(outcome([claiming, running], ran('2', instantMs - 900))).toBe('lost');
      expect(outcome([claiming, running], ran('3', instantMs + 900))).toBe('lost');
      expect(outcome([life('1', rejected, word(1, 'skipped', 'already-claimed', instantMs - 200))])).toBe('lost');
    });

    it('takes none where one replica says something else, or nothing', () => {
      expect(outcome([claiming, life('2', word(0, 'skipped', 'already-claimed', instantMs))])).toBe('lost');
      expect(outcome([claiming, life('2')])).toBe('lost');
      expect(outcome([life('1', word(0, 'canceled', 'draining', instantMs))])).toBe('lost');
    });
  });

  it('says so where nobody was up', () => {
    expect(judged({ lives: [drained('1', AT - 1)] }).lost).toEqual([{ fireKey: 'a@1', why: 'nobody was up' }]);
  });

  it('finds a replica that has no word of a fire that another ran, also one that was told to drain after it', () => {
    const lives = [life('1'), life('2', claimed), life('3'), drained('4', AT + EDGE_MS)];
    expect(judged({ runs: whole('1'), lives }).silent).toEqual(['3: a@1', '4: a@1']);
  });

  it('asks no word of a replica that need not have reached the fire, or whose version has no such instant', () => {
    const lives = [drained('2', AT + EDGE_MS - 1), drained('3', AT - 1), new Life('4'), life('5')];
    const concerns = ({ name }: Life) => name !== '5';
    expect(judged({ runs: whole('1'), lives, concerns }).silent).toEqual([]);
  });
});
