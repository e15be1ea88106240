import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { transformFileSync } from '@swc/core';

/** The folder as a process of its own would load it: the host's zone is read once when a process starts. */
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'host-zone-'));
  for (const part of ['domain', 'schedule']) {
    mkdirSync(join(folder, part));
    for (const file of readdirSync(join('src', part))) {
      if (!file.endsWith('.ts') || /\.(?:spec|fixture)\.ts$/.test(file)) continue;
      const { code } = transformFileSync(join('src', part, file), {
        swcrc: false,
        jsc: { parser: { syntax: 'typescript' }, target: 'es2022' },
        module: { type: 'commonjs' },
      });
      writeFileSync(join(folder, part, file.replace(/\.ts$/, '.js')), code);
    }
  }
  writeFileSync(join(folder, 'answers.js'), ANSWERS);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const ANSWERS = `
const { cronSchedule } = require('./schedule/cron-schedule.js');
const { onceAt } = require('./schedule/once-at.js');
const { upcoming } = require('./schedule/upcoming.js');
const answers = [];
for (const timeZone of [undefined, 'UTC', 'America/New_York', 'Europe/Berlin', 'Australia/Sydney', 'Pacific/Apia']) {
  for (const expression of ['30 2 * * *', '*/20 * * * *', '0 0 L * FRI', '15 0 1 1 *', '@every 7h']) {
    for (const from of ['2026-03-08T06:00:00Z', '2026-10-25T00:30:00Z', '2011-12-29T00:00:00Z']) {
      const schedule = cronSchedule(expression, timeZone === undefined ? {} : { timeZone });
      answers.push(upcoming(schedule, Date.parse(from), 5).map(Number), schedule.previous(Date.parse(from)), schedule.fingerprint);
    }
  }
}
answers.push(onceAt('2026-03-08T02:30:00-05:00').next(0));
console.log(JSON.stringify({ offset: new Date(0).getTimezoneOffset(), answers }));
`;

function answersOn(hostZone: string): { offset: number; answers: unknown } {
  const env = { ...process.env, TZ: hostZone, NODE_PATH: join(process.cwd(), 'node_modules') };
  return JSON.parse(execFileSync(process.execPath, [join(folder, 'answers.js')], { env, encoding: 'utf8' }));
}

test('the zone of the host changes no instant of any schedule', () => {
  const hosts = ['UTC', 'Australia/Sydney', 'America/New_York', 'Europe/Berlin'].map(answersOn);
  // The hosts really differ; otherwise this would prove nothing.
  expect(new Set(hosts.map(({ offset }) => offset)).size).toBe(4);
  for (const { answers } of hosts) expect(answers).toEqual(hosts[0]!.answers);
});
