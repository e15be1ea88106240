import { describe, expect, it } from '@jest/globals';
import type { CronEvent } from '../events/cron-event.js';
import { type ApplicationLog, messageOf } from './application-log.js';
import { EventLog } from './event-log.js';

function written(event: Record<string, unknown>): string[] {
  const lines: string[] = [];
  const log = {
    log: (text: string) => lines.push(`log ${text}`),
    warn: (text: string) => lines.push(`warn ${text}`),
    error: (text: string, cause: unknown) => lines.push(`error ${text}: ${messageOf(cause)}`),
  } as unknown as ApplicationLog;
  new EventLog(log).write({ atMs: 0, instanceId: 'i', ...event } as unknown as CronEvent);
  return lines;
}

const fire = { entryKey: 'job', fireKey: 'job@2026-01-01T00:01:00Z', scheduledAt: new Date(0), origin: 'schedule' };
const span = { first: new Date('2026-01-01T00:01:00Z'), last: new Date('2026-01-01T00:03:00Z'), policy: 'skip' };

describe('the log names key and instant of', () => {
  it.each<[Record<string, unknown>, string]>([
    [
      { type: 'fire.failed', fire, durationMs: 12.4, error: new Error('no paper') },
      'error job@2026-01-01T00:01:00Z failed after 12 ms: no paper',
    ],
    [
      { type: 'fire.failed', fire, durationMs: 0, error: undefined },
      'error job@2026-01-01T00:01:00Z failed after 0 ms: undefined',
    ],
    [
      { type: 'fire.skipped', fire, reason: 'claim-error', error: new Error('down') },
      'warn job@2026-01-01T00:01:00Z was skipped here (claim-error): down',
    ],
    [
      { type: 'fire.skipped', fire, reason: 'election-error', error: 'down' },
      'warn job@2026-01-01T00:01:00Z was skipped here (election-error): down',
    ],
    [
      { type: 'fire.skipped', fire, reason: 'already-claimed', superseded: true },
      'warn job@2026-01-01T00:01:00Z was skipped here: it was asked for so late that later fires of its entry are history (superseded).',
    ],
    [{ type: 'fire.rejected', fire, reason: 'overlap' }, 'warn job@2026-01-01T00:01:00Z was rejected here: overlap'],
    [
      { type: 'fire.missed', entryKey: 'job', count: 3, atLeast: false, ...span },
      'warn job missed 3 fires (2026-01-01T00:01:00.000Z to 2026-01-01T00:03:00.000Z, policy skip)',
    ],
    [
      { type: 'fire.missed', entryKey: 'job', count: 10_000, atLeast: true, ...span },
      'warn job missed at least 10000 fires (2026-01-01T00:01:00.000Z to 2026-01-01T00:03:00.000Z, policy skip)',
    ],
    [
      { type: 'fire.returned-late', fire, durationMs: 9_000 },
      'warn job@2026-01-01T00:01:00Z returned 9000 ms after its start, although its signal had been aborted',
    ],
    [
      { type: 'fire.retrying', fire, attempt: 2, nextInMs: 1_999.6, error: new Error('no paper') },
      'warn job@2026-01-01T00:01:00Z failed (attempt 2), next in 2000 ms: no paper',
    ],
    [
      { type: 'fire.lease-lost', fire, lease: 'overlap', reason: 'lapsed' },
      'warn job@2026-01-01T00:01:00Z lost its overlap lease while it runs here (lapsed); its signal was aborted',
    ],
    [
      { type: 'fire.lease-lost', fire, lease: 'recovery', reason: 'taken' },
      'warn job@2026-01-01T00:01:00Z lost its recovery lease while it runs here (taken); its signal was aborted',
    ],
    [
      { type: 'fire.abandoned', fire, attempts: 5 },
      'warn job@2026-01-01T00:01:00Z is abandoned: nobody runs it again after 5 attempts that did not come to their end',
    ],
    [
      { type: 'history.unreachable', error: new Error('down') },
      'warn The last fires of the fleet could not be read, nothing is caught up yet: down',
    ],
    [
      { type: 'history.unreachable', entryKey: 'job', error: new Error('no table') },
      'warn Nothing of job is caught up: no table',
    ],
    [
      { type: 'recovery.unreachable', error: new Error('down') },
      'warn Fires of dead replicas could not be looked for: down',
    ],
    [
      { type: 'entry.failed', entryKey: 'job', error: new Error('no calendar') },
      'error job is not scheduled any more, its schedule failed: no calendar',
    ],
    [
      { type: 'entry.paused', entryKey: 'job', scope: 'fleet' },
      'log job is paused over the fleet, until it is resumed there',
    ],
    [{ type: 'entry.resumed', entryKey: 'job', scope: 'fleet' }, 'log job is resumed over the fleet'],
    [{ type: 'scheduler.draining', running: 2 }, 'log draining, 2 running'],
    [{ type: 'scheduler.stopped', aborted: 0 }, 'log stopped'],
    [{ type: 'scheduler.stopped', aborted: 2 }, 'warn stopped; 2 running methods were aborted at the deadline'],
  ])('%j', (event, line) => {
    expect(written(event)).toEqual([line]);
  });
});

describe('no line is written for what goes as planned: on a replica that lost, none may read as if it ran', () => {
  it.each<[Record<string, unknown>]>([
    [{ type: 'fire.skipped', fire, reason: 'already-claimed', superseded: false }],
    [{ type: 'fire.skipped', fire, reason: 'not-leader' }],
    [{ type: 'fire.rejected', fire, reason: 'paused' }],
    [{ type: 'fire.started', fire, latenessMs: 0 }],
    [{ type: 'fire.completed', fire, durationMs: 1 }],
    [{ type: 'fire.canceled', fire, reason: 'draining' }],
    [{ type: 'entry.scheduled', entryKey: 'job', nextAt: null }],
    [{ type: 'entry.paused', entryKey: 'job', scope: 'replica' }],
    [{ type: 'entry.resumed', entryKey: 'job', scope: 'replica' }],
  ])('%j', (event) => {
    expect(written(event)).toEqual([]);
  });
});
