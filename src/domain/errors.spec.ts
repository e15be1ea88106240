import { describe, expect, it } from '@jest/globals';
import {
  ConfigurationError,
  DistributedCronError,
  DrainDeadlineError,
  EntryExistsError,
  EntryNotFoundError,
  FireRejectedError,
  SchedulerStoppedError,
  TimeoutError,
} from './errors.js';

describe('errors', () => {
  it.each([
    [new EntryNotFoundError('a', []), 'EntryNotFoundError', 'ENTRY_NOT_FOUND'],
    [new EntryExistsError('a'), 'EntryExistsError', 'ENTRY_EXISTS'],
    [new FireRejectedError('a', 'a@x', 'overlap'), 'FireRejectedError', 'FIRE_REJECTED'],
    [new SchedulerStoppedError('add'), 'SchedulerStoppedError', 'SCHEDULER_STOPPED'],
    [new TimeoutError('a', 'a@x', 5), 'TimeoutError', 'FIRE_TIMEOUT'],
    [new DrainDeadlineError(5), 'DrainDeadlineError', 'DRAIN_DEADLINE'],
    [new ConfigurationError([]), 'ConfigurationError', 'CONFIGURATION_INVALID'],
  ])('%#: an error has its class as name and a stable code', (error, name, code) => {
    expect(error).toBeInstanceOf(DistributedCronError);
    expect({ name: error.name, code: error.code }).toEqual({ name, code });
  });

  it('a key that is unknown is told beside those that are known, at most ten of them', () => {
    const known = Array.from({ length: 12 }, (_, i) => `key-${i}`);
    const { message } = new EntryNotFoundError('typo', known);
    expect(message).toContain('"typo"');
    expect(message).toContain('key-9, … (12 in all)');
    expect(message).not.toContain('key-10');
  });

  it('a configuration is reported whole: each fault with place, expectation, value, code and remedy', () => {
    const { message } = new ConfigurationError([
      { code: 'OPTION_INVALID', subject: 'forRoot.jitter', expected: 'a duration', got: '-1', hint: 'Write "5s".' },
      { code: 'KEY_DUPLICATE', subject: 'Reports.daily' },
    ]);
    expect(message).toBe(
      [
        'nestjs-distributed-cron cannot start: 2 faults.',
        '  - forRoot.jitter: expected a duration, got -1 [OPTION_INVALID]',
        '    Write "5s".',
        '  - Reports.daily [KEY_DUPLICATE]',
      ].join('\n'),
    );
  });
});
