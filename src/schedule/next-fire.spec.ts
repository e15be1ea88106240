import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { formatInstant } from '../domain/fire-key.js';
import { DST_POLICIES, type DstPolicy } from '../domain/policies.js';
import { cronSchedule } from './cron-schedule.js';

interface NextFireCase {
  readonly why: string;
  readonly expression: string;
  readonly timeZone: string;
  readonly from: string;
  readonly next: Readonly<Record<DstPolicy, readonly string[]>>;
}

const fixture = join('src', 'schedule', 'fixtures', 'next-fire.json');
// Where the shared list is at hand, it rules: it may have grown since it was copied.
const shared = join('..', 'shared', 'cases', 'next-fire.json');
const cases: NextFireCase[] = JSON.parse(readFileSync(existsSync(shared) ? shared : fixture, 'utf8'));

describe.each(cases)('$expression in $timeZone from $from: $why', ({ expression, timeZone, from, next }) => {
  test.each(DST_POLICIES)('under dst %s', (dst) => {
    const schedule = cronSchedule(expression, { timeZone, dst });
    const wanted = next[dst];
    const forward: string[] = [];
    for (let atMs: number | null = Date.parse(from); forward.length < wanted.length; ) {
      atMs = schedule.next(atMs!);
      forward.push(formatInstant(atMs!));
    }
    expect(forward).toEqual(wanted);

    const backward: string[] = [];
    for (let atMs: number | null = Date.parse(wanted.at(-1)!) + 1; backward.length < wanted.length; ) {
      atMs = schedule.previous!(atMs!);
      backward.unshift(formatInstant(atMs!));
    }
    expect(backward).toEqual(wanted);
  });
});
