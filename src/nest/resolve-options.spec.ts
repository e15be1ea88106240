import { describe, expect, it } from '@jest/globals';
import { MemoryBackend } from '../coordination/memory/memory-backend.js';
import { resolveOptions } from './resolve-options.js';

describe('options', () => {
  it('have the documented defaults', () => {
    expect(resolveOptions({})).toEqual({
      enabled: true,
      namespace: 'default',
      backend: undefined,
      claimer: undefined,
      elector: undefined,
      leadership: false,
      membership: undefined,
      memberName: undefined,
      memberExpiryMs: 15_000,
      leaseTtlMs: 30_000,
      coordinationTimeoutMs: 5_000,
      claimPatienceMs: 30_000,
      maxClockSkewMs: 10_000,
      retentionMs: 3_600_000,
      catchUpConcurrency: 8,
      maxConcurrentFires: null,
      drainDeadlineMs: 10_000,
      globalEnhancers: false,
      entryDefaults: {
        defaultTimeZone: 'UTC',
        timeZone: undefined,
        dst: 'vixie',
        dayMatch: 'or',
        policies: {
          jitterMs: 0,
          placement: 'any',
          takeoverAfterMs: 2_000,
          missed: 'run-once',
          missedToleranceMs: 60_000,
          catchUpWithinMs: 86_400_000,
          lastRun: null,
          overlap: 'allow',
          overlapScope: 'replica',
          maxConcurrent: null,
          timeoutMs: null,
          retry: null,
          recovery: 'off',
          recoveryAttempts: 5,
        },
      },
      entries: new Map(),
      faults: [],
    });
  });

  it('are frozen with everything that entries share', () => {
    const options = resolveOptions({ jitter: '1s' });
    for (const part of [options, options.faults, options.entryDefaults, options.entryDefaults.policies]) {
      expect(Object.isFrozen(part)).toBe(true);
    }
  });

  it('do not change when the object they were read from does', () => {
    const given = { jitter: '1s', entries: { report: {} } as Record<string, object> };
    const options = resolveOptions(given);
    given.jitter = '2s';
    given.entries.other = {};
    expect(options.entryDefaults.policies.jitterMs).toBe(1_000);
    expect([...options.entries.keys()]).toEqual(['report']);
  });
});

describe('each option is checked', () => {
  const claimer = { claim: async () => true };

  it.each<[string, unknown[]]>([
    ['enabled', ['yes', 0]],
    ['namespace', ['', 'x'.repeat(129), 5, '\ud800']],
    [
      'backend',
      [
        MemoryBackend,
        {},
        { store: 'redis' },
        { store: 5, claimer },
        { store: 'redis', claimer: {} },
        'redis://localhost',
      ],
    ],
    ['claimer', [{}, async () => true, 'redis']],
    ['elector', [{}, () => true]],
    ['coordinationTimeout', [0, -1, 'soon', '25d', Number.POSITIVE_INFINITY]],
    ['claimPatience', [-1, 'soon']],
    ['maxClockSkew', [-1, true]],
    ['retention', [0, '1 hour']],
    ['catchUpConcurrency', [0, 1.5, '8']],
    ['maxConcurrentFires', [0, Number.POSITIVE_INFINITY]],
    ['drainDeadline', [-5, []]],
    ['globalEnhancers', ['true']],
    ['entries', [[], 'report', 5]],
    ['timeZone', ['Europe/Nowhere', '', 5]],
    ['dst', ['posix', 1]],
    ['dayMatch', ['xor']],
    ['jitter', [-1, '5']],
    ['missed', ['run_once', false]],
    ['missedTolerance', ['never']],
    ['catchUpWithin', [Number.NaN]],
    ['overlap', ['wait']],
    ['maxConcurrent', [0, '3']],
    ['timeout', [0, '0s']],
  ])('%s, with one fault for a wrong value', (name, values) => {
    for (const value of values) {
      expect(resolveOptions({ [name]: value }).faults).toMatchObject([
        { code: 'OPTION_VALUE', subject: `forRoot.${name}` },
      ]);
    }
  });

  it.each<[string, unknown]>([
    ['coordinationTimeout', '24d'],
    ['claimPatience', 0],
    ['namespace', 'shop/eu:1 🦉'],
    ['timeZone', 'Europe/Berlin'],
    ['drainDeadline', 0],
    ['backend', new MemoryBackend()],
    [
      'claimer',
      new (class {
        async claim() {
          return true;
        }
      })(),
    ],
  ])('%s may be %p', (name, value) => {
    expect(resolveOptions({ [name]: value }).faults).toEqual([]);
  });

  it.each([
    ['jiter', 'jitter'],
    ['timezone', 'timeZone'],
    ['claimers', 'claimer'],
  ])('an unknown option %s is told beside %s', (name, meant) => {
    expect(resolveOptions({ [name]: 1 }).faults).toMatchObject([
      { code: 'OPTION_UNKNOWN', hint: `Did you mean "${meant}"?` },
    ]);
  });

  it('a backend has a claimer of its own', () => {
    const backend = new MemoryBackend();
    expect(resolveOptions({ backend, claimer }).faults).toMatchObject([
      { code: 'OPTION_CONFLICT', subject: 'forRoot.claimer', expected: 'backend or claimer, not both' },
    ]);
  });

  it('claims that a store is asked for again within claimPatience are still kept', () => {
    const backend = new MemoryBackend();
    expect(resolveOptions({ backend, retention: '30s' }).faults).toMatchObject([
      { code: 'OPTION_CONFLICT', subject: 'forRoot.claimPatience', expected: 'a duration below retention (30s)' },
    ]);
    expect(resolveOptions({ backend, retention: '31s' }).faults).toEqual([]);
    expect(resolveOptions({ claimer, retention: '30s' }).faults).toEqual([]);
  });
});
