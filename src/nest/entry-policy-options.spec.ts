import { describe, expect, it } from '@jest/globals';
import type { EntryPolicies } from '../domain/entry.js';
import { ConfigurationError, type ConfigurationFault } from '../domain/errors.js';
import type { Scheduler } from '../engine/scheduler.js';
import type { TaskScheduler } from '../tasks/task-scheduler.js';
import { collectEntries } from './collect-entries.js';
import type { DiscoveredMethod } from './discovery.js';
import type { ResolvedEntryOptions } from './entry-policy-options.js';
import { ENTRY_POLICY_OPTIONS } from './entry-policy-options.js';
import type { EntryStore } from './entry-rules.js';
import { DistributedCronRegistry } from './registry.js';
import { resolveOptions } from './resolve-options.js';

type Given = Readonly<Record<string, unknown>>;
type Policies = Partial<EntryPolicies>;

const store = { store: 'any', holding: true, leases: {}, recovery: {} } as unknown as EntryStore;
const midnight = new Date('2026-01-01T00:00:00Z');
const lastRun = () => midnight;

/** What an option is given as, what comes of it, and a value that is none. */
const OPTIONS: readonly [name: string, given: Given, policies: Policies, wrong: unknown][] = [
  ['jitter', { jitter: '2s' }, { jitterMs: 2_000 }, 'soon'],
  ['missed', { missed: 'run-all' }, { missed: 'run-all' }, 'all'],
  ['missedTolerance', { missedTolerance: '5m' }, { missedToleranceMs: 300_000 }, 'never'],
  ['catchUpWithin', { catchUpWithin: '2h' }, { catchUpWithinMs: 7_200_000 }, -1],
  ['lastRun', { lastRun: midnight }, { lastRun: midnight }, '2026-01-01'],
  ['lastRun', { lastRun }, { lastRun }, new Date(Number.NaN)],
  ['overlap', { overlap: 'skip' }, { overlap: 'skip', overlapScope: 'replica' }, 'wait'],
  ['overlap', { overlap: 'queue' }, { overlap: 'queue', overlapScope: 'replica' }, true],
  ['overlapScope', { overlap: 'skip', overlapScope: 'fleet' }, { overlap: 'skip', overlapScope: 'fleet' }, 'world'],
  ['maxConcurrent', { maxConcurrent: 2 }, { maxConcurrent: 2 }, 0],
  ['timeout', { timeout: '30s' }, { timeoutMs: 30_000 }, 0],
  ['retry', { retry: {} }, { retry: { attempts: 3, minMs: 1_000, maxMs: 60_000, factor: 2, jitter: 0.2 } }, true],
  [
    'retry',
    { retry: { attempts: 5, min: '2s', max: '10m', factor: 1, jitter: 0 } },
    { retry: { attempts: 5, minMs: 2_000, maxMs: 600_000, factor: 1, jitter: 0 } },
    'always',
  ],
  ['retry', { retry: false }, { retry: null }, []],
  ['recovery', { recovery: 'rerun' }, { recovery: 'rerun', recoveryAttempts: 5 }, 'on'],
  ['recoveryAttempts', { recovery: 'rerun', recoveryAttempts: 2 }, { recovery: 'rerun', recoveryAttempts: 2 }, 0],
];

/** The entry's policies as the scheduler is told them. */
type Place = (given: Given) => EntryPolicies | undefined;

const CODE = '0 9 * * *';

function decorated(options: Given, forRoot: Given): EntryPolicies | undefined {
  const faults: ConfigurationFault[] = [];
  const module = resolveOptions(forRoot);
  const method = {
    className: 'Reports',
    methodName: 'daily',
    moduleName: 'AppModule',
    schedules: [{ schedule: CODE, options: { key: 'report', ...options } }],
  } as unknown as DiscoveredMethod;
  const [collected] = collectEntries([method], module, store, faults);
  if (faults.length + module.faults.length > 0) throw new ConfigurationError([...module.faults, ...faults]);
  return collected?.entry.policies;
}

