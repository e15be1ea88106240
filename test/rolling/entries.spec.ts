import { describe, expect, it } from '@jest/globals';
import { cronSchedule } from 'nestjs-distributed-cron';
import { expectedFires, expressionOf, LONGEST_RUN_MS, type RollingEntry, rollingEntries, VERSIONS } from './entries.js';

const entry = (everyS: RollingEntry['everyS']): RollingEntry => ({ key: 'a', everyS, runMs: 0, options: {} });
const instants = (...given: Parameters<typeof expectedFires>) =>
  expectedFires(...given).map(({ instantMs }) => instantMs);

describe('what is due in a rollout', () => {
  it('is every instant from the first replica on, after and not at its first moment', () => {
    const all = { fromMs: 1_000, untilMs: 4_000 };
    expect(expectedFires([entry({ old: 1, new: 1 })], { old: all, new: { fromMs: 2_500, untilMs: 4_000 } })).toEqual([
      { entryKey: 'a', fireKey: 'a@1970-01-01T00:00:02Z', instantMs: 2_000 },
      { entryKey: 'a', fireKey: 'a@1970-01-01T00:00:03Z', instantMs: 3_000 },
      { entryKey: 'a', fireKey: 'a@1970-01-01T00:00:04Z', instantMs: 4_000 },
    ]);
  });

  it('is, where an entry changed, what each version has while it is there, each instant once', () => {
    const presence = { old: { fromMs: 0, untilMs: 6_500 }, new: { fromMs: 4_000, untilMs: 12_000 } };
    expect(instants([entry({ old: 2, new: 3 })], presence)).toEqual([2_000, 4_000, 6_000, 9_000, 12_000]);
  });

  it('is what the library fires at', () => {
    const fromMs = Date.UTC(2026, 0, 1, 11, 59, 30);
    const presence = { fromMs, untilMs: fromMs + 90_000 };
    const nobody = { fromMs: 0, untilMs: 0 };
    for (const each of rollingEntries()) {
      for (const version of VERSIONS) {
        const schedule = cronSchedule(expressionOf(each, version));
        const fired: number[] = [];
        for (let next = schedule.next(fromMs); next !== null && next <= presence.untilMs; next = schedule.next(next))
          fired.push(next);
        expect(instants([each], { old: nobody, new: nobody, [version]: presence })).toEqual(fired);
      }
    }
  });

  it('has methods longer than the interval, none of which a drain may cut', () => {
    const runs = rollingEntries().map(({ runMs }) => runMs);
    expect(Math.max(...runs)).toBe(LONGEST_RUN_MS);
    expect(runs.filter((runMs) => runMs > 1_000).length).toBeGreaterThanOrEqual(3);
  });
});
