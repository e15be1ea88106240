import { describe, expect, it } from '@jest/globals';
import { MemoryBackend } from '../coordination/memory/memory-backend.js';
import type { ConfigurationFault } from '../domain/errors.js';
import type { EntryStore } from './entry-rules.js';
import { heldLeaseFaults } from './holding-rule.js';
import { resolveEntry } from './resolve-entry.js';
import { resolveOptions } from './resolve-options.js';

const backend = new MemoryBackend();
const able = { store: 'redis', holding: true, leases: {}, recovery: {} } as unknown as NonNullable<EntryStore>;
const claimer = { claim: async () => true };

function faultsOf(options: Record<string, unknown>, store: EntryStore): string[] {
  const faults: ConfigurationFault[] = [];
  resolveEntry(
    { subject: 'Reports.daily', defaultKey: 'report', schedule: '0 9 * * *', options },
    resolveOptions({ backend }),
    store,
    faults,
  );
  return faults.map(({ code, subject, got }) => {
    expect(subject).toBe('Reports.daily, key "report"');
    return `${code} ${got}`;
  });
}

const fleet = { overlap: 'skip', overlapScope: 'fleet' };
const rerun = { recovery: 'rerun' };

describe.each([
  ["overlapScope 'fleet'", fleet, 'OVERLAP_CONFLICT', { ...able, leases: undefined }],
  ["recovery 'rerun'", rerun, 'RECOVERY_CONFLICT', { ...able, recovery: undefined }],
])('%s', (_, options, code, without) => {
  it.each<[string, Record<string, unknown>, EntryStore, string | undefined]>([
    ['may stand beside a backend that can', {}, able, undefined],
    ['needs a backend', {}, null, 'none'],
    [
      'needs a claimer that takes leases along',
      {},
      { ...able, store: 'custom', holding: false },
      'the store "custom", which cannot',
    ],
    ['needs what keeps them', {}, without, 'the store "redis", which cannot'],
    ['is refused with a claimer of its own', { claimer }, able, 'a claimer of its own'],
    ['is refused with none', { claimer: null }, able, 'claimer: null'],
  ])('%s', (_rule, more, store, got) => {
    expect(faultsOf({ ...options, ...more }, store)).toEqual(got === undefined ? [] : [`${code} ${got}`]);
  });
});

it("overlapScope 'fleet' beside overlap 'allow' says nothing, and is refused", () => {
  expect(faultsOf({ overlapScope: 'fleet' }, able)).toEqual(["OVERLAP_CONFLICT overlap 'allow'"]);
});

it('what is wrong of both is in one report', () => {
  expect(faultsOf({ ...fleet, ...rerun }, null)).toEqual(['OVERLAP_CONFLICT none', 'RECOVERY_CONFLICT none']);
});

describe('where entries hold leases, leaseTtl is at least three times coordinationTimeout', () => {
  const faults = (options: Record<string, unknown>) => {
    const module = resolveOptions({ leaseTtl: '5s', coordinationTimeout: '2s', ...options });
    return heldLeaseFaults([module.entryDefaults.policies, module.entryDefaults.policies], module);
  };

  it.each([
    ["overlapScope 'fleet'", fleet],
    ["recovery 'rerun'", rerun],
  ])('%s', (option, options) => {
    expect(faults(options)).toMatchObject([
      {
        subject: 'forRoot.leaseTtl',
        expected: `at least three times coordinationTimeout (6s), since there are entries with ${option}`,
        got: '5s',
      },
    ]);
    expect(faults({ ...options, leaseTtl: '6s' })).toEqual([]);
  });

  it('and does not matter where none does', () => {
    expect(faults({ overlap: 'skip' })).toEqual([]);
  });
});