function registered(change: (registry: DistributedCronRegistry) => void): EntryPolicies | undefined {
  let policies: EntryPolicies | undefined;
  const told = (definition: { readonly policies?: EntryPolicies }) => {
    policies = definition.policies;
  };
  const scheduler = { add: told, update: (_: string, definition: object) => told(definition), require() {} };
  change(
    new DistributedCronRegistry(scheduler as unknown as Scheduler, {} as TaskScheduler, resolveOptions({}), store),
  );
  return policies;
}

const PLACES: readonly [place: string, subject: string, read: Place][] = [
  ['forRoot', 'forRoot.', (given) => decorated({}, given)],
  ['a decorator', 'Reports.daily, key "report", option ', (given) => decorated(given, {})],
  ['entries by key', 'forRoot.entries["report"].', (given) => decorated({}, { entries: { report: given } })],
  [
    'registry.add',
    'DistributedCronRegistry, key "report", option ',
    (given) => registered((registry) => registry.add('report', CODE, () => undefined, given)),
  ],
  [
    'registry.update',
    'DistributedCronRegistry, key "report", option ',
    (given) =>
      registered((registry) => {
        registry.add('report', CODE, () => undefined);
        registry.update('report', given);
      }),
  ],
];

function faultsOf(read: () => unknown): readonly ConfigurationFault[] {
  try {
    read();
  } catch (error) {
    if (error instanceof ConfigurationError) return error.faults;
  }
  return [];
}

describe.each(PLACES)('given in %s', (_, subject, read) => {
  it.each(OPTIONS)('%s: %j counts', (_name, given, policies) => {
    expect(read(given)).toMatchObject(policies);
  });

  it.each(OPTIONS)('%s is refused where it is none, with its place', (name, _given, _policies, wrong) => {
    expect(faultsOf(() => read({ [name]: wrong }))).toMatchObject([
      { code: 'OPTION_VALUE', subject: `${subject}${name}` },
    ]);
  });

  it('a retry is refused by its members, each with its place', () => {
    const retry = { attempts: 0, min: 0, max: 'long', factor: 0.5, jitter: 1.1, times: 3 };
    const faults = faultsOf(() => read({ retry }));
    expect(faults.map((fault) => `${fault.subject.replace(subject, '')} ${fault.code}`).sort()).toEqual([
      'retry.attempts OPTION_VALUE',
      'retry.factor OPTION_VALUE',
      'retry.jitter OPTION_VALUE',
      'retry.max OPTION_VALUE',
      'retry.min OPTION_VALUE',
      'retry.times OPTION_UNKNOWN',
    ]);
    expect(faultsOf(() => read({ retry: { min: '2m' } }))).toMatchObject([
      { code: 'OPTION_CONFLICT', subject: `${subject}retry.min` },
    ]);
  });
});

it('the table has every policy of an entry but those of its expression and its home', () => {
  const elsewhere: string[] = ['timeZone', 'dst', 'dayMatch', 'placement', 'takeoverAfter'];
  const tried = new Set(OPTIONS.map(([name]) => name));
  expect(ENTRY_POLICY_OPTIONS.filter((name) => !tried.has(name) && !elsewhere.includes(name))).toEqual([]);
});

describe('a retry', () => {
  const read = (forRoot: Given, options: Given) => decorated(options, forRoot)?.retry;

  it('counts whole: what an entry does not name of it has its default, not what forRoot says', () => {
    expect(read({ retry: { attempts: 9, factor: 3 } }, { retry: { min: '2s' } })).toEqual({
      attempts: 3,
      minMs: 2_000,
      maxMs: 60_000,
      factor: 2,
      jitter: 0.2,
    });
  });

  it('of forRoot is taken off an entry by false', () => {
    expect(read({ retry: {} }, { retry: false })).toBeNull();
    expect(read({ retry: {} }, {})).toMatchObject({ attempts: 3 });
  });

  it('is frozen with the policies that hold it, as all that entries share', () => {
    const { policies }: ResolvedEntryOptions = resolveOptions({ retry: {} }).entryDefaults;
    expect(Object.isFrozen(policies.retry)).toBe(true);
  });
});
