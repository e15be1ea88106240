import { describe, expect, it } from '@jest/globals';
import { MemoryBackend } from '../coordination/memory/memory-backend.js';
import type { ConfigurationFault } from '../domain/errors.js';
import { alignedInterval } from '../schedule/aligned-interval.js';
import { resolveEntry, type WrittenEntry } from './resolve-entry.js';
import { resolveOptions } from './resolve-options.js';

function resolved(written: Partial<WrittenEntry>, options: Record<string, unknown> = {}) {
  const faults: ConfigurationFault[] = [];
  const entry = resolveEntry(
    { subject: 'Reports.daily', defaultKey: 'Reports.daily', schedule: '0 9 * * *', options: undefined, ...written },
    resolveOptions(options),
    null,
    faults,
  );
  return { entry, faults };
}

describe('of the layers', () => {
  it('an entry counts over forRoot, configuration by key over the entry, and a change at run time over all', () => {
    const options = {
      jitter: '1s',
      timeout: '1s',
      overlap: 'skip',
      maxConcurrent: 1,
      entries: { k: { timeout: '3s', overlap: 'allow' } },
    };
    const { entry } = resolved(
      { options: { key: 'k', timeout: '2s', maxConcurrent: 2 }, changes: { overlap: 'skip' } },
      options,
    );
    expect(entry?.policies).toMatchObject({ jitterMs: 1_000, timeoutMs: 3_000, maxConcurrent: 2, overlap: 'skip' });
  });

  it('the schedule of the last one that names it counts, and is the only one that is read', () => {
    const options = { entries: { k: { cron: '0 10 * * *' } } };
    expect(resolved({ options: { key: 'k' }, schedule: 'nonsense' }, options).entry?.schedule.label).toBe('0 10 * * *');
    const changed = resolved({ options: { key: 'k' }, changes: { cron: '0 11 * * *' } }, options);
    expect(changed.entry?.schedule.label).toBe('0 11 * * *');
  });

  it('one that says nothing leaves the object of the one below', () => {
    const faults: ConfigurationFault[] = [];
    const module = resolveOptions({});
    const entry = resolveEntry(
      { subject: 's', defaultKey: 'k', schedule: '0 9 * * *', options: {} },
      module,
      null,
      faults,
    );
    expect(entry?.policies).toBe(module.entryDefaults.policies);
  });
});

describe('a schedule', () => {
  it('may be an expression, a schedule or a function', () => {
    const interval = alignedInterval('1h');
    expect(resolved({ schedule: interval }).entry?.schedule).toBe(interval);
    expect(
      resolved({
        schedule: function hourly() {
          return null;
        },
      }).entry?.schedule.label,
    ).toBe('hourly');
  });

  it('H in an expression is spread by the entry key', () => {
    const first = resolved({ schedule: 'H H * * *', options: { key: 'a' } }).entry?.schedule;
    const again = resolved({ schedule: 'H H * * *', options: { key: 'a' } }).entry?.schedule;
    const other = resolved({ schedule: 'H H * * *', options: { key: 'b' } }).entry?.schedule;
    expect(first?.next(0)).toBe(again?.next(0));
    expect(first?.next(0)).not.toBe(other?.next(0));
  });

  it.each([
    [{ next: () => null }, 'A schedule has next(), a fingerprint and a label, both texts.'],
    [{ next: () => null, label: 'no fingerprint' }, 'A schedule has next(), a fingerprint and a label, both texts.'],
    [{ next: () => null, fingerprint: 'f', label: 5 }, 'A schedule has next(), a fingerprint and a label, both texts.'],
    [new Date(), 'A schedule has next(), a fingerprint and a label, both texts.'],
  ])('is not %p', (schedule, hint) => {
    expect(resolved({ schedule })).toMatchObject({ entry: undefined, faults: [{ code: 'SCHEDULE_INVALID', hint }] });
  });

  it('whose getter throws is a fault, not a crash', () => {
    const schedule = {
      get next(): never {
        throw new Error('no calendar');
      },
    };
    expect(resolved({ schedule }).faults).toMatchObject([{ code: 'SCHEDULE_INVALID', hint: 'no calendar' }]);
  });
});

describe('an entry with any fault', () => {
  it('is not answered, however sound its schedule is', () => {
    expect(resolved({ options: { overlap: 'wait' } })).toMatchObject({ entry: undefined, faults: [{}] });
    expect(resolved({ options: { key: '' } })).toMatchObject({ entry: undefined, faults: [{ code: 'KEY_INVALID' }] });
  });
});

describe('a fault is named by', () => {
  it('class, method, key and option where code is wrong', () => {
    expect(resolved({ options: { key: 'k', jitter: 'soon' } }).faults).toMatchObject([
      { subject: 'Reports.daily, key "k", option jitter' },
    ]);
  });

  it('the option of forRoot where configuration is', () => {
    const options = { entries: { k: { jitter: 'soon', cron: '61 * * * *' } } };
    expect(resolved({ options: { key: 'k' } }, options).faults).toMatchObject([
      { subject: 'forRoot.entries["k"].jitter' },
      { subject: 'forRoot.entries["k"].cron', field: 'minute' },
    ]);
  });
});

describe('a jitter beside a backend', () => {
  const backend = new MemoryBackend();
  const codes = (schedule: unknown, jitter: string) =>
    resolved({ schedule, options: { jitter } }, { backend }).faults.map(({ code }) => code);

  it('is below 200 of the shortest intervals the entry has', () => {
    expect(codes('0,1 0 * * *', '199m')).toEqual(['JITTER_TOO_LONG']);
    expect(codes('* * * * *', '59m29s')).toEqual([]);
    expect(codes('* * * * * *', '199s')).toEqual([]);
    expect(codes('* * * * * *', '200s')).toEqual(['JITTER_TOO_LONG']);
  });

  it('is left alone where there are no two instants, or where the schedule fails: the engine stops that with an event', () => {
    expect(codes(() => null, '30m')).toEqual([]);
    expect(
      codes(() => {
        throw new Error('no calendar');
      }, '30m'),
    ).toEqual([]);
    const stuck = (afterMs: number) => Math.max(afterMs, 1.8e12);
    expect(codes({ next: stuck, fingerprint: 'stuck', label: 'stuck' }, '30m')).toEqual([]);
  });
});
